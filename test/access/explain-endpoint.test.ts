/** `POST /v1/access/explain` on a running gateway. */

import t from 'tap'
import { openSqliteStore } from '../../seats-admin/index.ts'
import { done, writer } from '../seats-admin/store/conformance.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, {
  tables: {
    'other.yaml': 'upstream: main\ntenant: globex\nroutes:\n  GET /other/{id}: other:read\n',
  },
})
const viewerId = await world.seat('Viewer', ['s1', 's2'], ['trainings:list', 'access:read'])
await world.seat('Hidden', ['s2'], ['trainings:read'])
const key = (await world.admin('POST', '/v1/api-keys', { name: 'ci', seats: ['Viewer'] })).json
const hidden = (await world.admin('POST', '/v1/api-keys', { name: 'hidden', seats: ['Hidden'] })).json
const revoked = (await world.admin('POST', '/v1/api-keys', { name: 'old', seats: ['Viewer'] })).json
await world.admin('DELETE', `/v1/api-keys/${revoked.id}`)
const store = await openSqliteStore({ path: world.storeFile, timeout: 60_000 })
const hiddenId = (await store.seatByName('acme', 'Hidden')).value.seat?.id ?? ''
await store.recordSignIn('acme', { sub: 'alice', email: 'alice@example.com', name: null, at: Date.now() }, [
  viewerId,
])
await store.recordSignIn('acme', { sub: 'carol', email: 'carol@example.com', name: null, at: Date.now() }, [
  hiddenId,
])
for (const [sub, email] of [
  ['dora@example.com', 'dora@other.example'],
  ['emil', 'dora@example.com'],
  ['erna', 'team@example.com'],
  ['fritz', 'Team@example.com'],
] as const)
  await store.recordSignIn('acme', { sub, email, name: null, at: Date.now() }, [viewerId])
const ofDora = done(
  await store.createApiKey(writer(), { name: 'dora', seats: ['Viewer'], expiresAt: null, owner: 'dora' }),
).value
await store.close()

type Asked = Record<string, unknown>
const LIST = { method: 'GET', path: '/v1/trainings', space: 's1' }

const ask = (body: Asked, tenant = 'acme') => world.admin('POST', '/v1/access/explain', body, tenant)
const explain = async (body: Asked, tenant = 'acme') => (await ask(body, tenant)).json
const inSpace = async (body: Asked, space = 's1') => {
  const token = await world.token([`${space}:Viewer`], { sub: 'asker' })
  const headers = { authorization: `Bearer ${token}`, space, 'content-type': 'application/json' }
  return (await world.client.send('POST', '/v1/access/explain', headers, JSON.stringify(body))).json
}

t.test('holders of Seats', async (t) => {
  t.match(await explain({ ...LIST, seats: ['Viewer'] }), {
    answer: 'allow',
    code: 'allow',
    reason: /grants/,
    method: 'GET',
    path: '/v1/trainings',
    route: { id: 'GET /v1/trainings', target: { kind: 'upstream', name: 'main' }, place: { line: 3 } },
    permission: 'trainings:list',
    principal: { method: 'bearer', tenant: 'acme', user: 'explain' },
    space: 's1',
    seats: [{ name: 'Viewer', id: viewerId, verdict: 'grants' }],
    grantedIn: [],
  })
  const ofSeats = await explain({ method: 'GET', path: '/v1/seats', space: 'admin', seats: ['Viewer'] })
  t.same(ofSeats.route.target, { kind: 'local' }, 'a built-in route')
  t.match(await explain({ ...LIST, space: 's3', seats: ['Viewer'] }), {
    code: 'no_seat_in_space',
    grantedIn: ['s1', 's2'],
  })
  t.match(await explain({ ...LIST, path: '/v1/trainings/7?a=b', seats: ['Viewer'] }), {
    code: 'permission_denied',
    path: '/v1/trainings/7',
    seats: [{ verdict: 'lacks_permission' }],
  })
  t.match(await explain({ ...LIST, seats: ['None'] }), {
    code: 'permission_denied',
    seats: [{ name: 'None', id: null, verdict: 'unknown' }],
  })
  t.match(await explain({ ...LIST, space: undefined, seats: ['Viewer'] }), { code: 'space_required' })
})

t.test('Seats with many spaces', async (t) => {
  const spaces = Array.from({ length: 7000 }, (_, at) => `s${at}`)
  const seats = ['Wide 1', 'Wide 2', 'Wide 3']
  for (const name of seats) await world.seat(name, spaces, ['trainings:list'])
  const { principal, ...rest } = await explain({ ...LIST, seats: seats.slice(0, 2) })
  t.match(rest, { code: 'allow', seats: [{ name: 'Wide 1' }, { name: 'Wide 2' }] })
  t.match(principal, { method: 'bearer', claims: { by: 'name', issuedAt: Number } })
  t.same(Object.keys(principal.claims.entries), spaces)
  t.same(principal.claims.entries.s6999, seats.slice(0, 2))
  t.match(await explain({ ...LIST, seats }), { code: 'input_invalid', errors: [{ path: '/seats' }] })
})

t.test('API keys, by id and by themselves', async (t) => {
  for (const api_key of [key.id, key.key])
    t.match(await explain({ ...LIST, api_key }), {
      code: 'allow',
      principal: { method: 'api-key', user: key.id },
      seats: [{ name: 'Viewer' }],
    })
  for (const api_key of [revoked.id, revoked.key])
    t.match(await explain({ ...LIST, api_key }), { code: 'api_key_revoked', principal: null })
  const other = world.keys['globex'] ?? ''
  for (const api_key of ['01KAJ0Z1V5Q8T2C0W7M3E9R4XD', 'sk_x', 'x', '', `${key.key}x`, other])
    t.match(await explain({ ...LIST, api_key }), { code: 'api_key_invalid', principal: null, seats: [] })
  t.match(await explain({ ...LIST, api_key: key.id }, 'globex'), { code: 'api_key_invalid' })
  t.notOk(world.logText().includes(key.key), 'no key in the log')
})

t.test('an API key of a blocked owner', async (t) => {
  const asked = { ...LIST, api_key: ofDora.id }
  t.match(await explain(asked), { code: 'allow', principal: { method: 'api-key', owner: 'dora' } })
  const { id } = (await world.admin('POST', '/v1/blocks', { user: 'dora' })).json
  t.match(await explain(asked), { code: 'caller_blocked' })
  t.match(await inSpace(asked), { code: 'caller_blocked' }, 'the asker sees the key')
  t.match(await explain({ ...LIST, api_key: key.id }), { code: 'allow' })
  await world.admin('DELETE', `/v1/blocks/${id}`)
  t.match(await explain(asked), { code: 'allow' })
})

t.test('users', async (t) => {
  t.match(await explain({ ...LIST, user: 'alice' }), {
    code: 'allow',
    principal: { user: 'alice', email: 'alice@example.com' },
  })
  t.match(await explain({ ...LIST, user: 'nobody' }), { code: 'no_seat_in_space', seats: [] })
  t.match(await explain({ ...LIST, user: 'alice' }, 'globex'), { code: 'no_seat_in_space', seats: [] })
  const { id } = (await world.admin('POST', '/v1/blocks', { user: 'alice' })).json
  t.match(await explain({ ...LIST, user: 'alice' }), { code: 'caller_blocked' })
  await world.admin('DELETE', `/v1/blocks/${id}`)
})

t.test('users on requests that are decided without a caller', async (t) => {
  const code = async (method: string, path: string) =>
    (await explain({ method, path, space: 's1', user: 'alice' })).code
  t.equal(await code('GET', '/v1/nowhere'), 'route_not_found')
  t.equal(await code('DELETE', '/v1/trainings'), 'method_not_allowed')
})

t.test('an email address is that of its user, blocked or not', async (t) => {
  const byAddress = async () => {
    const { timings: _, ...found } = await explain({ ...LIST, user: 'ALICE@example.com' })
    return found
  }
  const bySub = async () => {
    const { timings: _, ...found } = await explain({ ...LIST, user: 'alice' })
    return found
  }
  const comparable = async (ask: () => Promise<{ principal: { validUntil: number; claims: object } }>) => {
    const { principal, ...found } = await ask()
    return { ...found, principal: { ...principal, validUntil: 0, claims: null } }
  }
  t.same(await comparable(byAddress), await comparable(bySub))
  const { id } = (await world.admin('POST', '/v1/blocks', { user: 'alice' })).json
  t.match(await byAddress(), { code: 'caller_blocked', principal: { user: 'alice' } })
  t.same(await comparable(byAddress), await comparable(bySub))
  await world.admin('DELETE', `/v1/blocks/${id}`)
})

t.test('an address that is a sub, and one of several users', async (t) => {
  const meant = async (user: string) => (await explain({ ...LIST, user })).principal.user
  t.equal(await meant('dora@example.com'), 'dora@example.com', 'the user of this sub')
  t.match(await ask({ ...LIST, user: 'team@example.com' }), {
    status: 400,
    json: { code: 'input_invalid', errors: [{ path: '/user', message: /several users .*: erna, fritz$/ }] },
  })
})

t.test('what is not known is said, of each kind of caller', async (t) => {
  for (const [asked, by, reason] of [
    [{ user: 'nobody' }, 'user', /No sign-in of this user is known here/],
    [{ user: 'nobody@example.com' }, 'user', /No sign-in of this user is known here/],
    [{ api_key: '01KAJ0Z1V5Q8T2C0W7M3E9R4XD' }, 'api_key', /There is no such API key here/],
    [{ seats: ['Viewer', 'None'] }, 'seats', /There is no Seat "None" here/],
    [{ seats: ['A', 'B'], space: undefined }, 'seats', /There are no Seats "A", "B" here/],
  ] as const)
    t.match(
      await explain({ ...LIST, ...asked }),
      { caller: { by, known: false }, reason },
      JSON.stringify(asked),
    )
  for (const [asked, by] of [
    [{ user: 'alice' }, 'user'],
    [{ api_key: key.id }, 'api_key'],
    [{ api_key: revoked.id }, 'api_key'],
    [{ seats: ['Viewer'] }, 'seats'],
    [{ seats: [] }, 'seats'],
    [{}, 'none'],
  ] as const) {
    const { caller, reason } = await explain({ ...LIST, ...asked })
    t.same(caller, { by, known: true }, JSON.stringify(asked))
    t.notMatch(reason, 'here')
  }
  await world.admin('POST', '/v1/blocks', { user: 'issuer|gone' })
  t.match(
    await explain({ ...LIST, user: 'issuer|gone' }),
    { code: 'caller_blocked', caller: { known: false } },
    'a block needs no sign-in',
  )
  t.match(await explain({ method: 'GET', path: '/docs/a', user: 'nobody' }), {
    code: 'allow',
    caller: { known: null },
  })
})

t.test('requests without a credential, and requests that are refused before', async (t) => {
  t.match(await explain(LIST), { code: 'credentials_missing', principal: null })
  t.match(await explain({ method: 'GET', path: '/docs/a' }), { code: 'allow', permission: 'public' })
  t.match(await explain({ method: 'GET', path: '/none', seats: [] }), {
    code: 'route_not_found',
    route: null,
  })
  t.match(await explain({ method: 'PUT', path: '/v1/me' }), { code: 'method_not_allowed' })
  t.match(await explain({ method: 'BREW', path: '/v1/me' }), { code: 'request_malformed' })
  t.match(await explain({ method: 'GET', path: '/v1/a b' }), { code: 'request_malformed' })
  t.match(await explain({ method: 'GET', path: '/v1/%2e/a' }), { code: 'path_ambiguous' })
  t.match(await explain({ method: 'GET', path: `/${'a'.repeat(9000)}` }), { code: 'uri_too_long' })
  t.match(await explain({ ...LIST, host: 'a b' }), { code: 'request_malformed' })
  t.match(await explain({ ...LIST, space: 'a b', seats: ['Viewer'] }), { code: 'request_malformed' })
})

t.test('the entry of another tenant is not shown', async (t) => {
  const decision = await explain({ method: 'GET', path: '/other/1', space: 's1', seats: ['Viewer'] })
  t.match(decision, { code: 'tenant_mismatch', route: null, permission: null })
  t.notOk(JSON.stringify(decision).includes('other:read'))
})

t.test('outside the admin space what lies in other spaces is as what does not exist', async (t) => {
  t.match(await inSpace({ ...LIST, seats: ['Viewer'] }), { code: 'allow' })
  const both = [{ seats: ['Hidden'] }, { seats: ['None'] }]
  const [seen, missing] = await Promise.all(both.map((each) => inSpace({ ...LIST, ...each })))
  t.match(seen.seats, [{ name: 'Hidden', id: null, verdict: 'unknown' }])
  t.equal(seen.code, missing.code)
  t.match(await inSpace({ ...LIST, user: 'alice' }), {
    code: 'allow',
    principal: { email: 'alice@example.com' },
  })
  const unknown = await inSpace({ ...LIST, user: 'carol' })
  t.match(unknown, { code: 'no_seat_in_space', principal: { email: null }, grantedIn: [] })
  t.notOk(JSON.stringify(unknown).includes('Hidden'))
  t.match(unknown.caller, { by: 'user', known: false }, 'nor that it has signed in')
  const ofAddress = await inSpace({ ...LIST, user: 'carol@example.com' })
  t.match(ofAddress, {
    code: 'no_seat_in_space',
    principal: { user: 'carol@example.com' },
    caller: { known: false },
  })
  t.equal(ofAddress.reason, unknown.reason)
  t.match(await inSpace({ ...LIST, user: 'alice@example.com' }), {
    code: 'allow',
    principal: { user: 'alice' },
  })
  await world.admin('POST', '/v1/blocks', { user: 'carol' })
  t.match(await inSpace({ ...LIST, user: 'carol' }), { code: 'no_seat_in_space' }, 'nor that it is blocked')
  t.match(await inSpace({ ...LIST, api_key: hidden.id }), { code: 'api_key_invalid', principal: null })
  const own = await inSpace({ ...LIST, space: 's2', api_key: key.id })
  t.notOk(JSON.stringify(own).includes('s2:') || own.grantedIn.includes('s2'), 'no other space')
  t.match(await inSpace({ ...LIST, space: 's2', seats: ['Viewer'] }), { code: 'no_seat_in_space' })
})

t.test('wrong questions', async (t) => {
  for (const wrong of [
    {},
    { method: 'GET' },
    { ...LIST, seats: ['a'], user: 'b' },
    { ...LIST, seats: 'a' },
    { ...LIST, seats: ['a', 'a'] },
    { ...LIST, token: 'x' },
  ])
    t.equal((await ask(wrong)).json.code, 'input_invalid', JSON.stringify(wrong))
})
