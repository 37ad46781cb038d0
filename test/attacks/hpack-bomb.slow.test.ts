/** The memory of small field blocks that mean large lists: it follows the bytes of the block. */

import t from 'tap'
import { HpackDecoder } from '../../src/http/wire/http2/hpack-decoder.ts'
import { decoded, huffman, indexed, literal } from '../http/wire/http2/field-blocks.ts'
import { collected } from '../support/garbage.ts'

const LIMITS = { maxBytes: 32 * 1024, maxFields: 200 }

/** Bytes: ten times what they take. */
const MAX_GROWTH = 7_000_000
const MAX_TABLE = 60_000

function held({ heapUsed, external }: NodeJS.MemoryUsage): number {
  return heapUsed + external
}

t.test('strings larger than a limit take no memory', async (t) => {
  const decoder = new HpackDecoder()
  const text = '0'.repeat(8_000_000)
  const blocks = [
    literal(0x40, 'a', text, huffman),
    literal(0x00, text, '', huffman),
    literal(0x40, 'a', text),
  ]
  const before = held(await collected())
  for (let i = 0; i < 6; i++) {
    const block = blocks[i % blocks.length] ?? Buffer.alloc(0)
    t.equal(
      decoder.decode(block, LIMITS, () => t.fail('passed on')),
      false,
    )
  }
  const growth = held(process.memoryUsage()) - before
  t.ok(growth < MAX_GROWTH, `${growth} bytes`)
})

t.test('the dynamic table holds no more than its bytes', async (t) => {
  const decoders = Array.from({ length: 50 }, () => new HpackDecoder())
  const before = held(await collected())
  for (const decoder of decoders)
    for (let i = 0; i < 200; i++)
      decoded(
        decoder,
        Buffer.concat([literal(0x40, `${i}`, 'x'.repeat(i * 15)), Buffer.alloc(1000, indexed(2))]),
      )
  const each = (held(await collected()) - before) / decoders.length
  t.equal(decoders.length, 50)
  t.ok(each < MAX_TABLE, `${each} bytes a table`)
})
