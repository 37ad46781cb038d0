/** Responses before any request, or before the end of the request. */

import type { Socket } from 'node:net'
import t from 'tap'
import { HostileUpstream, harmless } from '../hostile/hostile-upstream.ts'
import { send } from '../hostile/gateway.ts'

const hostile = await HostileUpstream.start(t)

const EVIL = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL'
const sized = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'

t.test('before any request: dropped', async (t) => {
  for (const early of [
    EVIL,
    EVIL.slice(0, 20),
    'x',
    '\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'SSH-2.0-OpenSSH_9.2\r\n',
    '220 mail ESMTP\r\n',
  ]) {
    const { all } = await hostile.play({ early, packets: sized })
    t.equal(all.length, 1)
    // Bytes that arrive as the request is sent may be read as its response, because the two cannot be told apart; but
    // never as another request's.
    t.ok(all[0]?.status === 502 || all[0]?.body === 'body' || early === EVIL, JSON.stringify(early))
    t.ok(await hostile.nextRequestsWork(), JSON.stringify(early))
  }
})

t.test('on an idle connection: the connection is closed', async (t) => {
  for (const later of [EVIL, 'x', '\r\n', '\0']) {
    const idle = Promise.withResolvers<Socket>()
    const { all } = await hostile.play({ packets: sized, after: idle.resolve })
    t.match(all, [{ status: 200, body: 'body' }])
    ;(await idle.promise).write(later, 'latin1')
    await harmless(t, hostile, JSON.stringify(later))
  }
})

const length = 300_000
const head = `POST /evil HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`

t.test('before the request is complete: the response passes, the connection is not reused', async (t) => {
  const { all } = await hostile.play({ packets: sized, atHead: true }, head + 'a'.repeat(1000))
  t.match(all, [{ status: 200, body: 'body' }])
  await harmless(t, hostile, 'half a body')
})

t.test(
  'before the request is complete, and the client continues: the next request gets its own response',
  async (t) => {
    const rest = 'a'.repeat(length - 1000)
    const packets = [head + 'a'.repeat(1000), rest, 'GET /good HTTP/1.1\r\nHost: a\r\n\r\n']
    await hostile.play({ packets: sized, atHead: true }, head + 'a'.repeat(1000))
    const { all } = await send(hostile.world.port, packets, { answers: 2 })
    const statuses = all.map(({ status }) => status)
    t.ok(statuses.length === 2 || all[0]?.closes === true, String(statuses))
    t.notOk(all.some(({ body }) => body === 'EVIL'))
    t.ok(await hostile.nextRequestsWork())
  },
)

t.test('malformed before the request is complete: 502', async (t) => {
  for (const packets of [
    'garbage\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
  ]) {
    const { all } = await hostile.play({ packets, atHead: true }, head + 'a'.repeat(1000))
    t.match(all, [{ status: 502, code: 'upstream_protocol_error' }])
    await harmless(t, hostile, packets)
  }
})

t.test('interim responses behind another request appear in no response', async (t) => {
  const bytes = `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${sized}`
  const good = 'GET /good HTTP/1.1\r\nHost: a\r\n\r\n'
  let requests = 0
  const after = async (socket: Socket) => {
    // The first response is late: the second would have come by the time that others have theirs.
    if (requests++ === 0) for (let i = 0; i < 3; i++) await send(hostile.world.port, good, { answers: 1 })
    socket.write(bytes)
  }
  await hostile.play({ packets: '', after })
  requests = 0
  const evil = 'GET /evil HTTP/1.1\r\nHost: a\r\n\r\n'
  const { all, rest } = await send(hostile.world.port, evil.repeat(3), { answers: 3 })
  t.same([all.map(({ body }) => body), rest], [['body', 'body', 'body'], ''])
})
