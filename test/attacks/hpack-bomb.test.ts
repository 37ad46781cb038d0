/**
 * Small field blocks that mean large lists: one large entry of the dynamic table that many bytes refer to, long Huffman
 * strings, and entries that evict each other. Work and memory follow the bytes of the block, not of the list.
 */

import fc from 'fast-check'
import t from 'tap'
import { HpackDecoder } from '../../src/http/wire/http2/hpack-decoder.ts'
import { HpackError } from '../../src/http/wire/http2/hpack-error.ts'
import {
  decoded,
  hex,
  huffman,
  indexed,
  literal,
  plain,
  sizeUpdate,
} from '../http/wire/http2/field-blocks.ts'
import { collected } from '../support/garbage.ts'

const LIMITS = { maxBytes: 32 * 1024, maxFields: 200 }

t.test('many references to one large entry: the list ends at its limit', async (t) => {
  const decoder = new HpackDecoder(4096)
  const bomb = Buffer.concat([literal(0x40, 'a', 'b'.repeat(4000)), Buffer.alloc(16_000, indexed(62))])
  let bytes = 0
  const within = decoder.decode(bomb, LIMITS, (name, value) => (bytes += name.length + value.length + 32))
  t.equal(within, false, 'a list of 64 MB')
  t.ok(bytes <= LIMITS.maxBytes, `${bytes} bytes were passed on`)
})

t.test('many references to a small entry: so does a list of many fields', async (t) => {
  let fields = 0
  const within = new HpackDecoder(4096).decode(Buffer.alloc(16_000, indexed(2)), LIMITS, () => fields++)
  t.equal(within, false)
  t.equal(fields, LIMITS.maxFields)
})

t.test('a large name that is referred to', async (t) => {
  const decoder = new HpackDecoder(4096)
  decoded(decoder, literal(0x40, 'a'.repeat(4000), ''))
  let bytes = 0
  const block = Buffer.concat(Array.from({ length: 5000 }, () => Buffer.concat([hex('0f 2f'), plain('')])))
  t.equal(
    decoder.decode(block, LIMITS, (name) => (bytes += name.length)),
    false,
  )
  t.ok(bytes <= LIMITS.maxBytes)
})

t.test('strings larger than a limit take no memory', async (t) => {
  const decoder = new HpackDecoder(4096)
  const text = '0'.repeat(8_000_000)
  const blocks = [
    literal(0x40, 'a', text, huffman),
    literal(0x00, text, '', huffman),
    literal(0x40, 'a', text),
  ]
  const before = await collected()
  for (let i = 0; i < 30; i++) {
    const block = blocks[i % blocks.length] ?? Buffer.alloc(0)
    t.equal(
      decoder.decode(block, LIMITS, () => t.fail('passed on')),
      false,
    )
  }
  const after = process.memoryUsage()
  const growth = after.heapUsed + after.external - before.heapUsed - before.external
  t.ok(growth < 4_000_000, `${growth} bytes`)
})

t.test('the dynamic table holds no more than its bytes', async (t) => {
  const decoders = Array.from({ length: 100 }, () => new HpackDecoder(4096))
  const before = await collected()
  for (const decoder of decoders)
    for (let i = 0; i < 200; i++)
      decoded(
        decoder,
        Buffer.concat([literal(0x40, `${i}`, 'x'.repeat(i * 15)), Buffer.alloc(1000, indexed(2))]),
      )
  const after = await collected()
  const each = (after.heapUsed + after.external - before.heapUsed - before.external) / decoders.length
  t.ok(each < 12_000, `${each} bytes a table`)
  decoded(decoders[0] ?? new HpackDecoder(0), sizeUpdate(0))
})

t.test('any bytes: fields or an HpackError', async (t) => {
  let errors = 0
  const byte = fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(0x00, 0x01, 0x10, 0x20, 0x3f, 0x40, 0x82, 0xbe, 0xff),
  )
  fc.assert(
    fc.property(
      fc.array(fc.array(byte, { maxLength: 40 }), { maxLength: 6 }),
      fc.nat(300),
      (blocks, maxBytes) => {
        const decoder = new HpackDecoder(200)
        try {
          for (const block of blocks) decoder.decode(Buffer.from(block), { maxBytes, maxFields: 5 }, () => {})
        } catch (error) {
          if (!(error instanceof HpackError)) throw error
          errors++
        }
      },
    ),
    { numRuns: 20_000 },
  )
  t.ok(errors > 1000 && errors < 20_000, `${errors} errors`)
})
