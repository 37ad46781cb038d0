/** The event streams of a cycle of `seatgate verify`, at a gateway that cuts them, and at a program that does not. */

import { createServer, request as send } from 'node:http'
import t, { type Test } from 'tap'
import { listen } from '../../support/listen.ts'
import { startGate } from './gate.ts'
import { oneCycle } from './one-cycle.ts'

const gate = await startGate(t)

/** What is in front of the gateway, and never cuts the streams from this one on. */
async function neverCutting(t: Test, from: number): Promise<string> {
  let streams = 0
  const timers: NodeJS.Timeout[] = []
  t.teardown(() => timers.forEach(clearInterval))
  const server = createServer((request, response) => {
    if (++streams >= from) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      timers.push(setInterval(() => response.write('event: decision\ndata: {}\n\n'), 50))
      return
    }
    const { url, headers } = request
    const sent = send(`${gate.gateway.origin}${url}`, { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders()
      answer.on('error', () => response.destroy()).pipe(response)
    })
    sent.on('error', () => response.destroy()).end()
    response.on('close', () => sent.destroy())
  })
  return `http://127.0.0.1:${await listen(t, server)}`
}

t.test('a stream that survives the revocation of its key', async (t) => {
  const record = await oneCycle(t, gate, [await neverCutting(t, 2)])
  t.match(record.report([]), {
    violations_total: 1,
    violations: [{ kind: 'open_stream', write: { operation: 'revoke key' } }],
    stream_cut_ms: { count: 1 },
  })
})
