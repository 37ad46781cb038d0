/** Open exchanges are re-evaluated after changes and expiry, and closed if refused. */

import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { startWorld } from '../support/world.ts'
import { reevaluated, get, Held, HELD_ROUTES, reevaluatedAgain, serveEvents } from './held.ts'
import { header } from './frames.ts'
import { RawClient, sendHandshake, startWebSocketUpstream, until } from './support.ts'

const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
const world = await startWorld(t, { routes: HELD_ROUTES, target: upstream.url })
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
  const held = await Held.open(world.port, bearer)
  await change({ permissions: [] })
  await held.cut(t, 'permission_denied')
}

/** The last log lines of requests that were cut with this code. */
const linesOf = (code: string) => world.log().filter((line) => line.code === code)

t.test('a Seat that is renamed', async (t) => {
  const { bearer, change } = await member()
  const held = await Held.open(world.port, bearer)
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
  t.equal(socket?.close?.payload.readUInt16BE(), 1008, 'the upstream gets it too')
})

t.test('a deleted Seat', async (t) => {
  const { id, bearer } = await member()
  const held = await Held.open(world.port, bearer)
  t.equal((await world.admin('DELETE', `/v1/seats/${id}`)).status, 204)
  await held.cut(t, 'permission_denied')
})

t.test('a removed permission', async (t) => {
  const { bearer, change } = await member()
  const held = await Held.open(world.port, bearer)
  await change({ permissions: ['trainings:read'] })
  await held.cut(t, 'permission_denied')
})

t.test('a blocked user, on permission routes and others', async (t) => {
  const { name, bearer } = await member()
  const eve = [`Authorization: Bearer ${await world.token([`s1:${name}`], { sub: 'eve' })}`, 'Space: s1']
  const held = await Held.open(world.port, eve)
  const authenticated = await Held.open(world.port, eve, '/me')
  const other = await Held.open(world.port, bearer)
  const { status, json } = await world.admin('POST', '/v1/blocks', { user: 'eve' })
  t.equal(status, 200)
  await held.cut(t, 'caller_blocked')
  await authenticated.cut(t, 'caller_blocked')
  await other.staysOpen(t)
  t.equal((await world.admin('DELETE', `/v1/blocks/${json.id}`)).status, 204)
  await (await Held.open(world.port, eve)).staysOpen(t)
})

t.test('a removed space', async (t) => {
  const { bearer, change } = await member()
  const held = await Held.open(world.port, bearer)
  await change({ spaces: ['s2'] })
  await held.cut(t, 'permission_denied')
})

t.test('the Seat of an API key', async (t) => {
  const { key, change } = await member()
  const held = await Held.open(world.port, (await key()).lines)
  await change({ permissions: [] })
  await held.cut(t, 'permission_denied')
})

t.test('inside a frame no Close is sent: both ends are cut', async (t) => {
  const { bearer, change } = await member()
  const client = await sendHandshake(world.port, '/ws', bearer).opened()
  const [socket] = upstream.sockets.slice(-1)
  socket?.socket.write(header(2, 1000, false))
  client.write(header(2, 1000, true))
  await until(() => client.reader.left === 4 && socket?.reader.left === 4, 'both beginnings', 5000)
  await change({ permissions: [] })
  await client.gone()
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
  await until(() => client.close !== undefined && socket?.close !== undefined, 'Close')
  await client.gone()
  clearInterval(talk)
  t.equal(client.frames.at(-1), client.close, "Close is the client's last frame")
  t.equal(socket?.frames.at(-1), socket?.close, "the upstream's too")
})

t.test('a revoked key, also where no Seat is required', async (t) => {
  const { id, lines } = await (await member()).key()
  const held = await Held.open(world.port, lines)
  const elsewhere = await Held.open(world.port, lines, '/me')
  t.equal((await world.admin('DELETE', `/v1/api-keys/${id}`)).status, 204)
  await held.cut(t, 'api_key_revoked')
  await elsewhere.cut(t, 'api_key_revoked')
})

t.test('a key that expires', async (t) => {
  const expires = new Date(Date.now() + 3000).toISOString()
  const { lines } = await (await member()).key({ expires_at: expires })
  const held = await Held.open(world.port, lines)
  await held.cut(t, 'api_key_expired')
  t.ok(Date.now() >= Date.parse(expires), 'not before')
})

t.test('a token that expires', async (t) => {
  const { name } = await member()
  const { lifetime } = world.tenant('acme').token
  const now = Date.now() - lifetime + 4000
  const token = await world.token([`s1:${name}`], { now })
  const lines = [`Authorization: Bearer ${token}`, 'Space: s1']
  const held = await Held.open(world.port, lines)
  const elsewhere = await Held.open(world.port, lines, '/me')
  await held.cut(t, 'token_expired')
  await elsewhere.cut(t, 'token_expired')
})

t.test('a change that keeps the decision', async (t) => {
  const { bearer, change, id } = await member()
  const held = await Held.open(world.port, bearer)
  const before = await reevaluated(world)
  await change({ permissions: ['trainings:list', 'trainings:read'], spaces: ['s1'] })
  await reevaluatedAgain(world, before, 2)
  await held.staysOpen(t)
  t.equal((await world.admin('DELETE', `/v1/seats/${id}`)).status, 204)
  await held.cut(t, 'permission_denied')
})

t.test('one of two Seats, and then the other', async (t) => {
  const [one, two] = [await member(), await member()]
  const token = await world.token([`s1:${one.name}`, `s1:${two.name}`])
  const held = await Held.open(world.port, [`Authorization: Bearer ${token}`, 'Space: s1'])
  const before = await reevaluated(world)
  await one.change({ permissions: [] })
  await reevaluatedAgain(world, before, 2)
  await held.staysOpen(t)
  await two.change({ permissions: [] })
  await held.cut(t, 'permission_denied')
})

t.test('of 200, only those of the changed Seat are re-evaluated', async (t) => {
  const [one, other] = [await member(), await member()]
  await settled(t)
  const all = await Promise.all(
    Array.from({ length: 100 }, (_, i) => Held.open(world.port, i % 10 === 0 ? one.bearer : other.bearer)),
  )
  const before = await reevaluated(world)
  await one.change({ permissions: [] })
  await Promise.all(all.filter((_, i) => i % 10 === 0).map((held) => held.cut(t, 'permission_denied')))
  await Promise.all(all.filter((_, i) => i % 10 !== 0).map((held) => held.staysOpen(t)))
  t.equal((await reevaluated(world)) - before, 20)
  for (const held of all) held.end()
})

t.test("another tenant's Seat of the same name", async (t) => {
  const { bearer, name } = await member()
  const id = await world.seat(name, ['s1'], ['trainings:list'], 'globex')
  await settled(t)
  const held = await Held.open(world.port, bearer)
  const evaluations = async () =>
    (await (await fetch(`${world.ops}/metrics`)).text()).match(
      /^seatgate_decisions_again_total\{code="allow"\} .*$/m,
    )?.[0]
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
  await until(() => client.status !== 0, 'an answer')
  t.same([client.status, client.code], [403, 'permission_denied'])
  await until(() => request?.socket.destroyed === true, 'the end at the upstream')
  client.socket.destroy()
})

t.test('an upload is stopped', async (t) => {
  const { bearer, change } = await member()
  for (const framing of ['Transfer-Encoding: chunked', 'Content-Length: 8000000']) {
    await change({ permissions: ['trainings:list'] })
    const client = new RawClient(world.port)
    client.write(['POST /slow HTTP/1.1', 'Host: gw', ...bearer, framing, '', ''].join('\r\n'))
    const piece = 'x'.repeat(1024)
    const chunk = framing.includes('chunked') ? `400\r\n${piece}\r\n` : piece
    const upload = setInterval(() => client.socket.writable && client.write(chunk), 20)
    await until(() => upstream.requests.at(-1)?.method === 'POST', 'the request')
    const request = upstream.requests.at(-1)
    await change({ permissions: [] })
    await until(() => client.status !== 0, 'an answer')
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
  const client = new RawClient(world.port)
  client.write(['GET /sse HTTP/1.0', 'Host: gw', ...bearer, '', ''].join('\r\n'))
  await until(() => client.http.includes('data: first'), 'the first event')
  await change({ permissions: [] })
  await client.gone()
  t.ok(client.reset)
})

t.test('a pipelined request behind an open one is re-evaluated too', async (t) => {
  const [one, other] = [await member(), await member()]
  const both = [
    ['GET /sse HTTP/1.1', 'Host: gw', ...one.bearer, '', ''].join('\r\n'),
    ['GET /slow HTTP/1.1', 'Host: gw', ...other.bearer, '', ''].join('\r\n'),
  ]
  const client = new RawClient(world.port).write(both.join(''))
  await until(() => client.http.includes('data: first'), 'the first event')
  await one.change({ permissions: [] })
  await client.gone()
  t.notMatch(client.http, /\r\n0\r\n/)
})

t.test('while the store is unavailable they stay open; afterwards the decision applies', async (t) => {
  const { bearer, change } = await member()
  await settled(t)
  const held = await Held.open(world.port, bearer)
  const database = new DatabaseSync(world.storeFile)
  t.teardown(() => database.close())
  database.exec('ALTER TABLE counter RENAME TO gone')
  const ask = () => world.client.send('GET', '/me', { 'x-api-key': world.keys.acme ?? '' })
  while ((await ask()).status !== 503) await new Promise((resolve) => setTimeout(resolve, 50))
  const before = await reevaluated(world)
  await world.reload()
  // Time for several checks, each of which finds both affected.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  await held.staysOpen(t)
  t.equal(await reevaluated(world), before, 'nothing could be decided')
  t.equal((await ask()).status, 503, 'nothing new is allowed')
  database.exec('ALTER TABLE gone RENAME TO counter')
  await reevaluatedAgain(world, before, 2)
  await held.staysOpen(t)
  await change({ permissions: [] })
  await held.cut(t, 'permission_denied')
})
