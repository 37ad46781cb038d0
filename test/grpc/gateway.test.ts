/** gRPC through the gateway: clients and services of @grpc/grpc-js get the same as without it. */

import { once } from 'node:events'
import t from 'tap'
import { everyCall } from './calls.ts'
import { next, whole } from './client.ts'
import { seatForAll, startGrpcWorld } from './world.ts'

const { world, talk, caller } = await startGrpcWorld(t)
const seats = await seatForAll(world)

t.test('every kind of call', async (t) => {
  const client = await caller(seats, { 'x-sent': 'metadata', 'x-sent-bin': 'AP8=' })
  await everyCall(t, client, talk)
  const [first] = talk.calls
  t.same(first?.metadata.get('x-sent'), ['metadata'])
  t.same(first?.metadata.get('x-seatgate-user'), ['alice'])
  t.same(first?.metadata.get('authorization'), [], 'the credential stays at the gateway')
})

t.test('trailing metadata of any name', async (t) => {
  const of = ['location', 'retry-after', 'date', 'age', 'expires', 'vary', 'cache-control']
  const sent = Object.fromEntries(
    [...of, 'etag', 'server-timing', 'x-own'].map((name) => [name, `the ${name}`]),
  )
  for (const fields of [{}, { origin: 'https://page.example' }]) {
    const { status } = await (await caller(seats, fields)).unary(JSON.stringify(sent))
    t.equal(status.code, 0)
    t.same(status.metadata.getMap(), sent)
  }
  const refused = {
    'content-encoding': 'gzip',
    'content-type': 'a/b',
    'set-cookie': 'a=b',
    'x-seatgate-user': 'eve',
  }
  const { status } = await (await caller(seats)).unary(JSON.stringify({ ...refused, 'x-own': 'a' }))
  t.same(status.metadata.getMap(), { 'x-own': 'a' }, 'no framing, no credential and nothing of the gateway')
})

t.test('a cancelled call is cancelled at the service at once', async (t) => {
  const call = (await caller(seats)).chat()
  call.on('error', () => {})
  call.write('hold')
  await once(talk.events, 'message')
  const cancelled = talk.cancellation('Chat')
  call.cancel()
  t.equal(await cancelled, 'Chat')
})

t.test('a deadline that passes cancels the call at the service', async (t) => {
  const client = await caller(seats)
  const cancelled = talk.cancellation('Count')
  let hasBegun = false
  talk.events.once('begun', () => (hasBegun = true))
  // One that passes before the call has come to the service shows nothing.
  for (let deadline = 100; !hasBegun; deadline *= 2) {
    const { status } = await whole(client.count('silent', { deadline: Date.now() + deadline }))
    t.equal(status.code, 4)
  }
  t.equal(await cancelled, 'Count')
})

t.test('many streams at once, each with its own messages', async (t) => {
  // More than one connection to the service carries.
  const clients = [await caller(seats), await caller(seats)]
  const calls = clients.flatMap((client) => Array.from({ length: 60 }, () => client.chat()))
  const ended = calls.map((call) => whole(call))
  for (const [i, call] of calls.entries()) {
    call.write(`a${i}`)
    t.equal(await next(call), `a${i}!`)
  }
  for (const [i, call] of calls.entries()) {
    call.write(`b${i}`)
    call.end()
  }
  for (const [i, each] of ended.entries()) {
    const { messages, status } = await each
    t.same(messages, [`a${i}!`, `b${i}!`])
    t.equal(status.code, 0)
  }
})

t.test('a service that stops: its calls fail with 14, which clients may retry', async (t) => {
  const client = await caller(seats)
  const call = client.chat()
  const ended = whole(call)
  call.write('a')
  await next(call)
  talk.server.forceShutdown()
  t.equal((await ended).status.code, 14)
  t.equal((await client.unary('b')).status.code, 14)
})
