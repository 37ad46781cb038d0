/** Each limit with its code; a reload changes each without a restart. */

import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { type HeldTime, holdTime, untilStepped } from '../../support/held-time.ts'
import { RawClient, roundTrip } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import { startWorld, type World } from '../../support/world.ts'

const get = (target: string, ...fields: string[]) =>
  [`GET ${target} HTTP/1.1`, 'Host: a', ...fields, 'Connection: close', '', ''].join('\r\n')
const statusOf = async (world: World, request: string) => (await roundTrip(world.port, request)).slice(9, 12)
const fields = (count: number) => Array.from({ length: count }, () => 'X-A: a')

/** The response to a request whose rest never arrives. */
async function late(world: World, request: string, time: HeldTime): Promise<string> {
  const client = new RawClient(world.port).send(request)
  await untilStepped(time, () => client.received.includes('"code":"request_timeout"'))
  client.close()
  return client.received
}

async function limit(world: World, limits: string): Promise<void> {
  const text = readFileSync(world.config.file, 'utf8').replace(/^limits:.*\n/m, '')
  writeFileSync(world.config.file, `${text}limits: { ${limits} }\n`)
  await world.reload()
}

/** Of all tests that don't stall the upstream. Its first limits are the defaults. */
const world = await startWorld(t)

t.test('fields, bytes and targets', async (t) => {
  t.equal(await statusOf(world, get('/docs/a', ...fields(197))), '200')
  t.equal(await statusOf(world, get('/docs/a', ...fields(199))), '431')
  await limit(world, 'header_fields: 20, header_bytes: 2KiB, target_bytes: 1KiB')
  t.equal(await statusOf(world, get('/docs/a', ...fields(18))), '200')
  t.match(
    await roundTrip(world.port, get('/docs/a', ...fields(19))),
    /^HTTP\/1\.1 431 [\s\S]* more than 20 header fields/,
  )
  t.match(
    await roundTrip(world.port, get('/docs/a', `X-A: ${'a'.repeat(3000)}`)),
    /^HTTP\/1\.1 431 [\s\S]* larger than 2048 bytes/,
  )
  const path = (length: number) => `/docs/${'a'.repeat(length - 6)}`
  t.equal(await statusOf(world, get(path(1024))), '200')
  t.match(await roundTrip(world.port, get(path(1025))), /^HTTP\/1\.1 414 [\s\S]* longer than 1024 bytes/)
  await limit(world, 'header_fields: 300, header_bytes: 64KiB, target_bytes: 16KiB')
  // Refused for its content, and no longer for its length.
  const none = (path: string, ...more: string[]) => statusOf(world, get(path, ...more))
  t.equal(await none(`/none${'a'.repeat(16_379)}`, ...fields(297)), '404')
  t.equal(await none('/none', `X-A: ${'a'.repeat(60_000)}`), '404')
})

t.test('a connection without any bytes, or without the end of a header section', async (t) => {
  await limit(world, 'header_timeout: 1s')
  const time = holdTime(t)
  const silent = new RawClient(world.port)
  const kept = new RawClient(world.port).send('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n')
  await kept.until('true}')
  kept.received = ''
  kept.send('GET /docs/a HTTP/1.1\r\n')
  for (const client of [silent, kept]) {
    await untilStepped(time, () => client.finished)
    t.match(client.received, /^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/)
  }
})

t.test('the idle timeout, also of existing connections', async (t) => {
  await limit(world, '')
  const time = holdTime(t)
  const client = new RawClient(world.port)
  const ask = async () => {
    client.received = ''
    return client.send('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n').until('true}')
  }
  t.match(await ask(), /\r\nKeep-Alive: timeout=75\r\n/)
  for (const seconds of [30, 1]) {
    await limit(world, `idle_timeout: ${seconds}s`)
    t.match(await ask(), `\r\nKeep-Alive: timeout=${seconds}\r\n`)
  }
  const { received } = client
  await untilStepped(time, () => client.finished)
  t.equal(client.received, received, 'closed without a response')
})

t.test("bodies: the default of routes and of the gateway's own endpoints", async (t) => {
  await limit(world, '')
  const time = holdTime(t)
  const post = (length: number) =>
    `POST /open HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`
  t.match(
    await roundTrip(world.port, post(10 * 1024 * 1024 + 1)),
    /^HTTP\/1\.1 413 [\s\S]*"code":"body_too_large"/,
  )
  await limit(world, 'max_body: 16B, body_timeout: 300ms')
  t.match(await roundTrip(world.port, `${post(17)}${'a'.repeat(17)}`), /^HTTP\/1\.1 413/)
  t.equal(await statusOf(world, `${post(16)}${'a'.repeat(16)}`), '200')
  t.match(await late(world, `${post(16)}aaa`, time), /^HTTP\/1\.1 408/)
  const seat = [
    'POST /v1/seats HTTP/1.1',
    'Host: a',
    `X-Api-Key: ${world.keys['acme']}`,
    'Space: admin',
    'Content-Type: application/json',
    'Content-Length: 100',
    '',
    '{',
  ].join('\r\n')
  t.match(await late(world, seat, time), /^HTTP\/1\.1 408/)
  await limit(world, 'max_body: unlimited')
  t.equal(await statusOf(world, `${post(11 * 1024 * 1024)}${'a'.repeat(11 * 1024 * 1024)}`), '200')
})

t.test('connections', async (t) => {
  const world = await startWorld(t, { answer: () => {} })
  const held = () => new RawClient(world.port).send('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n')
  const first = [held(), held(), held()]
  await until(() => world.upstream.seen.length === 3, 'the requests')
  await limit(world, 'connections: 2')
  t.match(await held().ended, /^HTTP\/1\.1 503/)
  t.ok(
    first.every(({ socket }) => !socket.destroyed),
    'existing ones stay',
  )
  await limit(world, 'connections: 4')
  held()
  await until(() => world.upstream.seen.length === 4, 'the fourth request')
  t.match(await held().ended, /^HTTP\/1\.1 503/)
})
