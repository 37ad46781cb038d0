/** What the encoder writes, and that other implementations read it. */

import fc from 'fast-check'
import t from 'tap'
import { HpackDecoder } from '../../../../src/http/wire/http2/hpack-decoder.ts'
import { HpackEncoder } from '../../../../src/http/wire/http2/hpack-encoder.ts'
import { STATIC_NAMES } from '../../../../src/http/wire/http2/static-table.ts'
import { decoded, hex, indexed, sizeUpdate } from './field-blocks.ts'

/** @param fields name, value, … */
function encoded(encoder: HpackEncoder, ...fields: readonly string[]): Buffer {
  encoder.begin()
  for (let i = 0; i < fields.length; i += 2) encoder.field(fields[i] ?? '', fields[i + 1] ?? '')
  return encoder.end()
}

t.test('representations', async (t) => {
  const encoder = new HpackEncoder()
  t.same(encoded(encoder, ':method', 'GET', ':path', '/index.html', ':status', '500'), hex('82 85 8e'))
  t.same(encoded(encoder, 'accept-encoding', 'gzip, deflate'), hex('90'))
  t.same(encoded(encoder, ':path', '/a'), hex('04 02 2f 61'), 'RFC 7541, section 6.2.2')
  t.same(encoded(encoder, 'age', ''), hex('0f 06 00'), 'no entry without a value is meant')
  t.same(encoded(encoder, 'x', 'y'), hex('00 01 78 01 79'))
  t.same(encoded(encoder, ':status', '403'), hex('08 03 34 30 33'))
})

t.test('credentials are sensitive by their names', async (t) => {
  const encoder = new HpackEncoder()
  t.same(encoded(encoder, 'authorization', 'a'), hex('1f 08 01 61'))
  t.same(encoded(encoder, 'cookie', 'a'), hex('1f 11 01 61'))
  t.same(encoded(encoder, 'proxy-authorization', 'a'), hex('1f 22 01 61'))
  t.same(encoded(encoder, 'set-cookie', 'a'), hex('1f 28 01 61'))
  t.same(
    encoded(encoder, 'x-api-key', 'a'),
    Buffer.concat([hex('10 09'), Buffer.from('x-api-key'), hex('01 61')]),
  )
  t.same(
    encoded(encoder, 'x-j', 'eyJh'),
    Buffer.concat([hex('10 03'), Buffer.from('x-j'), hex('04'), Buffer.from('eyJh')]),
    'a JWT in whatever field',
  )
  t.same(encoded(encoder, 'date', 'a'), hex('0f 12 01 61'), 'others are not')
})

t.test('a block has nothing of another one before', async (t) => {
  const encoder = new HpackEncoder()
  encoder.begin()
  encoder.field('x', 'dropped')
  t.same(encoded(encoder, ':method', 'GET'), hex('82'))
  t.same(encoded(encoder), Buffer.alloc(0))
})

t.test('a block stays as it is while others are written', async (t) => {
  const encoder = new HpackEncoder()
  const blocks = Array.from({ length: 3000 }, (_, i) => encoded(encoder, 'x', `${i}`.padStart(40, '-')))
  for (const [i, block] of blocks.entries())
    if (decoded(new HpackDecoder(), block)[1] !== `${i}`.padStart(40, '-')) t.fail(`block ${i}`)
})

t.test('bytes are reserved before the block', async (t) => {
  const encoder = new HpackEncoder()
  for (const size of [10, 100_000]) {
    encoder.begin(9)
    encoder.field('x', 'y'.repeat(size))
    t.same(decoded(new HpackDecoder(), encoder.end().subarray(9)), ['x', 'y'.repeat(size)])
  }
})

t.test('a block is not mixed with one that another encoder begins', async (t) => {
  const [one, other] = [new HpackEncoder(), new HpackEncoder()]
  one.begin()
  one.field('x', 'y')
  t.same(encoded(other, ':method', 'GET'), hex('82'))
  t.throws(() => one.end(), /another block/)
  t.throws(() => other.end(), /another block/, 'no block without a beginning')
})

t.test('a character beyond latin1 would become another byte, such as CR', async (t) => {
  for (const length of [0, 100]) {
    const before = 'a'.repeat(length)
    for (const text of [`${before}\u010d`, `${before}\u0100`, `${before}\u{1f600}`]) {
      t.throws(() => encoded(new HpackEncoder(), 'x', text), RangeError)
      t.throws(() => encoded(new HpackEncoder(), text, 'x'), RangeError)
    }
    t.same(decoded(new HpackDecoder(), encoded(new HpackEncoder(), 'x', `${before}\xff`)), [
      'x',
      `${before}\xff`,
    ])
  }
})

t.test('a reduced table size is announced once, before the next block', async (t) => {
  const encoder = new HpackEncoder()
  encoder.setTableSize(4096)
  encoder.setTableSize(65_536)
  t.same(encoded(encoder, ':method', 'GET'), hex('82'), 'no reduction')
  encoder.setTableSize(100)
  encoder.setTableSize(4096)
  t.same(encoded(encoder, ':method', 'GET'), Buffer.concat([sizeUpdate(0), hex('82')]))
  t.same(encoded(encoder, ':method', 'GET'), hex('82'))
})

const text = (maxLength: number) =>
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength }).map((codes) => String.fromCharCode(...codes))
const name = fc.oneof(
  fc.constantFrom(':path', ':status', 'accept-encoding', 'cookie', 'www-authenticate'),
  text(200),
)
const value = fc.oneof(fc.constantFrom('', '/', '200', 'gzip, deflate'), text(200))

t.test('any fields are decoded to the same', async (t) => {
  const encoder = new HpackEncoder()
  const decoder = new HpackDecoder()
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 30 }), (fields) => {
      encoder.begin()
      for (const [name, value] of fields) encoder.field(name, value)
      const list = decoded(decoder, encoder.end())
      return JSON.stringify(list) === JSON.stringify(fields.flat())
    }),
    { numRuns: 2000 },
  )
  t.throws(
    () => decoded(decoder, indexed(62)),
    { message: 'An index is out of range.' },
    'nothing is indexed',
  )
})

const lineName = fc.oneof(
  fc.constantFrom(...STATIC_NAMES.filter((each) => /^[a-z]/.test(each) && each !== 'transfer-encoding')),
  fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,40}$/),
)
const lineValue = fc.stringMatching(/^[!-~\x80-\xff]([\t -~\x80-\xff]{0,200}[!-~\x80-\xff])?$|^$/)
const OF_CONNECTION = /^(?:connection|keep-alive|proxy-connection|transfer-encoding|upgrade)$/i

t.test('lines of HTTP/1.1 are decoded to their fields, with names in lower case', async (t) => {
  const encoder = new HpackEncoder()
  const decoder = new HpackDecoder()
  fc.assert(
    fc.property(fc.array(fc.tuple(lineName, lineValue), { maxLength: 30 }), (fields) => {
      encoder.begin()
      encoder.lines(fields.map(([name, value]) => `${name}: ${value}\r\n`).join(''))
      const list = decoded(decoder, encoder.end())
      const wanted = fields.filter(([name]) => !OF_CONNECTION.test(name))
      return (
        JSON.stringify(list) ===
        JSON.stringify(wanted.flatMap(([name, value]) => [name.toLowerCase(), value]))
      )
    }),
    { numRuns: 2000 },
  )
  t.throws(
    () => decoded(decoder, indexed(62)),
    { message: 'An index is out of range.' },
    'nothing is indexed',
  )
})

t.test('of lines, no field of a connection is written, and no credential may be indexed', async (t) => {
  const encoder = new HpackEncoder()
  const lines = (text: string) => {
    encoder.begin()
    encoder.lines(text)
    return encoder.end()
  }
  t.same(lines('Connection: a\r\nKEEP-ALIVE: b\r\nx: y\r\nUpgrade: c\r\n'), hex('00 01 78 01 79'))
  t.same(lines('Transfer-Encoding: chunked\r\nProxy-Connection: a\r\n'), Buffer.alloc(0))
  for (const name of ['Authorization', 'Cookie', 'Proxy-Authorization', 'Set-Cookie', 'X-API-Key'])
    t.same(lines(`${name}: a\r\n`), encoded(encoder, name.toLowerCase(), 'a'), name)
  t.same(lines('x: eyJh\r\n'), encoded(encoder, 'x', 'eyJh'), 'a JWT')
  t.same(lines('age: \r\n'), hex('0f 06 00'), 'an empty value')
  t.throws(() => lines('x: \u0100\r\n'), RangeError)
  t.same(lines('x: y\r\n'), hex('00 01 78 01 79'), 'the encoder goes on')
})
