/** Ways to an upstream behind Envoy that the gateway itself would not let pass. */

import { connect as connect2, type IncomingHttpHeaders } from 'node:http2'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import {
  checkRequest,
  type ClientsRequest,
  deniedResponse,
  forwardedHeaders,
  loggedLine,
  serialized,
  startEnvoy,
} from '../external-authorization/envoy-grpc/envoy.ts'

const common = startEnvoy(t)

t.test('forged identity headers, in any spelling, never reach the upstream', async (t) => {
  const { envoy, headers } = await common
  const forged = [
    'x-seatgate-user',
    'x_seatgate_user',
    'x-seatgate_user',
    'x.seatgate.seats',
    'x-seatgate-jwt',
    'x-seatgate',
    'x-seatgate-seats-count',
  ]
  for (const isRaw of [true, false]) {
    const request: ClientsRequest = {
      headers: [...headers, ...forged.map((name) => [name, 'root'] as const), ['x-seatgate-user', 'root2']],
    }
    const forwarded = forwardedHeaders(request, await envoy.check(request, isRaw))
    t.ok(forwarded?.has('x-seatgate-user'))
    for (const [name, values] of forwarded ?? []) t.notMatch(values.join(), /root/, name)
    t.equal(forwarded?.get('x-seatgate-user')?.length, 1)
  }
})

t.test('fields that name another path, and other spellings of treated ones, are removed', async (t) => {
  const { envoy, headers } = await common
  const names = [
    'x-original-url',
    'x-rewrite-url',
    'x-http-method-override',
    'x-forwarded-uri',
    'x_api_key',
    'x_forwarded_for',
    'proxy',
    'proxy-authorization',
  ]
  const request: ClientsRequest = { headers: [...headers, ...names.map((name) => [name, '/admin'] as const)] }
  const forwarded = forwardedHeaders(request, await envoy.check(request))
  for (const name of names) t.notOk(forwarded?.has(name), name)
})

t.test('what Envoy needs for its own connections is never removed', async (t) => {
  const { envoy, headers } = await common
  const kept = ['te', 'content-length', 'x-request-id', 'x-forwarded-for', 'x-forwarded-proto', 'accept']
  const value = (name: string) => (name === 'content-length' ? '0' : 'trailers')
  const request: ClientsRequest = {
    headers: [...headers, ...kept.map((name) => [name, value(name)] as const)],
  }
  const answer = await envoy.check(request)
  const forwarded = forwardedHeaders(request, answer)
  for (const name of kept) t.same(forwarded?.get(name), [value(name)], name)
  t.notMatch(answer.ok_response?.headers_to_remove.join(), /:|host/)
})

t.test('duplicate credentials are refused, shown as lines or merged', async (t) => {
  const { envoy, key } = await common
  for (const isRaw of [true, false]) {
    const code = async (headers: readonly (readonly [string, string])[]) =>
      JSON.parse(deniedResponse(await envoy.check({ headers }, isRaw)).body).code
    const space = ['space', 'main'] as const
    t.equal(await code([['x-api-key', key], ['x-api-key', 'other'], space]), 'credentials_ambiguous')
    t.equal(await code([['x-api-key', 'other'], ['x-api-key', key], space]), 'credentials_ambiguous')
    t.equal(
      await code([['authorization', 'Bearer a'], ['authorization', 'Bearer b'], space]),
      'credentials_ambiguous',
    )
    t.equal(await code([['x-api-key', key], space, ['space', 'other']]), 'request_malformed')
  }
})

t.test('a value that is no UTF-8 fails closed (CVE-2023-27488)', async (t) => {
  const { envoy, headers } = await common
  for (const isRaw of [true, false]) {
    const bad = deniedResponse(
      await envoy.check(
        {
          headers: [
            ['x-api-key', '\xff'],
            ['space', 'main'],
          ],
        },
        isRaw,
      ),
    )
    t.equal(bad.status, 401)
    const other = await envoy.check({ headers: [...headers, ['x-name', '\xff']] }, isRaw)
    t.equal(other.status?.code, 0, 'elsewhere it means nothing')
  }
})

t.test('the session cookie of the gateway stays away from the upstream', async (t) => {
  const { envoy, headers } = await common
  const cookies = async (...lines: string[]) => {
    const request: ClientsRequest = {
      headers: [...headers, ...lines.map((line) => ['cookie', line] as const)],
    }
    return forwardedHeaders(request, await envoy.check(request))?.get('cookie')
  }
  t.same(await cookies('a=b; __Host-seatgate_session=x; c=d'), ['a=b; c=d'])
  t.same(await cookies('a=b', '__Host-seatgate_session=x', 'c=d'), ['a=b; c=d'])
  t.same(await cookies('__Host-seatgate_session=x'), undefined)
  t.same(await cookies('=__host-seatgate_session=x'), undefined)
  t.same(await cookies('a=b', 'c=d'), ['a=b', 'c=d'], 'others pass as they came')
  t.same(await cookies('a=\xc3\xa4; __Host-seatgate_session=x'), ['a=ä'], 'byte for byte')
})

t.test('the host that is judged is the host that is forwarded', async (t) => {
  const { envoy, headers } = await common
  const second = deniedResponse(await envoy.check({ headers: [...headers, ['host', 'other.example']] }))
  t.equal(second.status, 400)
  t.equal(deniedResponse(await envoy.check({ headers, host: 'a b' })).status, 400)
  t.equal(deniedResponse(await envoy.check({ headers, host: '' })).status, 400)
})

t.test('a path that is read in two ways is refused (CVE-2021-32779, CVE-2021-29492)', async (t) => {
  const { envoy, headers } = await common
  for (const path of [
    '/v1/trainings/7#/docs',
    '/docs/%2e%2e/v1',
    '/docs/..',
    '/v1%2ftrainings/7',
    '//docs',
    '/docs;a',
  ]) {
    const { status, body } = deniedResponse(await envoy.check({ headers, path }))
    t.equal(status, 400, path)
    t.equal(JSON.parse(body).code, 'path_ambiguous')
  }
})

t.test('bytes that are no CheckRequest fail the call, and allow nothing', async (t) => {
  const { envoy } = await common
  const { status, answer } = await envoy.send(Buffer.from([0x0b]))
  t.equal(status.code, 3)
  t.equal(answer, null)
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const { status, answer } = await envoy.send(Buffer.from(bytes))
      return status.code === 3 || (status.code === 0 && answer?.status?.code !== 0 && answer?.status !== null)
    }),
    { numRuns: 60 },
  )
})

t.test('a question without a request is refused', async (t) => {
  const { envoy, world } = await common
  const { answer } = await envoy.send(serialized({ attributes: { source: {} } }))
  if (answer === null) throw new Error('no answer')
  t.equal(deniedResponse(answer).status, 400)
  t.match(await loggedLine(world, ({ code }) => code === 'request_malformed'), { status: 400 })
})

t.test('a large message is refused by an answer, as its client may have made it so', async (t) => {
  const { envoy, headers } = await common
  const message = checkRequest({ headers: [...headers, ['x-large', 'a'.repeat(300_000)]] })
  const { answer } = await envoy.send(serialized(message))
  if (answer === null) throw new Error('the call failed')
  t.equal(deniedResponse(answer).status, 413)
  t.equal((await envoy.check({ headers })).status?.code, 0, 'the connection goes on')
})

t.test('another method is unknown', async (t) => {
  const { envoy, headers } = await common
  const path = '/envoy.service.auth.v3.Authorization/Other'
  const { status, answer } = await envoy.send(serialized(checkRequest({ headers })), { path })
  t.equal(status.code, 12)
  t.equal(answer, null)
})

/** A request of HTTP/2 with a body, on a connection of its own. */
async function send(port: number, headers: Record<string, string>, body: Buffer) {
  const session = connect2(`http://127.0.0.1:${port}`)
  try {
    const stream = session.request({ ':method': 'POST', ...headers })
    const response = once(stream, 'response')
    let trailers: IncomingHttpHeaders = {}
    stream.on('trailers', (fields) => (trailers = fields))
    stream.on('error', () => {})
    stream.end(body)
    const [head] = await response
    stream.resume()
    await once(stream, 'close')
    return { status: head[':status'], grpcStatus: head['grpc-status'] ?? trailers['grpc-status'] }
  } finally {
    session.destroy()
  }
}

const CHECK = '/envoy.service.auth.v3.Authorization/Check'

function framed(message: Buffer, flag = 0, length = message.length): Buffer {
  const prefix = Buffer.from([flag, 0, 0, 0, 0])
  prefix.writeUInt32BE(length, 1)
  return Buffer.concat([prefix, message])
}

t.test('a call has one message, whole and plain', async (t) => {
  const { port, headers } = await common
  const message = serialized(checkRequest({ headers }))
  const fields = { ':path': CHECK, 'content-type': 'application/grpc' }
  const call = (body: Buffer, encoding = 'identity') =>
    send(port, { ...fields, 'grpc-encoding': encoding }, body)
  t.match(await call(framed(message)), { status: 200, grpcStatus: '0' })
  t.match(await call(Buffer.concat([framed(message), framed(message)])), { status: 200, grpcStatus: '12' })
  t.match(await call(Buffer.alloc(0)), { grpcStatus: '12' })
  t.match(await call(framed(message, 0, message.length + 1)), { grpcStatus: '12' })
  t.match(await call(framed(message, 0, 0xffff_ffff)), { grpcStatus: '12' })
  t.match(await call(framed(message, 1)), { grpcStatus: '12' })
  t.match(await call(framed(gzipSync(message), 1), 'gzip'), { status: 200, grpcStatus: '12' })
  t.match(await call(framed(message).subarray(0, -1)), { grpcStatus: '12' })
})

t.test('no program that asks over HTTP gets a 200 from the path of gRPC', async (t) => {
  const { port, headers, ask } = await common
  const body = framed(serialized(checkRequest({ headers })))
  const grpc = { 'content-type': 'application/grpc' }
  const status = async (fields: Record<string, string>) => (await send(port, fields, body)).status
  t.equal(await status({ ':path': CHECK }), 415)
  t.equal(await status({ ':path': CHECK, 'content-type': 'application/json' }), 415)
  t.equal(await status({ ':path': `${CHECK}?a`, ...grpc }), 415)
  t.equal(await status({ ':path': '/other', ...grpc }), 404)
  t.equal((await ask(CHECK, { ...grpc }, 'POST')).status, 415, 'HTTP/1.1')
  t.equal((await ask(CHECK, { ...grpc }, 'GET')).status, 415)
})

t.test('a question that is given up ends, and is logged', async (t) => {
  const { port, world, envoy, headers } = await common
  const session = connect2(`http://127.0.0.1:${port}`)
  t.teardown(() => session.destroy())
  const stream = session.request({ ':method': 'POST', ':path': CHECK, 'content-type': 'application/grpc' })
  stream.on('error', () => {})
  const half = framed(serialized(checkRequest({ headers }))).subarray(0, 40)
  await new Promise((resolve) => stream.write(half, resolve))
  // Answered behind the half, so that the gateway has it.
  await new Promise((resolve) => session.ping(resolve))
  stream.close(8)
  t.match(await loggedLine(world, ({ aborted, status }) => aborted === true && status === 0), { code: null })
  t.equal((await envoy.check({ headers })).status?.code, 0)
})
