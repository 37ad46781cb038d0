/** One direction of a WebSocket: only whole frames pass, in any split, whenever the gateway sends Close. */

import fc from 'fast-check'
import t from 'tap'
import { closeFrame } from '../../src/proxy/websocket/websocket-frames.ts'
import { Direction } from '../../src/proxy/websocket/tunnel.ts'
import { BINARY, CLOSE, type Frame, FrameReader, fromClient, fromServer } from './frames.ts'

const frames = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 })

function sentOf(bytes: Buffer, sizes: readonly number[], endsAt: number, masked: boolean) {
  const sent: Buffer[] = []
  const direction = new Direction(masked, (chunk) => sent.push(Buffer.from(chunk)) > 0)
  let at = 0
  for (let piece = 0; at < bytes.length || piece <= endsAt; piece++) {
    if (piece === endsAt) direction.end(closeFrame(1008, 'no', masked))
    const size = Math.max(1, sizes[piece % sizes.length] ?? 1)
    direction.pass(bytes.subarray(at, at + size))
    at += size
  }
  return { direction, bytes: Buffer.concat(sent) }
}

function same(frame: Frame | undefined, payload: Uint8Array): boolean {
  return frame !== undefined && Buffer.from(payload).equals(frame.payload)
}

t.test('Close follows the current frame and is the last', async () => {
  fc.assert(
    fc.property(
      frames,
      fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }),
      fc.nat(12),
      fc.boolean(),
      (payloads, sizes, endsAt, masked) => {
        const write = masked ? fromClient : fromServer
        const all = Buffer.concat(payloads.map((each) => write(BINARY, Buffer.from(each))))
        const reader = new FrameReader()
        const got = reader.read(sentOf(all, sizes, endsAt, masked).bytes)
        const close = got.pop()
        return (
          reader.left === 0 &&
          close?.opcode === CLOSE &&
          close.masked === masked &&
          close.payload.readUInt16BE() === 1008 &&
          got.every((frame, i) => same(frame, payloads[i] ?? new Uint8Array(1)))
        )
      },
    ),
    { numRuns: 2000 },
  )
})

t.test(
  'no Close is added after one has passed; the reply to that of the gateway is parsed, not passed on',
  async (t) => {
    const theirs = fromServer(CLOSE, Buffer.from([0x03, 0xe8]))
    const before = sentOf(theirs, [3], 5, false)
    t.same(before.bytes, theirs)
    t.match(before.direction.frames, { closed: true, closeCode: 1000 })
    const after = sentOf(theirs, [3], 0, false)
    t.same(after.bytes, closeFrame(1008, 'no', false))
    t.match(after.direction.frames, { closed: true, closeCode: 1000 })
  },
)
