/** Envoy asks a whole gateway by a real client of gRPC. */

import t from 'tap'
import {
  checkRequest,
  type ClientsRequest,
  deniedResponse,
  forwardedHeaders,
  loggedLine,
  serialized,
  startEnvoy,
} from './envoy.ts'

// One gateway for all tests that need no configuration of their own.
const common = startEnvoy(t)
const trusting = startEnvoy(t, {
  top: ['trusted_proxies: [203.0.113.0/24, 127.0.0.1]'],
  upstream: ['pass_authorization: true'],
})

t.test('an allowed request gets the identity, and loses its credential', async (t) => {
  const { envoy, headers, keyId, world } = await common
  for (const isRaw of [true, false]) {
    const request: ClientsRequest = { headers: [...headers, ['accept', '*/*']] }
    const forwarded = forwardedHeaders(request, await envoy.check(request, isRaw))
    t.same(Object.fromEntries(forwarded ?? []), {
      space: ['main'],
      accept: ['*/*'],
      'x-seatgate-auth': ['api-key'],
      'x-seatgate-tenant': ['acme'],
      'x-seatgate-user': [keyId],
      'x-seatgate-email': [''],
      'x-seatgate-space': ['main'],
      'x-seatgate-permission': ['trainings:read'],
      'x-seatgate-seats': ['reader'],
      'x-seatgate-seats-count': ['1'],
    })
  }
  t.match(await loggedLine(world, ({ status }) => status === 200), {
    code: 'allow',
    method: 'GET',
    path: '/v1/trainings/7',
    host: 'api.example.com',
    client: '203.0.113.9',
    asked_from: '127.0.0.1',
    user: keyId,
    permission: 'trainings:read',
  })
})

t.test('a refusal is a response for the client', async (t) => {
  const { envoy, headers, world } = await common
  const refused = async (request: ClientsRequest) => {
    const answer = deniedResponse(await envoy.check(request))
    const { headers, body } = answer
    t.equal(headers['content-type'], 'application/problem+json')
    t.equal(headers['cache-control'], 'no-store')
    const problem = JSON.parse(body)
    t.equal(problem.status, answer.status)
    t.equal(problem.request_id, headers['x-request-id'])
    return { ...answer, code: problem.code }
  }
  t.match(await refused({}), {
    grpcStatus: 16,
    status: 401,
    code: 'credentials_missing',
    headers: { 'www-authenticate': /^Bearer/ },
  })
  t.match(await refused({ headers, method: 'DELETE' }), {
    grpcStatus: 7,
    status: 403,
    code: 'permission_denied',
  })
  t.match(await refused({ headers, path: '/nowhere' }), {
    grpcStatus: 12,
    status: 404,
    code: 'route_not_found',
  })
  t.match(await refused({ headers, method: 'PUT' }), { status: 405, headers: { allow: /GET/ } })
  t.match(await refused({ headers: [...headers, ['space', 'other']] }), {
    status: 400,
    code: 'request_malformed',
  })
  t.match(await refused({ headers, path: '/v1//trainings' }), { status: 400, code: 'path_ambiguous' })
  t.match(await loggedLine(world, ({ code }) => code === 'permission_denied'), {
    status: 403,
    method: 'DELETE',
  })
})

t.test('the log counts the bytes of an answer', async (t) => {
  const { envoy, headers, world } = await common
  for (const [method, status] of [
    ['GET', 200],
    ['DELETE', 403],
  ] as const) {
    const { bytes } = await envoy.send(
      serialized(checkRequest({ headers, method, path: '/v1/trainings/bytes' })),
    )
    const line = await loggedLine(
      world,
      (each) => each.path === '/v1/trainings/bytes' && each.status === status,
    )
    // The prefix of a message has five bytes.
    t.equal(line['bytes_out'], 5 + bytes)
  }
})

t.test('a change is in force with the next question', async (t) => {
  const { envoy, world } = await common
  const { json } = await world.admin('POST', '/v1/api-keys', { name: 'other', seats: ['reader'] })
  const headers = [['x-api-key', json.key] as const, ['space', 'main'] as const]
  t.equal((await envoy.check({ headers })).status?.code, 0)
  await world.admin('DELETE', `/v1/api-keys/${json.id}`)
  const { status, body } = deniedResponse(await envoy.check({ headers }))
  t.equal(status, 401)
  t.equal(JSON.parse(body).code, 'api_key_revoked')
})

t.test('a public route has an identity of empty values, and passes no credential', async (t) => {
  const { envoy, headers } = await common
  const request: ClientsRequest = {
    path: '/docs/a',
    headers: [...headers, ['authorization', 'Bearer x'], ['x-seatgate-user', 'root']],
  }
  const forwarded = forwardedHeaders(request, await envoy.check(request))
  t.same(forwarded?.get('x-seatgate-user'), [''])
  t.same(forwarded?.get('x-seatgate-auth'), [''])
  t.notOk(forwarded?.has('x-api-key'))
  t.notOk(forwarded?.has('authorization'))
})

t.test('authorization passes where the upstream wants it', async (t) => {
  const { envoy, world } = await trusting
  await world.seat('Reader', ['north'], ['trainings:read'])
  const authorization = `Bearer ${await world.token(['north:Reader'])}`
  const request: ClientsRequest = {
    headers: [
      ['authorization', authorization],
      ['space', 'north'],
    ],
  }
  t.same(forwardedHeaders(request, await envoy.check(request))?.get('authorization'), [authorization])
  const open: ClientsRequest = { ...request, path: '/docs/a' }
  t.notOk(forwardedHeaders(open, await envoy.check(open))?.has('authorization'), 'not on a public route')
})

t.test('clients of gRPC get trailers only, as the gateway sends them', async (t) => {
  const { envoy, world } = await common
  const request: ClientsRequest = {
    protocol: 'HTTP/2',
    headers: [['content-type', 'application/grpc+proto']],
  }
  const { grpcStatus, status, headers, body } = deniedResponse(await envoy.check(request))
  t.equal(grpcStatus, 16)
  t.equal(status, 200)
  t.equal(body, '')
  t.match(headers, {
    'content-type': 'application/grpc',
    'grpc-status': '16',
    'grpc-message': /^credentials_missing: /,
    'cache-control': 'no-store',
  })
  t.match(await loggedLine(world, ({ grpc_status }) => grpc_status === 16), { status: 200 })
  const http1 = deniedResponse(await envoy.check({ ...request, protocol: 'HTTP/1.1' }))
  t.equal(http1.status, 401, 'gRPC needs HTTP/2')
})

t.test('the handshake of a WebSocket is judged as on the wire', async (t) => {
  const { envoy, headers } = await common
  const handshake = [
    ['upgrade', 'websocket'],
    ['connection', 'Upgrade'],
    ['sec-websocket-version', '13'],
    ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ] as const
  const request: ClientsRequest = { headers: [...headers, ...handshake] }
  const forwarded = forwardedHeaders(request, await envoy.check(request))
  t.same(forwarded?.get('upgrade'), ['websocket'], 'what Envoy needs is left')
  t.same(forwarded?.get('sec-websocket-key'), ['dGhlIHNhbXBsZSBub25jZQ=='])
  t.equal(deniedResponse(await envoy.check({ headers: handshake })).status, 401)
  const two = [...headers, ...handshake, ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='] as const]
  t.equal(deniedResponse(await envoy.check({ headers: two })).status, 400)
})

t.test('names the client behind a trusted proxy, and only there', async (t) => {
  const { envoy, headers, world } = await trusting
  const chain = ['x-forwarded-for', '198.51.100.4, 192.0.2.7, 203.0.113.9'] as const
  await envoy.check({ headers: [...headers, chain], path: '/v1/trainings/1' })
  t.match(await loggedLine(world, ({ path }) => path === '/v1/trainings/1'), { client: '192.0.2.7' })
  await envoy.check({ headers: [...headers, chain], path: '/v1/trainings/2', address: '192.0.2.200' })
  t.match(await loggedLine(world, ({ path }) => path === '/v1/trainings/2'), { client: '192.0.2.200' })
})

t.test('takes the request id of a trusted Envoy', async (t) => {
  const { envoy, world } = await trusting
  const { headers } = deniedResponse(await envoy.check({ headers: [['x-request-id', 'abc-1']] }))
  t.equal(headers['x-request-id'], 'abc-1')
  t.match(await loggedLine(world, ({ request_id }) => request_id === 'abc-1'), { status: 401 })
})

t.test('answers many questions at once on one connection', async (t) => {
  const { envoy, headers } = await common
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, i) => envoy.check({ headers, method: i % 2 === 0 ? 'GET' : 'DELETE' })),
  )
  t.same(
    answers.map(({ status }) => status?.code),
    Array.from({ length: 80 }, (_, i) => (i % 2 === 0 ? 0 : 7)),
  )
})
