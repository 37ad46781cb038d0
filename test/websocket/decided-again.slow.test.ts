/** Open exchanges are re-evaluated after changes and expiry, and closed if refused. */

// Those of the test, unlike those of the gateway, are real.
import { clearInterval, setInterval } from 'node:timers'
import t, { type Test } from 'tap'
import { holdLease } from '../support/held-lease.ts'
import { type HeldTime, holdTime, untilStepped } from '../support/held-time.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { reevaluated, get, openHeld, HELD_ROUTES, reevaluatedAgain, serveEvents } from './held.ts'
import { header } from './frames.ts'
import { WebSocketClient, sendHandshake, startWebSocketUpstream } from './support.ts'
import { metricsOf } from '../support/operations.ts'

const HOUR = 3_600_000

/** ms that the wall clock of the gateway is ahead */
let ahead = 0
const wallClock = Date.now
Date.now = () => wallClock() + ahead

const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
const world = await startWorld(t, { routes: HELD_ROUTES, target: upstream.url })
await holdLease(t, world)
let time: HeldTime
t.beforeEach((t) => {
  time = holdTime(t)
})
const open = (lines: readonly string[], at = '') => openHeld(world.port, lines, at, time)
let count = 0

/** A new Seat, a token that names it, and a key. */
async function member(permissions: readonly string[] = ['trainings:list']) {
  const name = `Seat ${++count}`
  const id = await world.seat(name, ['s1', 's2'], permissions)
  const bearer = [`Authorization: Bearer ${await world.token([`s1:${name}`])}`, 'Space: s1']
  const change = async (fields: Record<string, unknown>) => {
    const answer = await world.admin('PUT', `/v1/seats/${id}`, fields)
    if (answer.status !== 200) throw new Error(answer.body)
  }
  const key = async (more: Record<string, unknown> = {}) => {
    const { json } = await world.admin('POST', '/v1/api-keys', { name: 'K', seats: [name], ...more })
    return { id: json.id as string, lines: [`x-api-key: ${json.key}`, 'Space: s1'] }
  }
  return { id, name, bearer, change, key }
}

/** Waits until earlier changes have been read, and the decisions that depend on them are renewed. */
async function settled(t: Test): Promise<void> {
  const { bearer, change } = await member()
  const held = await open(bearer)
  await change({ permissions: [] })
  await held.cut(t, 'permission_denied')
}

/** The last log lines of requests that were cut with this code. */
const linesOf = (code: string) => world.log().filter((line) => line.code === code)

t.test('a Seat that is renamed', async (t) => {
  const { bearer, change } = await member()
  const held = await open(bearer)
  await change({ name: 'Renamed' })
  await held.cut(t, 'permission_denied')
  await until(() => linesOf('permission_denied').length === 2, 'the lines')
  t.match(
    linesOf('permission_denied').find(({ path }) => path === '/ws'),
    { status: 101, ended_by: 'decided_again', close_code: 1008 },
  )
  t.match(
    linesOf('permission_denied').find(({ path }) => path === '/sse'),
    { status: 200, aborted: true },
  )
  const [socket] = upstream.sockets.slice(-1)
  await until(() => socket?.closed === true, 'the end at the upstream')
  t.equal(socket?.closeFrame?.payload.readUInt16BE(), 1008, 'the upstream gets it too')
})

t.test('a deleted Seat', async (t) => {
  const { id, bearer } = await member()
  const held = await open(bearer)
  t.equal((await world.admin('DELETE', `/v1/seats/${id}`)).status, 204)
  await held.cut(t, 'permission_denied')
})

t.test('a removed permission', async (t) => {
  const { bearer, change } = await member()
  const held = await open(bearer)
  await change({ permissions: ['trainings:read'] })
  await held.cut(t, 'permission_denied')
})

t.test('a blocked user, on permission routes and others', async (t) => {
  const { name, bearer } = await member()
  const eve = [`Authorization: Bearer ${await world.token([`s1:${name}`], { sub: 'eve' })}`, 'Space: s1']
  const held = await open(eve)
  const authenticated = await open(eve, '/me')
  const other = await open(bearer)
  const { status, json } = await world.admin('POST', '/v1/blocks', { user: 'eve' })
  t.equal(status, 200)
  await held.cut(t, 'caller_blocked')
  await authenticated.cut(t, 'caller_blocked')
  await other.staysOpen(t)
  t.equal((await world.admin('DELETE', `/v1/blocks/${json.id}`)).status, 204)
  await (await open(eve)).staysOpen(t)
})

t.test('a removed space', async (t) => {
  const { bearer, change } = await member()
  const held = await open(bearer)
  await change({ spaces: ['s2'] })
  await held.cut(t, 'permission_denied')
})

t.test('the Seat of an API key', async (t) => {
  const { key, change } = await member()
  const held = await open((await key()).lines)
  await change({ permissions: [] })
  await held.cut(t, 'permission_denied')
})

t.test('inside a frame no Close is sent: both ends are cut', async (t) => {
  const { bearer, change } = await member()
  const client = await sendHandshake(world.port, '/ws', bearer).opened()
  const [socket] = upstream.sockets.slice(-1)
  socket?.socket.write(header(2, 1000, false))
  client.send(header(2, 1000, true))
  await until(() => client.reader.left === 4 && socket?.reader.left === 4, 'both beginnings')
  await change({ permissions: [] })
  await untilStepped(time, () => client.closed)
  await until(() => socket?.closed === true, 'the end at the upstream')
  t.same([client.frames.length, client.reader.left], [0, 4])
  t.same([socket?.frames.length, socket?.reader.left], [0, 4])
})

t.test('nothing passes after the 1008', async (t) => {
  const { bearer, change } = await member()
  const client = await sendHandshake(world.port, '/ws', bearer).opened()
  const [socket] = upstream.sockets.slice(-1)
  const talk = setInterval(() => client.socket.writable && client.sendText('more'), 5)
  await client.receives('more')
  await change({ permissions: [] })
  await untilStepped(time, () => client.closeFrame !== undefined && socket?.closeFrame !== undefined)
  await untilStepped(time, () => client.closed)
  clearInterval(talk)
  t.equal(client.frames.at(-1), client.closeFrame, "Close is the client's last frame")
  t.equal(socket?.frames.at(-1), socket?.closeFrame, "the upstream's too")
})

t.test('a revoked key, also where no Seat is required', async (t) => {
  const { id, lines } = await (await member()).key()
  const held = await open(lines)
  const elsewhere = await open(lines, '/me')
  t.equal((await world.admin('DELETE', `/v1/api-keys/${id}`)).status, 204)
  await held.cut(t, 'api_key_revoked')
  await elsewhere.cut(t, 'api_key_revoked')
})

t.test('a change that keeps the decision', async (t) => {
  const { bearer, change, id } = await member()
  const held = await open(bearer)
  const before = await reevaluated(world)
  await change({ permissions: ['trainings:list', 'trainings:read'], spaces: ['s1'] })
  await reevaluatedAgain(world, before, 2, time)
  await held.staysOpen(t)
  t.equal((await world.admin('DELETE', `/v1/seats/${id}`)).status, 204)
  await held.cut(t, 'permission_denied')
})

t.test('one of two Seats, and then the other', async (t) => {
  const [one, two] = [await member(), await member()]
  const token = await world.token([`s1:${one.name}`, `s1:${two.name}`])
  const held = await open([`Authorization: Bearer ${token}`, 'Space: s1'])
  const before = await reevaluated(world)
  await one.change({ permissions: [] })
  await reevaluatedAgain(world, before, 2, time)
  await held.staysOpen(t)
  await two.change({ permissions: [] })
  await held.cut(t, 'permission_denied')
})

t.test('of 80, only those of the changed Seat are re-evaluated', async (t) => {
  const [one, other] = [await member(), await member()]
  await settled(t)
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, i) => open(i % 10 === 0 ? one.bearer : other.bearer)),
  )
  const before = await reevaluated(world)
  await one.change({ permissions: [] })
  await Promise.all(all.filter((_, i) => i % 10 === 0).map((held) => held.cut(t, 'permission_denied')))
  await Promise.all(all.filter((_, i) => i % 10 !== 0).map((held) => held.staysOpen(t)))
  t.equal((await reevaluated(world)) - before, 8)
  for (const held of all) held.end()
})

t.test("another tenant's Seat of the same name", async (t) => {
  const { bearer, name } = await member()
  const id = await world.seat(name, ['s1'], ['trainings:list'], 'globex')
  await settled(t)
  const held = await open(bearer)
  const evaluations = async () =>
    (await metricsOf(world)).match(/^seatgate_decisions_again_total\{code="allow"\} .*$/m)?.[0]
  const before = await evaluations()
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: [] }, 'globex')
  await settled(t)
  await held.staysOpen(t)
  t.equal(await evaluations(), before, 'it was not even evaluated')
  held.end()
})

t.test('a request without a response yet gets the refusal', async (t) => {
  const { bearer, change } = await member()
  const client = get(world.port, '/slow', bearer)
  await until(() => upstream.requests.at(-1)?.url === '/slow', 'the request')
  const request = upstream.requests.at(-1)
  await change({ permissions: [] })
  await untilStepped(time, () => client.status !== 0)
  t.same([client.status, client.code], [403, 'permission_denied'])
  await until(() => request?.socket.destroyed === true, 'the end at the upstream')
  client.socket.destroy()
})

t.test('an upload is stopped', async (t) => {
  const { bearer, change } = await member()
  for (const framing of ['Transfer-Encoding: chunked', 'Content-Length: 8000000']) {
    await change({ permissions: ['trainings:list'] })
    const client = new WebSocketClient(world.port)
    client.send(['POST /slow HTTP/1.1', 'Host: gw', ...bearer, framing, '', ''].join('\r\n'))
    const piece = 'x'.repeat(1024)
    const chunk = framing.includes('chunked') ? `400\r\n${piece}\r\n` : piece
    const upload = setInterval(() => client.socket.writable && client.send(chunk), 20)
    await until(() => upstream.requests.at(-1)?.method === 'POST', 'the request')
    const request = upstream.requests.at(-1)
    await change({ permissions: [] })
    await untilStepped(time, () => client.status !== 0)
    t.same([client.status, client.code], [403, 'permission_denied'], framing)
    await until(() => request?.socket.destroyed === true, 'the end at the upstream')
    t.notOk(request?.complete, 'not a complete body')
    clearInterval(upload)
    client.socket.destroy()
    upstream.requests.length = 0
  }
})

t.test('HTTP/1.0 gets a reset, because a plain end would complete the body', async (t) => {
  const { bearer, change } = await member()
  const client = new WebSocketClient(world.port)
  client.send(['GET /sse HTTP/1.0', 'Host: gw', ...bearer, '', ''].join('\r\n'))
  await until(() => client.http.includes('data: first'), 'the first event')
  await change({ permissions: [] })
  await untilStepped(time, () => client.closed)
  t.ok(client.reset)
})

t.test('a pipelined request behind an open one is re-evaluated too', async (t) => {
  const [one, other] = [await member(), await member()]
  const both = [
    ['GET /sse HTTP/1.1', 'Host: gw', ...one.bearer, '', ''].join('\r\n'),
    ['GET /slow HTTP/1.1', 'Host: gw', ...other.bearer, '', ''].join('\r\n'),
  ]
  const client = new WebSocketClient(world.port).send(both.join(''))
  await until(() => client.http.includes('data: first'), 'the first event')
  await one.change({ permissions: [] })
  await untilStepped(time, () => client.closed)
  t.notMatch(client.http, /\r\n0\r\n/)
})

t.test('a key and a token that expire: not before, and then at the next check', async (t) => {
  const { bearer, key } = await member()
  const expires = new Date(Date.now() + HOUR).toISOString()
  const byKey = await open((await key({ expires_at: expires })).lines)
  const byToken = [await open(bearer), await open(bearer, '/me')]
  await settled(t)
  const before = await reevaluated(world)
  time.pass(5000)
  for (const held of [byKey, ...byToken]) await held.staysOpen(t)
  t.equal(await reevaluated(world), before)
  ahead = HOUR + world.tenant('acme').token.lifetime
  await byKey.cut(t, 'api_key_expired')
  for (const held of byToken) await held.cut(t, 'token_expired')
})
