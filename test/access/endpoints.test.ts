/** `GET /v1/access/who-can` and `/v1/access/can` on a running gateway, and `GET /v1/users`. */

import t from 'tap'
import { openSqliteStore } from '../../seats-admin/index.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, {
  routes: [
    'GET /list: trainings:list',
    'POST /list: trainings:create',
    'GET /me: authenticated',
    'GET /open: public',
  ],
})
await world.seat('Viewer', ['s1', 's2'], ['trainings:list'])
await world.seat('Editor', ['s1'], ['trainings:list', 'trainings:create', 'access:read'])
await world.seat('Reader of access', ['s2'], ['access:read'])
const key = (await world.admin('POST', '/v1/api-keys', { name: 'ci', seats: ['Viewer'] })).json
const revoked = (await world.admin('POST', '/v1/api-keys', { name: 'old', seats: ['Viewer'] })).json
await world.admin('DELETE', `/v1/api-keys/${revoked.id}`)

const ask = async (path: string, token?: string, space = 'admin') => {
  const answer =
    token === undefined
      ? await world.admin('GET', path)
      : await world.client.send('GET', path, { authorization: `Bearer ${token}`, space })
  return answer
}
const names = (items: { name: string }[]) => items.map(({ name }) => name)

t.test('who can call a route', async (t) => {
  const { json } = await ask('/v1/access/who-can?method=GET&path=/list')
  t.match(json, {
    method: 'GET',
    path: '/list',
    route: 'GET /list',
    permission: 'trainings:list',
    tenant: 'acme',
    space: null,
    users: [],
    has_more: false,
  })
  t.same(names(json.seats), ['admin', 'Viewer', 'Editor'])
  t.match(json.seats, [
    { by: '*', spaces: ['admin'] },
    { by: 'permission', spaces: ['s1', 's2'] },
    { by: 'permission', spaces: ['s1'] },
  ])
  t.ok(names(json.api_keys).includes('ci'))
  t.notOk(names(json.api_keys).includes('old'), 'revoked')
  t.match(
    json.api_keys.find(({ name }: { name: string }) => name === 'ci'),
    { id: key.id, owner: null, expires_at: null, last_used_at: null, seats: ['Viewer'] },
  )
  const there = (await ask('/v1/access/who-can?method=GET&path=/list&space=s2')).json
  t.same([names(there.seats), there.seats[0].spaces], [['Viewer'], ['s2']])
})

t.test('who holds a permission, and routes that need none', async (t) => {
  const { json } = await ask('/v1/access/who-can?permission=trainings:create')
  t.match(json, { method: null, path: null, route: null, permission: 'trainings:create' })
  t.same(names(json.seats), ['admin', 'Editor'])
  for (const [path, permission] of [
    ['/me', 'authenticated'],
    ['/open', 'public'],
  ])
    t.match((await ask(`/v1/access/who-can?method=GET&path=${path}`)).json, {
      permission,
      seats: [],
      api_keys: [],
    })
  t.match((await ask('/v1/access/who-can?method=GET&path=/none')).json, {
    route: null,
    permission: null,
    seats: [],
  })
  t.match((await ask('/v1/access/who-can?method=BREW&path=/list')).json, { route: null })
})

t.test('pages go through Seats, then API keys', async (t) => {
  const whole = (await ask('/v1/access/who-can?method=GET&path=/list')).json
  const found: string[] = []
  let after = ''
  for (let page = 0; page < 20; page++) {
    const { json } = await ask(`/v1/access/who-can?method=GET&path=/list&limit=1${after}`)
    const [item] = [...json.seats, ...json.api_keys]
    if (item !== undefined) found.push(item.id)
    if (!json.has_more) break
    after = `&after=${item.id}`
  }
  t.same(
    found,
    [...whole.seats, ...whole.api_keys].map(({ id }: { id: string }) => id),
  )
})

t.test('what a holder can call', async (t) => {
  const rows = (await ask('/v1/access/can?seat=Viewer&limit=100')).json
  t.same(rows.data, [
    {
      method: 'GET',
      path: '/list',
      permission: 'trainings:list',
      upstream: 'main',
      space: 's1',
      seat: 'Viewer',
    },
    {
      method: 'GET',
      path: '/list',
      permission: 'trainings:list',
      upstream: 'main',
      space: 's2',
      seat: 'Viewer',
    },
    ...rows.data.slice(2),
  ])
  t.ok(rows.data.slice(2).every(({ space }: { space: null }) => space === null))
  t.same((await ask(`/v1/access/can?api_key=${key.id}&limit=100`)).json, rows)
  const both = (await ask('/v1/access/can?seat=Viewer&seat=Editor&space=s1')).json.data
  t.match(both[0], { path: '/list', space: 's1', seat: 'Viewer' })
  t.match(both[1], { path: '/list', method: 'POST', seat: 'Editor' })
  const old = (await ask(`/v1/access/can?api_key=${revoked.id}`)).json.data
  t.ok(
    old.every(({ permission }: { permission: string }) => permission === 'public'),
    'revoked: public routes alone',
  )
})

t.test('Seats by a grant end, and say when', async (t) => {
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const grant = async (user: string, seat: string, until: string) =>
    (await world.admin('POST', '/v1/grants', { user, seat, until })).json
  const [soon, later] = [at(1), at(2)]
  const first = await grant('gil', 'Viewer', soon)
  const second = await grant('gil', 'Viewer', later)
  await grant('gil', 'Editor', soon)
  const ask = async (path: string) => (await world.admin('GET', `/v1/access/${path}`)).json
  const who = async () =>
    (await ask('who-can?method=GET&path=/list')).users.find((each: { sub: string }) => each.sub === 'gil')
  t.match(await who(), {
    ...{ email: null, last_sign_in: null, seats: ['Viewer', 'Editor'] },
    grants: [
      { seat: 'Editor', until: soon },
      { id: first.id, seat: 'Viewer', until: soon },
      { id: second.id, seat: 'Viewer', until: later },
    ],
  })
  const ends = async () => {
    const { data } = await ask('can?user=gil&space=s1&limit=100')
    return data
      .map(({ method, seat, until }: Record<string, string>) => [method, seat, until ?? null])
      .slice(0, 2)
  }
  t.same(await ends(), [
    ['GET', 'Viewer', later],
    ['POST', 'Editor', soon],
  ])
  const store = await openSqliteStore({ path: world.storeFile, timeout: 60_000 })
  t.teardown(() => store.close())
  await store.recordSignIn('acme', { sub: 'gil', email: null, name: null, at: 1 }, [first.seat_id])
  t.same(await ends(), [
    ['GET', 'Viewer', null],
    ['POST', 'Editor', soon],
  ])
  t.match(await who(), { seats: ['Viewer', 'Editor'] })
  t.same(
    (await who()).grants.map(({ seat }: { seat: string }) => seat),
    ['Editor'],
    'a Seat of the sign-in does not end',
  )
  const token = await world.token(['s1:Editor'])
  const outside = await world.client.send('GET', '/v1/access/can?user=gil', {
    authorization: `Bearer ${token}`,
    space: 's1',
  })
  t.match(outside.json.data, [{ seat: 'Viewer' }, { seat: 'Editor', until: soon }], 'outside the admin space')
})

t.test('pages of rows', async (t) => {
  const { data } = (await ask('/v1/access/can?seat=Editor&limit=100')).json
  const found: unknown[] = []
  let after = ''
  for (let page = 0; page < 50; page++) {
    const { json } = await ask(`/v1/access/can?seat=Editor&limit=2${after}`)
    found.push(...json.data)
    if (!json.has_more) break
    const { method, path, space } = json.data.at(-1)
    after = `&after=${encodeURIComponent(`${method} ${path}${space === null ? '' : ` ${space}`}`)}`
  }
  t.same(found, data)
})

t.test('outside the admin space the caller sees that space', async (t) => {
  const token = await world.token(['s1:Editor'])
  const { json } = await ask('/v1/access/who-can?method=GET&path=/list', token, 's1')
  t.match(json.seats, [
    { name: 'Viewer', spaces: ['s1'] },
    { name: 'Editor', spaces: ['s1'] },
  ])
  t.equal(json.seats[0].spaces.length, 1, 'the other space of Viewer is not shown')
  t.match(json.api_keys, [{ id: key.id, seats: ['Viewer'] }])
  t.equal(json.space, null, 'as asked')
  const last = `/v1/access/who-can?method=GET&path=/list&after=${key.id}`
  t.same((await ask(last, token, 's1')).json.api_keys, [], 'the page after the key of other Seats')
  const elsewhere = (await ask('/v1/access/who-can?method=GET&path=/list&space=s2', token, 's1')).json
  t.same([elsewhere.seats, elsewhere.api_keys, elsewhere.users], [[], [], []])
  const viewers = (await ask('/v1/access/can?seat=Viewer', token, 's1')).json.data
  t.match(viewers[0], { path: '/list', space: 's1', seat: 'Viewer' })
  t.same((await ask(`/v1/access/can?api_key=${key.id}`, token, 's1')).json.data, viewers)
  for (const { space } of viewers) t.ok(space === null || space === 's1')
  await world.seat('Elsewhere', ['s2'], ['trainings:list'])
  const other = (await world.admin('POST', '/v1/api-keys', { name: 'other', seats: ['Elsewhere'] })).json
  t.match((await ask('/v1/access/can?seat=Elsewhere', token, 's1')).json, { code: 'seat_not_found' })
  t.match((await ask(`/v1/access/can?api_key=${other.id}`, token, 's1')).json, { code: 'api_key_not_found' })
  t.match((await ask(`/v1/seats?limit=100`, token, 's1')).json, { code: 'permission_denied' })
  t.same((await ask('/v1/access/can?seat=Editor&space=s2', token, 's1')).json.data, [])
  const own = (await ask('/v1/access/can?seat=Editor', token, 's1')).json.data
  t.ok(own.every(({ space }: { space: string | null }) => space === null || space === 's1'))
  const viewer = await world.token(['s1:Viewer'])
  t.match((await ask('/v1/access/can?seat=Editor', viewer, 's1')).json, { code: 'permission_denied' })
})

t.test('wrong questions', async (t) => {
  const cases: [path: string, pointer: string][] = [
    ['who-can', '/method'],
    ['who-can?method=GET', '/path'],
    ['who-can?path=/list', '/method'],
    ['who-can?method=GET&path=/list&permission=a:b', '/permission'],
    ['who-can?permission=ab', '/permission'],
    ['who-can?permission=a:b&space=%20', '/space'],
    ['who-can?method=GET&path=/a/../b', '/path'],
    ['who-can?method=GET&path=list', '/path'],
    ['who-can?permission=a:b&limit=101', '/limit'],
    ['who-can?permission=a:b&x=1', '/x'],
    ['who-can?permission=a:b&permission=a:b', '/permission'],
    ['can', ''],
    ['can?seat=Viewer&user=alice', ''],
    ['can?seat=', '/seat'],
    ['can?api_key=x', '/api_key'],
    ['can?seat=Viewer&after=nonsense', '/after'],
  ]
  for (const [path, pointer] of cases) {
    const { status, json } = await ask(`/v1/access/${path}`)
    t.equal(status, 400, path)
    t.match(json, { code: 'input_invalid', errors: [{ path: pointer, message: String }] }, path)
  }
  t.match((await ask('/v1/access/can?seat=None')).json, { code: 'seat_not_found' })
  t.match((await ask('/v1/access/can?user=none')).json, { code: 'user_not_found' })
})

t.test('users, as their sign-ins made them known', async (t) => {
  const store = await openSqliteStore({ path: world.storeFile, timeout: 60_000 })
  t.teardown(() => store.close())
  const [viewer, editor] = (await world.admin('GET', '/v1/seats')).json.data
    .filter(({ name }: { name: string }) => ['Viewer', 'Editor'].includes(name))
    .map(({ id }: { id: string }) => id)
  const at = Date.UTC(2026, 0, 2)
  await store.recordSignIn('acme', { sub: 'auth0|ann', email: 'ann@acme.example', name: null, at }, [viewer])
  await store.recordSignIn('acme', { sub: 'ben', email: null, name: null, at }, [viewer, editor])
  const block = (await world.admin('POST', '/v1/blocks', { user: 'ben' })).json
  const ann = {
    sub: 'auth0|ann',
    email: 'ann@acme.example',
    last_sign_in: '2026-01-02T00:00:00.000Z',
    seats: ['Viewer'],
    blocked: false,
  }
  const list = (await world.admin('GET', '/v1/users')).json
  t.match(list, {
    data: [ann, { sub: 'ben', email: null, seats: ['Editor', 'Viewer'], blocked: true }],
    has_more: false,
  })
  t.same((await world.admin('GET', '/v1/users/auth0%7Cann')).json, ann)
  t.match((await world.admin('GET', '/v1/users/none')).json, { code: 'user_not_found' })
  t.same((await world.admin('GET', '/v1/users?q=ANN@')).json.data, [ann])
  const first = (await world.admin('GET', '/v1/users?limit=1')).json
  t.same([first.data, first.has_more], [[ann], true])
  t.match((await world.admin('GET', `/v1/users?after=${encodeURIComponent(ann.sub)}`)).json, {
    data: [{ sub: 'ben' }],
    has_more: false,
  })
  t.match((await world.admin('GET', '/v1/users?limit=0')).json, { code: 'input_invalid' })
  const who = (await ask('/v1/access/who-can?method=POST&path=/list')).json
  t.match(who.users, [{ sub: 'ben', email: null, seats: ['Editor'], blocked: true }])
  const both = (await ask('/v1/access/who-can?method=GET&path=/list')).json.users
  t.match(both, [
    { sub: 'auth0|ann', blocked: false },
    { sub: 'ben', blocked: true },
  ])
  const blocked = (await ask('/v1/access/can?user=ben&space=s1')).json.data
  t.ok(
    blocked.every(({ permission }: { permission: string }) => permission === 'public'),
    'blocked: public routes alone',
  )
  await world.admin('DELETE', `/v1/blocks/${block.id}`)
  const can = (await ask('/v1/access/can?user=ben&space=s1')).json.data
  const there = await world.token(['s2:Reader of access'])
  t.match((await ask('/v1/access/can?user=ben', there, 's2')).json.data[0], { space: 's2', seat: 'Viewer' })
  const seen = (await ask('/v1/access/who-can?method=GET&path=/list', there, 's2')).json.users
  t.match(seen, [
    { sub: 'auth0|ann', seats: ['Viewer'] },
    { sub: 'ben', seats: ['Viewer'] },
  ])
  t.same(seen[1].seats, ['Viewer'])
  await store.recordSignIn('acme', { sub: 'cleo', email: null, name: null, at }, [editor])
  t.match((await ask('/v1/access/can?user=cleo', there, 's2')).json, { code: 'user_not_found' })
  const { email } = ann
  const [byAddress, bySub] = [email, ann.sub].map((user) =>
    ask(`/v1/access/can?user=${encodeURIComponent(user)}`),
  )
  t.same((await byAddress)?.json, (await bySub)?.json, 'an address is its user')
  t.same(
    can.slice(0, 2).map(({ seat }: { seat: string }) => seat),
    ['Editor', 'Editor'],
  )
})

t.test('a user of a sub that no path can have', async (t) => {
  const store = await openSqliteStore({ path: world.storeFile, timeout: 60_000 })
  t.teardown(() => store.close())
  const sub = 'https://idp.example/users/../7?x=1&y=%2F'
  await store.recordSignIn('acme', { sub, email: null, name: null, at: 0 }, [])
  const read = (text: string) => world.admin('GET', `/v1/users?sub=${encodeURIComponent(text)}`)
  const found = await read(sub)
  t.match(found.json, { data: [{ sub, blocked: false }], has_more: false, count: 1 })
  t.same((await read('https://idp.example/users')).json.data, [], 'no part of it')
  t.same((await read(sub.toUpperCase())).json.data, [], 'no other case')
  t.same((await read('\0')).json.data, [])
  await world.admin('POST', '/v1/blocks', { user: sub })
  t.match((await read(sub)).json.data, [{ sub, blocked: true }])
  for (const query of ['sub=', 'sub=a&sub=b', 'sub=a&q=a', 'sub=a&after=a'])
    t.match((await world.admin('GET', `/v1/users?${query}`)).json, {
      code: 'input_invalid',
      errors: [{ path: '/sub' }],
    })
  const token = await world.token(['s2:Users of s2'])
  await world.seat('Users of s2', ['s2'], ['users:list'])
  const there = await world.client.send('GET', `/v1/users?sub=${encodeURIComponent(sub)}`, {
    authorization: `Bearer ${token}`,
    space: 's2',
  })
  t.match(there.json, { data: [], has_more: false }, 'outside the admin space as the list')
})
