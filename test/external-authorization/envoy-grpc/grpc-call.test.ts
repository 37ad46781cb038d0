/** The message of a call, however its bytes arrive. */

import fc from 'fast-check'
import t from 'tap'
import { type CallFault, UnaryMessage } from '../../../src/external-authorization/envoy-grpc/grpc-call.ts'
import { Refusal } from '../../../src/model/errors.ts'

type Result = Buffer | CallFault | Refusal

const MAX = 100

/** All results of a body that arrives in these pieces. */
function resultsOf(pieces: readonly Uint8Array[]): Result[] {
  const results: Result[] = []
  const sink = new UnaryMessage(MAX, (result) => results.push(result))
  for (const piece of pieces) sink.data(Buffer.from(piece))
  sink.end()
  return results
}

function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

t.test('a message is whole, in whatever pieces it comes', async (t) => {
  const messages = fc.uint8Array({ maxLength: MAX })
  fc.assert(
    fc.property(messages, fc.array(fc.nat(MAX + 5)), (message, cuts) => {
      const body = framed(message)
      const places = [0, ...cuts.map((at) => Math.min(at, body.length)).sort((a, b) => a - b), body.length]
      const pieces = places.slice(1).map((end, i) => body.subarray(places[i], end))
      const [result, ...others] = resultsOf(pieces)
      return Buffer.isBuffer(result) && result.equals(message) && others.length === 0
    }),
  )
  t.pass()
})

t.test('any other body has one fault', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), (pieces) => {
      const body = Buffer.concat(pieces)
      const isMessage = body.length >= 5 && body[0] === 0 && body.readUInt32BE(1) === body.length - 5
      const [result, ...others] = resultsOf(pieces)
      return others.length === 0 && (isMessage && body.length <= MAX + 5) === Buffer.isBuffer(result)
    }),
  )
  t.pass()
})

t.test('a body over the limit is refused at once', async (t) => {
  const results: Result[] = []
  const sink = new UnaryMessage(MAX, (result) => results.push(result))
  sink.data(framed(Buffer.alloc(MAX + 1)))
  t.ok(results[0] instanceof Refusal)
  sink.data(Buffer.alloc(10))
  sink.end()
  t.equal(results.length, 1)
})

t.test('a client that goes away is not answered', async (t) => {
  const results: Result[] = []
  const sink = new UnaryMessage(MAX, (result) => results.push(result))
  sink.data(framed(Buffer.alloc(1)))
  sink.aborted()
  sink.end()
  t.same(results, [])
})
