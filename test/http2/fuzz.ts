/** Random frames, valid or mutated, cut at any point: no exception, no hang, and nothing stays in flight. */

import fc from 'fast-check'
import type { Test } from 'tap'
import { PREFACE, frame } from '../../src/http/wire/http2/http2-frames.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import { HpackEncoder } from '../../src/http/wire/http2/hpack-encoder.ts'
import { acceptor, authority, certificate, openSecured } from '../http/server/tls-support.ts'
import { number } from '../proxy/http2/raw.ts'
import { encoded, type Fields, GET, POST, RawHttp2 } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'

const inFlight = new Set<Exchange>()

/** Answers at once, later, in parts, or never; reads the body, or not. */
function handle(request: ClientRequest, response: Exchange['response']): Exchange {
  const exchange = new Exchange(request, response, 'id', 0)
  inFlight.add(exchange)
  response.listen({ closed: () => inFlight.delete(exchange) })
  const answer = () => {
    if (response.destroyed) return
    response.writeHead(200, ResponseFields.of([]))
    response.write('x'.repeat(Number(request.url.slice(2)) || 1))
    setImmediate(() => response.end('end', ['x-sum', '1']))
  }
  const way = request.url[1]
  if (way === 'r' && !request.complete) request.deliver({ data() {}, end: answer, aborted() {} })
  else if (way === 'l') setImmediate(answer)
  else if (way === 'd') response.destroy()
  else if (way !== 'n') answer()
  return exchange
}

const id = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(1, 3, 5, 7, 9) },
  fc.constantFrom(0, 2, 11, 2 ** 31 - 1),
)
const flags = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0, 1, 4, 5) },
  fc.integer({ min: 0, max: 255 }),
)
const path = fc.constantFrom('/', '/r', '/l', '/n', '/d', '/x100000', '/l70000')
const block = fc
  .tuple(path, fc.constantFrom(GET, POST), fc.constantFrom('', 'content-length', 'bad name'))
  .map(([path, fields, more]): Fields => {
    const changed = fields.map(([name, value]) => [name, name === ':path' ? path : value] as const)
    return more === '' ? changed : [...changed, [more, '3']]
  })
const octets = (maxLength: number) => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes))
const word = fc.constantFrom(0, 1, 65_535, 2 ** 31 - 1).map(number)
const setting = fc
  .tuple(fc.integer({ min: 0, max: 7 }), word)
  .map(([name, value]) => Buffer.concat([Buffer.of(0, name), value]))
const zero = fc.constant(0)

/** Type, flags and stream of a frame, and its payload. */
const step: fc.Arbitrary<[number, number, number, Buffer | Fields]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant(1), flags, id, block) },
  { weight: 4, arbitrary: fc.tuple(zero, flags, id, octets(300)) },
  fc.tuple(fc.constantFrom(3, 8), zero, id, word),
  fc.tuple(fc.constant(4), zero, zero, setting),
  fc.tuple(fc.integer({ min: 0, max: 12 }), flags, id, octets(40)),
)

const script = fc.record({
  steps: fc.array(step, { maxLength: 30 }),
  mutations: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 2 }),
  cut: fc.option(fc.nat()),
  pieces: fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 10 }),
})

/** @param runs connections, one after the other */
export async function checkRandomFrames(t: Test, runs: number): Promise<void> {
  const { port, listener } = await openSecured(t, acceptor([certificate(['a.example'])], {}, true), {
    handle,
  })
  const open = () => Object.values(listener.connections).reduce((sum, count) => sum + count, 0)
  await fc.assert(
    fc.asyncProperty(script, async ({ steps, mutations, cut, pieces }) => {
      const encoder = new HpackEncoder()
      const bytes = Buffer.concat([
        PREFACE,
        frame(4, 0, 0, Buffer.alloc(0)),
        ...steps.map(([type, flags, id, payload]) =>
          frame(type, flags, id, Buffer.isBuffer(payload) ? payload : encoded(encoder, payload)),
        ),
      ])
      for (const [at, value] of mutations) bytes[at % bytes.length] = value
      const sent = cut === null ? bytes : bytes.subarray(0, cut % bytes.length)
      const client = await RawHttp2.open(port, authority.cert, false)
      let from = 0
      for (const length of pieces) {
        client.send(sent.subarray(from, from + length))
        from += length
        await new Promise((resolve) => setImmediate(resolve))
      }
      client.send(sent.subarray(from))
      client.socket.end()
      // The end of the client, or a fault, ends the connection; a stream that waits does not keep it.
      while (!client.ended) await new Promise((resolve) => client.socket.once('close', resolve))
      await until(
        () => open() === 0 && inFlight.size === 0,
        () => `${open()} connections and ${inFlight.size} requests are left`,
        { pause: 1 },
      )
      return listener.memory === 0
    }),
    { numRuns: runs },
  )
  t.equal(inFlight.size, 0)
}
