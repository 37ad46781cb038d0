/** The Huffman code is that of RFC 7541, Appendix B. */

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { decodeHuffman, EOS, HUFFMAN_CODES } from '../../../../src/http/wire/http2/huffman-decoder.ts'
import { HpackError } from '../../../../src/http/wire/http2/http2-errors.ts'
import { bitsOf, bytesOf, hex } from './field-blocks.ts'

/** null if malformed. */
function decode(bytes: Buffer, maxBytes = 1 << 20): { text: string | null } | null {
  try {
    return { text: decodeHuffman(bytes, 0, bytes.length, maxBytes) }
  } catch (error) {
    if (error instanceof HpackError) return null
    throw error
  }
}

const symbols = new Map(
  HUFFMAN_CODES.map(({ symbol, length, bits }) => [bits.toString(2).padStart(length, '0'), symbol]),
)

/** By the tree, bit by bit; null if malformed. */
function expected(bytes: Buffer): string | null {
  let text = ''
  let code = ''
  for (const bit of [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')) {
    code += bit
    const symbol = symbols.get(code)
    if (symbol === undefined) continue
    if (symbol === EOS) return null
    text += String.fromCharCode(symbol)
    code = ''
  }
  return code.length < 8 && !code.includes('0') ? text : null
}

t.test('the numbers of the RFC', async (t) => {
  const rows = HUFFMAN_CODES.toSorted((a, b) => a.symbol - b.symbol)
  t.same(
    rows.map(({ symbol }) => symbol),
    Array.from({ length: 257 }, (_, i) => i),
  )
  const [zero, a, eos] = [rows[0x30], rows[0x61], rows[EOS]]
  t.match(
    [zero, a, eos],
    [
      { bits: 0x0, length: 5 },
      { bits: 0x3, length: 5 },
      { bits: 0x3fffffff, length: 30 },
    ],
  )
  t.match([rows[0], rows[0x0a], rows[0xff]], [{ bits: 0x1ff8 }, { bits: 0x3ffffffc }, { bits: 0x3ffffee }])
  t.equal(
    rows.reduce((sum, { length }) => sum + 2 ** -length, 0),
    1,
    'a complete prefix code',
  )
  // Of the lines "hexadecimal code, length" of the RFC's table.
  const lines = rows.map(({ bits, length }) => `${bits.toString(16)} ${length}\n`).join('')
  t.equal(
    createHash('sha256').update(lines).digest('hex'),
    '4a4dcc1e104657286b6807a0e95897e350f6c4177f1b55a597d579930bfb9e99',
  )
})

t.test('each character', async (t) => {
  for (let code = 0; code < 256; code++) {
    const text = String.fromCharCode(code)
    for (const whole of [text, `a${text}`, `${text}b`, `${text}\xf9${text}`])
      if (decode(bytesOf(bitsOf(whole)))?.text !== whole) t.fail(JSON.stringify(whole))
  }
})

t.test('any text is decoded to itself, or not at all where it is longer than allowed', async () => {
  const text = fc
    .array(fc.oneof(fc.integer({ min: 32, max: 126 }), fc.integer({ min: 0, max: 255 })), { maxLength: 200 })
    .map((codes) => String.fromCharCode(...codes))
  fc.assert(
    fc.property(text, fc.nat(200), (text, maxBytes) => {
      const result = decode(bytesOf(bitsOf(text)), maxBytes)
      return result !== null && result.text === (text.length <= maxBytes ? text : null)
    }),
    { numRuns: 5000 },
  )
})

t.test('any bytes: the text of the code, or an error', async (t) => {
  let valid = 0
  const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constant(0xff))
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 8 }), fc.nat(8), (bytes, maxBytes) => {
      const wanted = expected(Buffer.from(bytes))
      if (wanted !== null) valid++
      const [unlimited, limited] = [decode(Buffer.from(bytes)), decode(Buffer.from(bytes), maxBytes)]
      const fits = (wanted?.length ?? 0) <= maxBytes
      return (
        (unlimited?.text ?? null) === wanted &&
        (limited === null) === (wanted === null) &&
        (limited?.text ?? null) === (fits ? wanted : null)
      )
    }),
    { numRuns: 20_000 },
  )
  t.ok(valid > 1000, `${valid} are valid`)
})

t.test('padding', async (t) => {
  t.same(decode(hex('')), { text: '' })
  t.same(decode(bytesOf(bitsOf(':'))), { text: ':' }, '1 bit')
  t.same(decode(bytesOf(bitsOf('0%%%'))), { text: '0%%%' }, '1 bit')
  t.same(decode(bytesOf(`${bitsOf('&0')}111`)), { text: '&0' }, '3 bits')
  t.same(decode(bytesOf(`${bitsOf('0011')}1111`)), { text: '0011' }, '4 bits')
  t.same(decode(bytesOf(`${bitsOf('00000')}1111111`)), { text: '00000' }, '7 bits')
  t.same(decode(bytesOf(`${bitsOf('&')}11111111`)), null, '8 bits')
  t.same(decode(bytesOf(`${bitsOf('00000')}1111101`)), null, 'a zero')
})

t.test('a long text', async (t) => {
  const text = '0aZ~é'.repeat(20_000)
  t.equal(decode(bytesOf(bitsOf(text)))?.text, text)
})
