/**
 * Mutated handshakes with noise behind them, against an upstream with mutated responses. Every request at the
 * upstream matches one decision of the gateway, everything ends, and the gateway works afterwards.
 */

import type { Socket } from 'node:net'
// Not held, unlike those of the gateway.
import { clearInterval, setInterval } from 'node:timers'
import fc from 'fast-check'
import t from 'tap'
import { holdTime } from '../support/held-time.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { fromClient } from './frames.ts'
import { handshake, WebSocketClient, startWebSocketUpstream, switching } from './support.ts'

const CASES = 300
const AT_ONCE = 30
/** ms of held time in each ms of the test: what waits for a time limit of the gateway ends soon */
const PACE = 200

const spliced = fc.constantFrom(
  Buffer.from('\r\n'),
  Buffer.from('Upgrade: websocket\r\n'),
  Buffer.from('Connection: close\r\n'),
  Buffer.from('Content-Length: 5\r\n'),
  Buffer.from('Transfer-Encoding: chunked\r\n'),
  Buffer.from(handshake('/docs/b')),
)
const splice = fc.record({
  at: fc.nat(400),
  cut: fc.nat(4),
  put: fc.oneof(
    spliced,
    fc.uint8Array({ maxLength: 4 }).map((each) => Buffer.from(each)),
  ),
})
const mutation = fc.array(splice, { maxLength: 3 })
const noise = fc.array(
  fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)),
    fc
      .tuple(fc.constantFrom(0, 1, 2, 8, 9, 10, 15), fc.uint8Array({ maxLength: 300 }))
      .map(([opcode, payload]) => fromClient(opcode, Buffer.from(payload))),
    spliced,
  ),
  { maxLength: 4 },
)
const end = fc.constantFrom('end' as const, 'destroy' as const, 'resetAndDestroy' as const)
const one = fc.record({ request: mutation, answer: mutation, noise, end })

type Case = typeof one extends fc.Arbitrary<infer T> ? T : never

function mutated(text: string, splices: readonly { at: number; cut: number; put: Buffer }[]): Buffer {
  return splices.reduce(
    (bytes, { at, cut, put }) => Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]),
    Buffer.from(text),
  )
}

t.test('mutated handshakes and responses', async (t) => {
  const seed = Date.now() % 2 ** 31
  t.comment(`seed ${seed}`)
  const cases = fc.sample(one, { seed, numRuns: CASES })
  let answers = 0
  const reached: (string | string[] | undefined)[] = []
  const sockets = new Set<Socket>()
  const upstream = await startWebSocketUpstream(t, {
    serve: ({ headers }, response) => {
      reached.push(headers['x-request-id'])
      response.end('plain')
    },
    answer: ({ headers }, socket) => {
      reached.push(headers['x-request-id'])
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket)).on('end', () => socket.end())
      socket.on('data', (chunk: Buffer) => socket.writable && socket.write(chunk.subarray(0, 7)))
      const splices = cases[answers++ % CASES]?.answer ?? []
      socket.write(mutated(switching(headers['sec-websocket-key'] ?? ''), splices))
    },
  })
  const world = await startWorld(t, { routes: ['GET /docs/*: public'], target: upstream.url })
  const time = holdTime(t)
  const passing = setInterval(() => time.pass(PACE), 1)
  t.teardown(() => clearInterval(passing))
  let left = CASES
  const work = async () => {
    for (let at = --left; at >= 0; at = --left) await play(world.port, cases[at])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await until(() => sockets.size === 0, 'the end of all that was opened at the upstream')
  t.equal(new Set(reached).size, reached.length, 'each with an id of its own')
  t.ok(reached.length > CASES / 10, `${reached.length} reached the upstream`)
  const decided = () => new Set(world.log().map(({ request_id }) => request_id))
  await until(() => reached.every((id) => decided().has(id)), 'a decision on each')
  clearInterval(passing)
  t.equal((await world.client.send('GET', '/docs/a')).status, 200)
})

async function play(port: number, mixed: Case | undefined) {
  if (mixed === undefined) return
  const client = new WebSocketClient(port).send(mutated(handshake('/docs/a'), mixed.request))
  await until(() => client.http !== '' || client.closed, 'an answer')
  for (const bytes of mixed.noise) if (client.socket.writable) client.send(bytes)
  client.socket.write('', () => client.socket.writable && client.socket[mixed.end]())
  await client.gone()
}
