/** Refusals of calls of gRPC: a status that its clients understand, and the code in the log. */

import { once } from 'node:events'
import { request } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import t from 'tap'
import { grpcStatusOf, percentEncoded } from '../../src/http/server/grpc-problem.ts'
import { type ErrorCode, errors, Refusal } from '../../src/model/errors.ts'
import { openSession } from '../http2/support.ts'
import { serve2 } from '../proxy/http2/support.ts'
import { holdTime } from '../support/held-time.ts'
import { until } from '../support/until.ts'
import type { World } from '../support/world.ts'
import { whole } from './client.ts'
import { pathOf } from './service.ts'
import { checkSilence } from './calls.ts'
import { ROUTES, seatForAll, startGrpcWorld } from './world.ts'

const main = await startGrpcWorld(t, {
  routes: [
    `POST ${pathOf('Unary')}: talk:unary`,
    `GET ${pathOf('Collect')}: public`,
    `POST ${pathOf('Chat')}: talk:chat`,
  ],
})

t.test('the status of each refusal', async (t) => {
  const { world, talk, caller } = main
  await world.seat('Unary', ['north'], ['talk:unary'])
  const seats = ['north:Unary']
  const nobody = await caller(null)
  t.match((await nobody.unary('a')).status, { code: 16, details: /^credentials_missing: / })
  const wrong = await caller(null, { authorization: 'Bearer a.b.c', space: 'north' })
  t.match((await wrong.unary('a')).status, { code: 16, details: /^token_invalid: / })
  const client = await caller(seats)
  t.equal((await client.unary('a')).status.code, 0)
  t.match((await client.collect(['a'])).status, { code: 13, details: /^method_not_allowed: / })
  t.match((await whole(client.count('1'))).status, { code: 12, details: /^route_not_found: / })
  t.match((await whole(client.chat())).status, { code: 7, details: /^permission_denied: / })
  const nowhere = await caller(seats, { space: 'south' })
  t.match((await nowhere.unary('a')).status, { code: 7, details: /^no_seat_in_space: / })
  t.equal(talk.calls.length, 1, 'the service saw the allowed call only')
  t.match(await lineOf(world, 'credentials_missing'), { status: 200, grpc_status: 16, level: 'info' })
  t.match(await lineOf(world, 'allow'), { status: 200, grpc_status: 0 })
})

t.test('over HTTP/1.1 it is a problem document', async (t) => {
  const asked = request({
    port: main.world.port,
    method: 'POST',
    path: pathOf('Unary'),
    headers: { 'content-type': 'application/grpc' },
  })
  asked.end()
  const [response] = await once(asked, 'response')
  t.equal(response.statusCode, 401)
  t.equal(response.headers['content-type'], 'application/problem+json')
  response.resume()
})

t.test('a withdrawn Seat ends an open stream with status 7', async (t) => {
  const { world, talk, caller } = main
  const id = await world.seat('Talker', ['north'], ['talk:chat'])
  const client = await caller(['north:Talker'])
  const call = client.chat()
  const ended = whole(call)
  call.write('a')
  await once(call, 'data')
  const cancelled = talk.cancellation('Chat')
  await world.admin('DELETE', `/v1/seats/${id}`)
  const { messages, status } = await ended
  t.same(messages, ['a!'])
  t.equal(status.code, 7)
  t.match(status.details, /^permission_denied: /)
  t.equal(await cancelled, 'Chat', 'the service learns it at once')
  t.match(await lineOf(world, 'permission_denied'), { status: 200, grpc_status: 7 })
})

t.test('a service that is away', async (t) => {
  const { world, talk, caller } = main
  const client = await caller(['north:Unary'])
  t.equal((await client.unary('a')).status.code, 0)
  talk.server.forceShutdown()
  t.match((await client.unary('a')).status, { code: 14 })
  const unreachable = await lineOf(world, /^upstream_/)
  t.match(unreachable, { status: 200, grpc_status: 14, level: 'error' })
})

t.test('a service that does not answer in time, and a stream that is silent on both sides', async (t) => {
  const chat = `POST ${pathOf('Chat')}: talk:chat`
  const { world, talk, caller } = await startGrpcWorld(t, {
    routes: ROUTES.filter((route) => route !== chat),
    upstream: ['response_timeout: 100ms'],
    beside: { name: 'silent', upstream: ['protocol: h2c', 'body_timeout: 300ms'], routes: [chat] },
  })
  const client = await caller(await seatForAll(world))
  t.match((await client.collect(['hold'])).status, { code: 14, details: /^upstream_timeout: / })
  const calls = talk.calls.length
  // The call before has opened the connection, for which grpc-js needs timers.
  const time = holdTime(t)
  const call = client.chat()
  await checkSilence(t, call, talk, async () => {
    await once(call, 'metadata')
    // The gateway checks a millisecond behind the deadline.
    time.pass(301)
  })
  t.equal(talk.calls.length - calls, 1)
})

t.test('every code has a status', (t) => {
  const of = (code: ErrorCode) => grpcStatusOf(new Refusal(code, ''))
  t.equal(of('credentials_ambiguous'), 16)
  for (const code of Object.keys(errors) as ErrorCode[]) {
    const { status } = errors[code]
    const expected = { 401: 16, 403: 7, 404: 12, 429: 8, 502: 14, 503: 14, 504: 14 }[status as number]
    if (code !== 'credentials_ambiguous') t.equal(of(code), expected ?? 13, code)
  }
  t.end()
})

t.test('the message is percent-encoded', (t) => {
  t.equal(percentEncoded('plain ~ text'), 'plain ~ text')
  t.equal(percentEncoded('100 %\r\nä\x7f'), '100 %25%0D%0A%C3%A4%7F')
  t.end()
})

t.test('a response that is not of gRPC is cut, as it would look complete', async (t) => {
  const held = Promise.withResolvers<ServerHttp2Stream>()
  const { port } = await serve2(t, (stream) => {
    stream.respond({ 'content-type': 'text/plain' })
    stream.write('half')
    held.resolve(stream)
  })
  const { world } = await startGrpcWorld(t, { target: `http://127.0.0.1:${port}` })
  const id = await world.seat('Talker', ['north'], ['talk:chat'])
  const stream = openSession(t, world.securePort).request({
    ':method': 'POST',
    ':path': pathOf('Chat'),
    'content-type': 'application/grpc',
    authorization: `Bearer ${await world.token(['north:Talker'])}`,
    space: 'north',
  })
  stream.on('error', () => {})
  stream.resume()
  let trailers = false
  stream.on('trailers', () => {
    trailers = true
  })
  const upstream = await held.promise
  const closed = once(upstream, 'close')
  await world.admin('DELETE', `/v1/seats/${id}`)
  await closed
  if (!stream.closed) await once(stream, 'close')
  t.equal(trailers, false)
  t.equal(stream.rstCode, 2)
})

/** The access line with this code, once it is written. */
async function lineOf(world: World, code: string | RegExp): Promise<Record<string, unknown>> {
  const isOne = (line: Record<string, unknown>) =>
    line.msg === 'request' &&
    line.grpc_status !== undefined &&
    (typeof code === 'string' ? line.code === code : code.test(String(line.code)))
  await until(
    () => world.log().some(isOne),
    () => `no line of the log has ${code}`,
  )
  return world.log().find(isOne) ?? {}
}
