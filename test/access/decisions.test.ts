/** `GET /v1/routes` and `GET /v1/decisions` on a running gateway of one process. */

import t from 'tap'
import { openEventStream } from '../support/event-stream.ts'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, {
  tables: {
    'other.yaml': 'upstream: main\ntenant: globex\nroutes:\n  GET /other/{id}: other:read\n',
    'hosts.yaml':
      'upstream: main\nhosts: [a.example.com, b.example.com]\nroutes:\n  GET /v1/trainings: trainings:list\n  GET /hosted: public\n',
    'host.yaml': 'upstream: main\nhost: c.example.com\nroutes:\n  GET /v1/trainings: trainings:list\n',
    'prefix.yaml': 'upstream: main\nprefix: /code\nroutes:\n  GET /{id}: code:read\n',
  },
})
await world.seat('Viewer', ['s1', 's2'], ['trainings:list'])
await world.seat('Elsewhere', ['s2'], ['trainings:read'])
await world.seat('Watcher', ['s1'], ['decisions:list', 'routes:list'])
const viewer = { authorization: `Bearer ${await world.token(['s1:Viewer', 's1:Elsewhere'])}`, space: 's1' }
const watcher = { authorization: `Bearer ${await world.token(['s1:Watcher'], { sub: 'bob' })}`, space: 's1' }
const admin = { 'x-api-key': world.keys['acme'] ?? '', space: 'admin' }

const get = (path: string, headers: Record<string, string> = viewer) =>
  world.client.send('GET', path, headers)
const routes = async (query = '', tenant = 'acme') =>
  (await world.admin('GET', `/v1/routes${query}`, undefined, tenant)).json
const decisions = async (query = '', headers: Record<string, string> = admin) =>
  (await get(`/v1/decisions${query}`, headers)).json
const named = (rows: { method: string; path: string }[]) =>
  rows.map(({ method, path }) => `${method} ${path}`)

t.test('routes with their uses', async (t) => {
  await get('/v1/trainings')
  await get('/v1/trainings')
  await get('/v1/trainings/1')
  await get('/docs/a')
  await get('/v1/me')
  const { data, has_more } = await routes('?limit=100')
  t.equal(has_more, false)
  const first = data.find(({ host }: { host: null }) => host === null)
  t.match(first, {
    method: 'GET',
    path: '/v1/trainings',
    permission: 'trainings:list',
    upstream: 'main',
    host: null,
    file: /routes\/main\.yaml$/,
    line: 3,
    requests: 2,
  })
  t.ok(Date.now() - Date.parse(first.last_at) < 600_000)
  const uses = (path: string) => data.find((each: { path: string }) => each.path === path)
  t.match(uses('/v1/trainings/{id}'), { requests: 0, last_at: null }, 'refused')
  t.match(uses('/docs/*'), { requests: 0, last_at: null }, 'public: of no tenant')
  t.match(uses('/v1/me'), { requests: 1 })
  t.match(uses('/code/{id}'), { permission: 'code:read' })
  t.match(uses('/v1/routes'), { upstream: 'seatgate', file: '(built in)', line: 0, requests: 1 })
})

t.test('another tenant sees its own uses, and its own entries', async (t) => {
  const { data } = await routes('?limit=100', 'globex')
  t.match(data[0], { path: '/v1/trainings', requests: 0, last_at: null })
  t.ok(named(data).includes('GET /other/{id}'))
  t.notOk(named((await routes('?limit=100')).data).includes('GET /other/{id}'), 'not those of another tenant')
  const answer = await world.admin('GET', `/v1/routes?after=${encodeURIComponent('GET /other/{id}')}`)
  t.equal(answer.status, 400, 'nor where they stand')
  t.equal(answer.body.includes('other:read'), false)
})

t.test('search and filter', async (t) => {
  t.same(named((await routes('?q=CODE')).data), ['GET /code/{id}'])
  t.same(named((await routes('?q=b.example')).data), ['GET /v1/trainings', 'GET /hosted'])
  t.same(named((await routes(`?q=${encodeURIComponent('delete /v1/tr')}`)).data), [
    'DELETE /v1/trainings/{id}',
  ])
  t.same(named((await routes('?permission=trainings:read')).data), ['GET /v1/trainings/{id}'])
  t.same((await routes('?permission=no:route')).data, [])
  t.ok((await routes('?permission=public&limit=100')).data.length > 2)
  for (const wrong of [
    'q=',
    'permission=',
    'permission=a',
    'permission=*',
    'limit=0',
    'after=',
    'x=1',
    'q=a&q=b',
  ])
    t.equal((await world.admin('GET', `/v1/routes?${wrong}`)).json.code, 'input_invalid', wrong)
})

t.test('pages lose and repeat nothing, also where routes differ only in their hosts', async (t) => {
  const whole = (await routes('?limit=100')).data
  for (const limit of [1, 2, 3, 7]) {
    const found: { method: string; path: string; host: string | null }[] = []
    let after = ''
    for (;;) {
      const { data, has_more } = await routes(`?limit=${limit}${after}`)
      found.push(...data)
      if (!has_more) break
      after = `&after=${encodeURIComponent(named(data).at(-1) ?? '')}`
    }
    const key = ({ method, path, host }: (typeof found)[number]) => [method, path, host]
    t.same(found.map(key), whole.map(key), `limit ${limit}`)
  }
  const hosted = (await routes(`?limit=1&after=${encodeURIComponent('GET a.example.com+1/hosted')}`)).data
  t.ok(hosted.length > 0, 'the id of a route with hosts is a place too')
  t.equal((await world.admin('GET', '/v1/routes?after=GET%20/none')).json.code, 'input_invalid')
})

t.test('decisions, newest first', async (t) => {
  await get('/v1/trainings')
  const refused = await get('/v1/trainings/7?token=secret')
  const { data, has_more } = await decisions('?limit=2')
  t.equal(has_more, true)
  t.match(data, [
    {
      code: 'permission_denied',
      method: 'GET',
      path: '/v1/trainings/7',
      route: 'GET /v1/trainings/{id}',
      permission: 'trainings:read',
      space: 's1',
      user: 'alice',
      seats: ['Viewer'],
      request_id: refused.headers['x-request-id'],
    },
    { code: 'allow', path: '/v1/trainings', user: 'alice' },
  ])
  t.notOk(JSON.stringify(data).includes('secret'), 'no query')
  const older = await decisions(`?limit=2&after=${data[1].id}`)
  t.ok(older.data[0].id < data[1].id)
  t.ok(
    (await decisions('?code=permission_denied')).data.every(
      (each: { code: string }) => each.code !== 'allow',
    ),
  )
  for (const wrong of ['code=perhaps', 'code=', 'after=1', 'limit=101'])
    t.equal((await get(`/v1/decisions?${wrong}`, admin)).json.code, 'input_invalid', wrong)
})

t.test('a credential that was refused after its signature is one of its tenant', async (t) => {
  const expired = await world.token(['s1:Viewer'], { sub: 'carol', now: Date.now() - 86_400_000 })
  await get('/v1/trainings', { authorization: `Bearer ${expired}`, space: 's1' })
  await get('/v1/trainings', { authorization: 'Bearer x', space: 's1' })
  t.match((await decisions('?limit=1')).data, [
    { code: 'token_expired', user: 'carol', space: null, seats: [] },
  ])
})

t.test('the entry of another tenant is not named', async (t) => {
  await get('/other/1')
  t.match((await decisions('?limit=1')).data, [
    { code: 'tenant_mismatch', path: '/other/1', route: null, permission: null },
  ])
  const expired = await world.token(['s1:Viewer'], { sub: 'carol', now: Date.now() - 86_400_000 })
  await get('/other/1', { authorization: `Bearer ${expired}`, space: 's1' })
  t.match(
    (await decisions('?limit=1')).data,
    [{ code: 'token_expired', user: 'carol', route: null, permission: null }],
    'nor with another code',
  )
})

t.test('decisions are those of the tenant, and outside the admin space those of that space', async (t) => {
  await get('/v1/trainings', { ...viewer, space: 's2' })
  const globex = { 'x-api-key': world.keys['globex'] ?? '', space: 'admin' }
  t.ok((await decisions('', globex)).data.every((each: { user: string }) => each.user !== 'alice'))
  const { data } = await decisions('', watcher)
  t.ok(data.length > 2)
  t.ok(data.every((each: { space: string }) => each.space === 's1'))
  t.notOk(JSON.stringify(data).includes('Elsewhere'), 'no Seat of another space')
})

t.test('as events', async (t) => {
  const stream = await openEventStream(t, world.port, '/v1/decisions', admin)
  t.match(stream.response.headers, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  t.match(stream.response.statusCode, 200)
  const ofSpace = await openEventStream(t, world.port, '/v1/decisions?code=permission_denied', watcher)
  await get('/v1/trainings')
  const refused = await get('/v1/trainings/7')
  await get('/v1/trainings/7', { ...viewer, space: 's2' })
  await stream.received(4)
  t.match(
    stream.decisions.map(({ path, code, space }) => [path, code, space]),
    [
      ['/v1/decisions', 'allow', 's1'],
      ['/v1/trainings', 'allow', 's1'],
      ['/v1/trainings/7', 'permission_denied', 's1'],
      ['/v1/trainings/7', 'no_seat_in_space', 's2'],
    ],
  )
  await ofSpace.received(1)
  t.match(ofSpace.decisions, [{ code: 'permission_denied', request_id: refused.headers['x-request-id'] }])
  t.equal(ofSpace.decisions.length, 1)
  const wrong = await openEventStream(t, world.port, '/v1/decisions?limit=1', admin)
  t.equal(wrong.response.statusCode, 400)
  const head = await world.client.send('HEAD', '/v1/decisions', { ...admin, accept: 'text/event-stream' })
  t.equal(head.headers['content-type'], 'application/json', 'a stream has no head alone')
  for (const accept of ['*/*', 'application/json, text/event-stream;q=0.5', 'text/event-stream;q=0'])
    t.equal((await get('/v1/decisions', { ...admin, accept })).headers['content-type'], 'application/json')
})

t.test('a stream ends when its right is lost, and with a clean end', async (t) => {
  const id = await world.seat('Once', ['s1'], ['decisions:list'])
  const once = { authorization: `Bearer ${await world.token(['s1:Once'], { sub: 'dan' })}`, space: 's1' }
  const stream = await openEventStream(t, world.port, '/v1/decisions', once)
  const blocked = await openEventStream(t, world.port, '/v1/decisions', watcher)
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: [] })
  await stream.atEnd()
  t.notOk(blocked.response.readableEnded)
  await world.admin('POST', '/v1/blocks', { user: 'bob' })
  await blocked.atEnd()
  t.match((await decisions('?code=caller_blocked')).data[0], { user: 'bob', path: '/v1/decisions' })
})

t.test('streams end at the beginning of a drain', async (t) => {
  const globex = { 'x-api-key': world.keys['globex'] ?? '', space: 'admin' }
  const stream = await openEventStream(t, world.port, '/v1/decisions', globex)
  const closing = world.gateway.close(60_000)
  await stream.atEnd()
  await closing
})
