/** Frame boundaries in any split of the bytes, and invalid frames. */

import fc from 'fast-check'
import t from 'tap'
import { Frames } from '../../src/proxy/websocket/websocket-frames.ts'
import { BINARY, CLOSE, fromClient, fromServer, header, PING, status, TEXT } from './frames.ts'

/** Split at these positions, in order. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length))
}

const payload = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.constantFrom(0, 1, 124, 125, 126, 127, 65_535, 65_536, 70_000).map((length) => new Uint8Array(length)),
)

t.test('boundaries are found, whole or in pieces', async () => {
  fc.assert(
    fc.property(
      fc.array(payload, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      fc.array(fc.nat(), { maxLength: 12 }),
      (payloads, masked, cuts) => {
        const write = masked ? fromClient : fromServer
        const frames = payloads.map((each) => write(BINARY, Buffer.from(each)))
        const ends = new Set([0])
        let end = 0
        for (const frame of frames) ends.add((end += frame.length))
        const follower = new Frames(masked)
        let passed = 0
        for (const piece of pieces(Buffer.concat(frames), cuts)) {
          if (follower.take(piece) !== piece.length) return false
          passed += piece.length
          if (follower.boundary !== ends.has(passed)) return false
        }
        return follower.boundary && follower.fault === null
      },
    ),
    { numRuns: 500 },
  )
})

t.test('until the next boundary', async (t) => {
  const bytes = Buffer.concat([fromServer(TEXT, 'one'), fromServer(TEXT, 'two')])
  const follower = new Frames(false)
  t.equal(follower.take(bytes.subarray(0, 3)), 3)
  t.notOk(follower.boundary)
  t.equal(follower.take(bytes.subarray(3), true), 2)
  t.ok(follower.boundary)
  t.equal(follower.take(bytes.subarray(5), true), 0, 'already at a boundary')
})

t.test('nothing passes after Close, and its status is read in any split', async (t) => {
  for (const [masked, write] of [
    [true, fromClient],
    [false, fromServer],
  ] as const) {
    const close = write(CLOSE, status(4321, 'bye'))
    const bytes = Buffer.concat([write(TEXT, 'last'), close, write(TEXT, 'never')])
    const whole = new Frames(masked)
    t.equal(whole.take(bytes), bytes.indexOf(close) + close.length)
    t.match(whole, { closed: true, closeCode: 4321 })
    t.equal(whole.take(bytes), 0)
    const single = new Frames(masked)
    let passed = 0
    for (const byte of bytes) passed += single.take(Buffer.from([byte]))
    t.equal(passed, bytes.indexOf(close) + close.length)
    t.match(single, { closed: true, closeCode: 4321 })
    const bare = new Frames(masked)
    bare.take(write(CLOSE, ''))
    t.match(bare, { closed: true, closeCode: null })
  }
})

t.test('no byte of an invalid frame passes', async (t) => {
  const mask = Buffer.from([1, 2, 3, 4])
  const bad: Record<string, Buffer> = {
    'without mask': fromServer(TEXT, 'x'),
    'Close in fragments': Buffer.from([0x08, 0x80, ...mask]),
    'a long ping': Buffer.concat([Buffer.from([0x80 | PING, 0xfe, 0, 126]), mask]),
    '16 bits for 125': Buffer.concat([Buffer.from([0x82, 0xfe, 0, 125]), mask]),
    '64 bits for 65,535': Buffer.concat([Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff]), mask]),
    'the highest bit of 64': Buffer.concat([Buffer.from([0x82, 0xff, 0x80, 0, 0, 0, 0, 1, 0, 0]), mask]),
    'beyond 2^53': Buffer.concat([Buffer.from([0x82, 0xff, 0, 0x20, 0, 0, 0, 0, 0, 0]), mask]),
    'half a status': fromClient(CLOSE, 'x'),
  }
  const good = fromClient(TEXT, 'good')
  for (const [name, bytes] of Object.entries(bad)) {
    const whole = new Frames(true)
    t.equal(whole.take(Buffer.concat([good, bytes, good])), good.length, name)
    t.type(whole.fault, 'string', name)
    t.ok(whole.boundary, name)
    t.equal(whole.take(good), 0, name)
    const single = new Frames(true)
    let passed = 0
    for (const byte of Buffer.concat([good, bytes, good])) passed += single.take(Buffer.from([byte]))
    t.ok(passed < good.length + bytes.length, `${name}, byte by byte`)
    t.equal(single.boundary, passed === good.length, 'its beginning has passed: no boundary is left')
  }
  const server = new Frames(false)
  t.equal(server.take(good), 0)
  t.equal(server.fault, 'a masked frame')
})

t.test('huge valid lengths', async (t) => {
  const follower = new Frames(false)
  const head = header(BINARY, 2 ** 40, false)
  t.equal(follower.take(head), head.length)
  t.equal(follower.take(Buffer.alloc(100_000)), 100_000)
  t.notOk(follower.boundary)
  t.equal(follower.fault, null)
})
