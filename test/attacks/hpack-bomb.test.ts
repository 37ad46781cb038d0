/**
 * Small field blocks that mean large lists: one large entry of the dynamic table that many bytes refer to, long Huffman
 * strings, and entries that evict each other. Work follows the bytes of the block, not of the list;
 * `hpack-bomb.slow.test.ts` measures the memory.
 */

import fc from 'fast-check'
import t from 'tap'
import { HpackDecoder } from '../../src/http/wire/http2/hpack-decoder.ts'
import { HpackError } from '../../src/http/wire/http2/http2-errors.ts'
import {
  decoded,
  hex,
  huffman,
  indexed,
  literal,
  plain,
  sizeUpdate,
} from '../http/wire/http2/field-blocks.ts'

const RUNS = 2000
const LIMITS = { maxBytes: 32 * 1024, maxFields: 200 }

t.test('many references to one large entry: the list ends at its limit', async (t) => {
  const decoder = new HpackDecoder()
  const bomb = Buffer.concat([literal(0x40, 'a', 'b'.repeat(4000)), Buffer.alloc(16_000, indexed(62))])
  let bytes = 0
  const within = decoder.decode(bomb, LIMITS, (name, value) => (bytes += name.length + value.length + 32))
  t.equal(within, false, 'a list of 64 MB')
  t.ok(bytes <= LIMITS.maxBytes, `${bytes} bytes were passed on`)
})

t.test('many references to a small entry: so does a list of many fields', async (t) => {
  let fields = 0
  const within = new HpackDecoder().decode(Buffer.alloc(16_000, indexed(2)), LIMITS, () => fields++)
  t.equal(within, false)
  t.equal(fields, LIMITS.maxFields)
})

t.test('a large name that is referred to', async (t) => {
  const decoder = new HpackDecoder()
  decoded(decoder, literal(0x40, 'a'.repeat(4000), ''))
  let bytes = 0
  const block = Buffer.concat(Array.from({ length: 5000 }, () => Buffer.concat([hex('0f 2f'), plain('')])))
  t.equal(
    decoder.decode(block, LIMITS, (name) => (bytes += name.length)),
    false,
  )
  t.ok(bytes <= LIMITS.maxBytes)
})

t.test('strings larger than a limit are not passed on', async (t) => {
  const decoder = new HpackDecoder()
  const text = '0'.repeat(100_000)
  for (const block of [
    literal(0x40, 'a', text, huffman),
    literal(0x00, text, '', huffman),
    literal(0x40, 'a', text),
  ])
    t.equal(
      decoder.decode(block, LIMITS, () => t.fail('passed on')),
      false,
    )
})

t.test('the dynamic table holds no more than its bytes', async (t) => {
  const decoder = new HpackDecoder()
  // 100 bytes each, with the 32 of RFC 7541, section 4.1.
  for (let i = 100; i < 300; i++) decoded(decoder, literal(0x40, `${i}`, 'x'.repeat(65)))
  t.same(decoded(decoder, indexed(62)), ['299', 'x'.repeat(65)])
  t.same(decoded(decoder, indexed(62 + 39)), ['260', 'x'.repeat(65)])
  t.throws(() => decoded(decoder, indexed(62 + 40)), { message: /index is out of range/ })
  decoded(decoder, sizeUpdate(0))
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
        const decoder = new HpackDecoder()
        try {
          for (const block of blocks) decoder.decode(Buffer.from(block), { maxBytes, maxFields: 5 }, () => {})
        } catch (error) {
          if (!(error instanceof HpackError)) throw error
          errors++
        }
      },
    ),
    { numRuns: RUNS },
  )
  t.ok(errors > RUNS / 20 && errors < RUNS, `${errors} errors`)
})
