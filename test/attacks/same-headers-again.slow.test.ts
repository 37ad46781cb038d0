/** The cached headers of the last request on a connection never decide about the next one. */

import t, { type Test } from 'tap'
import { startWorld, type World } from '../support/world.ts'
import { RawClient } from '../support/raw-client.ts'

/** Sends requests in sequence on one connection; returns each status and the headers that the upstream received. */
async function asking(t: Test, world: World, host = () => 'a', from?: string) {
  const wire = new RawClient(world.port, { from })
  t.teardown(() => wire.socket.destroy())
  return async (line: string, headers: string) => {
    wire.received = ''
    const before = world.upstream.seen.length
    wire.send(`${line}\r\nHost: ${host()}\r\n${headers}\r\n`)
    const text = await wire.until(/\r\n\r\n\{.*\}\n?$/)
    return { status: Number(text.slice(9, 12)), seen: world.upstream.seen[before] }
  }
}

t.test('a change between two identical requests', async (t) => {
  const world = await startWorld(t)
  const id = await world.seat('Reader', ['s1'], ['trainings:list'])
  const key = await world.admin('POST', '/v1/api-keys', { name: 'reader', seats: ['Reader'] })
  const ask = await asking(t, world)
  const headers = `x-api-key: ${key.json.key}\r\nSpace: s1\r\n`
  for (let i = 0; i < 3; i++) t.equal((await ask('GET /v1/trainings HTTP/1.1', headers)).status, 200)
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['trainings:read'] })
  t.equal((await ask('GET /v1/trainings HTTP/1.1', headers)).status, 403)
  t.equal((await ask('GET /v1/trainings/7 HTTP/1.1', headers)).status, 200)
  await world.admin('DELETE', `/v1/api-keys/${key.json.id}`)
  t.equal((await ask('GET /v1/trainings/7 HTTP/1.1', headers)).status, 401)
})

t.test('another caller in as many bytes, and an anonymous request', async (t) => {
  const world = await startWorld(t)
  await world.seat('Reader', ['s1'], ['trainings:list'])
  const ask = await asking(t, world)
  const tokens = await Promise.all(['ann', 'bob'].map((user) => world.token(['s1:Reader'], { sub: user })))
  t.equal(tokens[0]?.length, tokens[1]?.length)
  for (const [i, user] of ['ann', 'ann', 'ann', 'bob', 'ann', 'bob', 'bob', 'bob'].entries()) {
    const token = tokens[user === 'ann' ? 0 : 1]
    const { status, seen } = await ask(
      'GET /v1/trainings HTTP/1.1',
      `Authorization: Bearer ${token}\r\nSpace: s1\r\n`,
    )
    t.equal(status, 200)
    t.equal(seen?.headers['x-seatgate-user'], user, `request ${i}`)
    t.equal(seen?.headers['authorization'], undefined)
  }
  t.equal((await ask('GET /v1/trainings HTTP/1.1', 'Space: s1\r\n')).status, 401)
})

t.test('one caller whose Seats change, and another permission', async (t) => {
  const world = await startWorld(t)
  const id = await world.seat('Reader', ['s1'], ['trainings:list'])
  const other = await world.seat('Editor', ['s1'], ['trainings:read'])
  const ask = await asking(t, world)
  const token = await world.token(['s1:Reader', 's1:Editor'], { sub: 'ann' })
  const headers = `Authorization: Bearer ${token}\r\nSpace: s1\r\n`
  const forwarded = async (path: string) => {
    const { status, seen } = await ask(`GET ${path} HTTP/1.1`, headers)
    return [status, seen?.headers['x-seatgate-permission'], seen?.headers['x-seatgate-seats']]
  }
  for (let i = 0; i < 2; i++) {
    t.same(await forwarded('/v1/trainings'), [200, 'trainings:list', 'Reader'])
    t.same(await forwarded('/v1/trainings/7'), [200, 'trainings:read', 'Editor'])
    t.same(await forwarded('/v1/me'), [200, undefined, undefined])
    t.same(await forwarded('/docs/a'), [200, undefined, undefined])
  }
  await world.admin('PUT', `/v1/seats/${other}`, { permissions: ['trainings:read', 'trainings:list'] })
  t.same(await forwarded('/v1/trainings'), [200, 'trainings:list', 'Reader,Editor'])
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['trainings:read'] })
  t.same(await forwarded('/v1/trainings'), [200, 'trainings:list', 'Editor'])
  t.same(await forwarded('/v1/trainings/7'), [200, 'trainings:read', 'Reader,Editor'])
  await world.admin('PUT', `/v1/seats/${other}`, { spaces: ['s2'] })
  t.same(await forwarded('/v1/trainings'), [403, undefined, undefined])
})

t.test('each request has its own id, and no header of an earlier one', async (t) => {
  const world = await startWorld(t)
  const ask = await asking(t, world)
  const ids = new Set<unknown>()
  for (let i = 0; i < 5; i++) {
    const { seen } = await ask('GET /docs/a HTTP/1.1', 'Connection: x-a\r\nX-A: b\r\nX-C: d\r\n')
    ids.add(seen?.headers['x-request-id'])
    t.equal(seen?.headers['x-a'], undefined)
    t.equal(seen?.headers['x-c'], 'd')
    t.equal(seen?.rawHeaders.filter((name) => name.toLowerCase() === 'x-request-id').length, 1)
  }
  t.equal(ids.size, 5)
})

t.test('one connection, with another host in each third request', async (t) => {
  const world = await startWorld(t)
  let host = ''
  const ask = await asking(t, world, () => host)
  for (host of ['a.example', 'a.example', 'a.example', 'b.example', 'b.example', 'b.example', 'a.example']) {
    const { seen } = await ask('GET /docs/a HTTP/1.1', 'X-Forwarded-Host: theirs\r\n')
    t.match(seen?.headers, {
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': host,
    })
  }
})

t.test('a public route and one with a permission, in turn', async (t) => {
  const world = await startWorld(t, { upstream: ['pass_authorization: true'] })
  await world.seat('Reader', ['s1'], ['trainings:list'])
  const ask = await asking(t, world)
  const authorization = `Bearer ${await world.token(['s1:Reader'], { sub: 'ann' })}`
  for (let i = 0; i < 6; i++) {
    const isPublic = i % 2 === 0
    const { seen } = await ask(
      `GET ${isPublic ? '/docs/a' : '/v1/trainings'} HTTP/1.1`,
      `Authorization: ${authorization}\r\nSpace: s1\r\n`,
    )
    t.equal(seen?.headers['authorization'], isPublic ? undefined : authorization)
    t.equal(seen?.headers['x-seatgate-user'], isPublic ? undefined : 'ann')
  }
})

t.test('two clients whose requests are identical to the byte', async (t) => {
  const world = await startWorld(t)
  const id = await world.seat('Reader', ['s1'], ['trainings:list'])
  const places = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
  const clients = await Promise.all(places.map((from) => asking(t, world, () => 'a', from)))
  const headers = `Authorization: Bearer ${await world.token(['s1:Reader'], { sub: 'ann' })}\r\nSpace: s1\r\n`
  const round = async (status: number) => {
    for (const [i, ask] of clients.entries()) {
      const answer = await ask('GET /v1/trainings HTTP/1.1', headers)
      t.equal(answer.status, status)
      if (status === 200) t.equal(answer.seen?.headers['x-forwarded-for'], places[i])
    }
  }
  for (let i = 0; i < 4; i++) await round(200)
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['trainings:read'] })
  for (let i = 0; i < 2; i++) await round(403)
  await world.gateway.close(1000)
  const logged = world.log().filter((line) => line.msg === 'request' && line.path === '/v1/trainings')
  t.same(
    logged.map(({ client, status }) => [client, status]),
    [200, 200, 200, 200, 403, 403].flatMap((status) => places.map((place) => [place, status])),
  )
})

t.test('the log has the caller and the permission of each request', async (t) => {
  const world = await startWorld(t)
  const id = await world.seat('Reader', ['s1'], ['trainings:list'])
  await world.seat('Editor', ['s1'], ['trainings:read'])
  const ask = await asking(t, world)
  const headers = `Authorization: Bearer ${await world.token(['s1:Reader', 's1:Editor'], { sub: 'a"nn' })}\r\nSpace: s1\r\n`
  const paths = [
    '/v1/trainings',
    '/v1/trainings',
    '/v1/trainings/a"b',
    '/v1/trainings',
    '/docs/a',
    '/v1/me',
    '/nowhere',
  ]
  for (const path of paths) await ask(`GET ${path} HTTP/1.1`, headers)
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['trainings:read'] })
  await ask('GET /v1/trainings HTTP/1.1', headers)
  await ask('GET /v1/trainings HTTP/1.1', headers)
  // Not an HTTP method, so the connection closes.
  await ask("!#$%&'*+.^_`|~ /v1/trainings HTTP/1.1", headers)
  await world.gateway.close(1000)
  const [reads, lists] = ['trainings:read', 'trainings:list']
  const before = ['Reader:grants', 'Editor:lacks_permission']
  const after = ['Reader:lacks_permission', 'Editor:lacks_permission']
  const lines = world
    .log()
    .filter((line) => line.msg === 'request' && !String(line.path).startsWith('/v1/seats'))
  t.same(
    lines
      .slice(-10)
      .map(({ path, permission, status, user, seats }) => [path, permission, status, user, seats]),
    [
      ['/v1/trainings', lists, 200, 'a"nn', before],
      ['/v1/trainings', lists, 200, 'a"nn', before],
      ['/v1/trainings/a"b', reads, 200, 'a"nn', ['Reader:lacks_permission', 'Editor:grants']],
      ['/v1/trainings', lists, 200, 'a"nn', before],
      ['/docs/a', 'public', 200, undefined, undefined],
      ['/v1/me', 'authenticated', 200, 'a"nn', ['Reader:named', 'Editor:named']],
      ['/nowhere', undefined, 404, undefined, undefined],
      ['/v1/trainings', lists, 403, 'a"nn', after],
      ['/v1/trainings', lists, 403, 'a"nn', after],
      [null, undefined, 400, undefined, undefined],
    ],
  )
})
