/** Field blocks are decoded as RFC 7541 says, and every malformed one is an error. */

import t from 'tap'
import { BlockReader } from '../../../../src/http/wire/http2/block-reader.ts'
import { HpackDecoder } from '../../../../src/http/wire/http2/hpack-decoder.ts'
import { HpackError } from '../../../../src/http/wire/http2/http2-errors.ts'
import {
  bitsOf,
  bytesOf,
  decoded,
  hex,
  huffman,
  huffmanString,
  indexed,
  literal,
  plain,
  sizeUpdate,
  WIDE,
} from './field-blocks.ts'

const FIRST = [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com']
const SECOND = [...FIRST, 'cache-control', 'no-cache']
const THIRD = [
  ...[':method', 'GET', ':scheme', 'https', ':path', '/index.html'],
  ...[':authority', 'www.example.com', 'custom-key', 'custom-value'],
]
const REDIRECT = (status: string, seconds: number) => [
  ...[':status', status, 'cache-control', 'private', 'date', `Mon, 21 Oct 2013 20:13:${seconds} GMT`],
  ...['location', 'https://www.example.com'],
]
const OK = [
  ...[':status', '200', 'cache-control', 'private', 'date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
  ...['location', 'https://www.example.com', 'content-encoding', 'gzip'],
  ...['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
]

t.test('RFC 7541, appendix C.2: each representation', async (t) => {
  const rows: [string, string[], number][] = [
    ['400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', ['custom-key', 'custom-header'], 1],
    ['040c 2f73 616d 706c 652f 7061 7468', [':path', '/sample/path'], 0],
    ['1008 7061 7373 776f 7264 0673 6563 7265 74', ['password', 'secret'], 0],
    ['82', [':method', 'GET'], 0],
  ]
  for (const [block, fields, entries] of rows) {
    const decoder = new HpackDecoder()
    t.same(decoded(decoder, hex(block)), fields)
    t.equal(isMalformed(decoder, indexed(62 + entries)), true, 'no further entry')
    if (entries > 0) t.same(decoded(decoder, indexed(61 + entries)), fields)
  }
})

t.test('RFC 7541, appendix C.3: requests without Huffman code', async (t) => {
  const decoder = new HpackDecoder()
  t.same(decoded(decoder, hex('8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d')), FIRST)
  t.same(decoded(decoder, hex('8286 84be 5808 6e6f 2d63 6163 6865')), SECOND)
  const third = '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65'
  t.same(decoded(decoder, hex(third)), THIRD)
})

t.test('RFC 7541, appendix C.4: requests with Huffman code', async (t) => {
  const decoder = new HpackDecoder()
  t.same(decoded(decoder, hex('8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff')), FIRST)
  t.same(decoded(decoder, hex('8286 84be 5886 a8eb 1064 9cbf')), SECOND)
  t.same(decoded(decoder, hex('8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf')), THIRD)
})

t.test('RFC 7541, appendix C.5: responses without Huffman code, with evictions', async (t) => {
  const decoder = new HpackDecoder()
  decoded(decoder, sizeUpdate(256))
  const first = `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133
    2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`
  const third = `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0
    5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49
    553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31`
  t.same(decoded(decoder, hex(first)), REDIRECT('302', 21))
  t.same(decoded(decoder, hex('4803 3330 37c1 c0bf')), REDIRECT('307', 21))
  t.same(decoded(decoder, hex(third)), OK)
  t.equal(isMalformed(decoder, indexed(65)), true, 'three entries are left')
})

t.test('RFC 7541, appendix C.6: responses with Huffman code, with evictions', async (t) => {
  const decoder = new HpackDecoder()
  decoded(decoder, sizeUpdate(256))
  const first = `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b
    ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`
  const third = `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad
    94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed
    4ee5 b106 3d50 07`
  t.same(decoded(decoder, hex(first)), REDIRECT('302', 21))
  t.same(decoded(decoder, hex('4883 640e ffc1 c0bf')), REDIRECT('307', 21))
  t.same(decoded(decoder, hex(third)), OK)
})

function isMalformed(decoder: HpackDecoder, block: Buffer, limits = WIDE): boolean {
  try {
    decoder.decode(block, limits, () => {})
    return false
  } catch (error) {
    if (error instanceof HpackError) return true
    throw error
  }
}

t.test('malformed blocks', async (t) => {
  const field = literal(0x40, 'a', 'b')
  const rows: [string, Buffer[]][] = [
    ['index 0', [indexed(0)]],
    ['an index after the static table, which is empty', [indexed(62)]],
    ['an index after the dynamic table', [field, indexed(63)]],
    ['the name of an index after the table', [hex('7f00 01 61')]],
    ['the name of an index after the table, without indexing', [hex('0f2f 01 61')]],
    ['an index of 2^31', [hex('ff 81 ff ff ff 07')]],
    ['an index whose low 32 bits are valid', [hex('ff 83 ff ff ff 0f')]],
    ['zeros before an integer', [hex('ff 80 80 80 80 00')]],
    ['an integer that ends with the block', [hex('ff')]],
    ['an integer that ends with the block, continued', [hex('ff 80')]],
    ['a name that ends with the block', [hex('40')]],
    ['a name longer than the block', [hex('40 02 61')]],
    ['a value that ends with the block', [hex('40 01 61')]],
    ['a value longer than the block', [hex('40 01 61 05 62')]],
    ['a Huffman string longer than the block', [hex('40 01 61 85 ff')]],
    ['a length of 2^28', [hex('00 7f 81 ff ff 7f 61')]],
    ['padding of a byte', [hex('00 01 61'), huffmanString(hex('1f ff'))]],
    ['only padding', [hex('00 01 61'), huffmanString(hex('ff'))]],
    ['padding of zeros', [hex('00 01 61'), huffmanString(hex('18'))]],
    ['EOS', [hex('00 01 61'), huffmanString(hex('ff ff ff ff'))]],
    ['EOS before other symbols', [hex('00 01 61'), huffmanString(hex('ff ff ff fc 63'))]],
    ['a symbol that is cut', [hex('00 01 61'), huffmanString(hex('ff ff fe'))]],
    ['a size update after a field', [indexed(2), sizeUpdate(100)]],
    ['a size update between fields', [indexed(2), sizeUpdate(100), indexed(2)]],
    ['a size larger than announced', [sizeUpdate(4097)]],
    ['three size updates', [sizeUpdate(0), sizeUpdate(10), sizeUpdate(20)]],
    ['a size that is cut', [hex('3f')]],
  ]
  for (const [name, parts] of rows) t.ok(isMalformed(new HpackDecoder(), Buffer.concat(parts)), name)
})

t.test('limits of what is valid', async (t) => {
  const decoder = new HpackDecoder()
  t.same(decoded(decoder, Buffer.alloc(0)), [], 'an empty block')
  t.same(decoded(decoder, hex('00 01 61 80')), ['a', ''], 'an empty Huffman string')
  t.same(
    decoded(decoder, Buffer.concat([hex('00 01 61'), huffman('é\0\n')])),
    ['a', 'é\0\n'],
    'bytes are not validated',
  )
  t.same(decoded(decoder, indexed(61)), ['www-authenticate', ''], 'the last static index')
  t.same(decoded(decoder, Buffer.concat([sizeUpdate(0), sizeUpdate(4096)])), [], 'two updates')
})

t.test('an entry larger than the table clears it', async (t) => {
  const decoder = new HpackDecoder()
  decoded(decoder, literal(0x40, 'a', 'b'))
  const large = 'c'.repeat(4096)
  t.same(decoded(decoder, literal(0x40, 'large', large)), ['large', large])
  t.ok(isMalformed(decoder, indexed(62)))
})

t.test('a name may be that of the entry that its field evicts', async (t) => {
  const decoder = new HpackDecoder()
  decoded(decoder, Buffer.concat([sizeUpdate(40), literal(0x40, 'name', 'one')]))
  t.same(decoded(decoder, Buffer.concat([hex('7e'), plain('two')])), ['name', 'two'])
  t.same(decoded(decoder, indexed(62)), ['name', 'two'])
  t.ok(isMalformed(decoder, indexed(63)))
})

t.test('a list over a limit: the rest is not passed on, and the table stays in step', async (t) => {
  const fields = [literal(0x40, 'a', '1'), literal(0x00, 'b', '2'), literal(0x40, 'c', '3'), indexed(2)]
  const expected = ['a', '1', 'b', '2', 'c', '3', ':method', 'GET']
  for (let count = 0; count <= 4; count++) {
    const bytes = 34 * Math.min(count, 3) + (count === 4 ? 42 : 0)
    for (const limits of [
      { ...WIDE, maxFields: count },
      { ...WIDE, maxBytes: bytes },
    ]) {
      const decoder = new HpackDecoder()
      const passed: string[] = []
      const within = decoder.decode(Buffer.concat(fields), limits, (name, value) => passed.push(name, value))
      t.equal(within, count === 4)
      t.same(passed, expected.slice(0, 2 * count))
      t.same(decoded(decoder, Buffer.concat([indexed(62), indexed(63)])), ['c', '3', 'a', '1'])
    }
  }
})

t.test('strings over a limit are decoded no further than needed, with the same errors', async (t) => {
  const limits = { maxBytes: 100, maxFields: 10 }
  for (const string of [plain, huffman]) {
    for (const flags of [0x00, 0x10, 0x40] as const) {
      const decoder = new HpackDecoder()
      decoded(decoder, literal(0x40, 'a', 'b'))
      const block = Buffer.concat([literal(flags, 'x', 'y'.repeat(5000), string), indexed(2)])
      t.notOk(decoder.decode(block, limits, () => t.fail('not passed on')))
      t.equal(isMalformed(decoder, indexed(62)), flags === 0x40, 'too large for the table: it is empty')
    }
    const decoder = new HpackDecoder()
    const block = literal(0x40, 'x', 'y'.repeat(200), string)
    t.notOk(decoder.decode(block, limits, () => t.fail('not passed on')))
    t.same(decoded(decoder, indexed(62)), ['x', 'y'.repeat(200)], 'it fits the table')
  }
  const eos = Buffer.concat([hex('00 01 61'), huffmanString(Buffer.alloc(500, 0xff))])
  t.ok(isMalformed(new HpackDecoder(), eos, limits), 'EOS in a string that is only counted')
})

t.test('a long Huffman string that repeats', async (t) => {
  const decoder = new HpackDecoder()
  const field = (value: string) => literal(0x10, 'authorization', value, huffman)
  const token = 'Bearer '.padEnd(300, 'a')
  const other = 'Bearer '.padEnd(300, 'c')
  for (const value of [token, token, other, token, `${token}a`, token, 'short', token])
    t.same(decoded(decoder, field(value)), ['authorization', value])
  t.same(
    decoded(decoder, Buffer.concat([field(token), field(other), field(token)])),
    ['authorization', token, 'authorization', other, 'authorization', token],
    'within a block',
  )

  const received = field(other)
  decoded(decoder, received)
  field(token).copy(received)
  t.same(decoded(decoder, received), ['authorization', token], 'the receiver uses its buffer again')

  const reader = new BlockReader()
  for (const [maxBytes, expected] of [
    [300, token],
    [299, null],
    [300, token],
  ] as const) {
    reader.begin(huffman(token))
    t.equal(reader.string(maxBytes), expected, `a limit of ${maxBytes} bytes`)
  }

  decoded(decoder, field(token))
  const malformed = Buffer.concat([
    hex('10 01 61'),
    huffmanString(Buffer.alloc(bytesOf(bitsOf(token)).length, 0xff)),
  ])
  t.ok(isMalformed(decoder, malformed), 'a malformed string of the same length')
})

t.test('no larger table than the initial one', async (t) => {
  const decoder = new HpackDecoder()
  t.notOk(isMalformed(decoder, sizeUpdate(4096)))
  t.ok(isMalformed(decoder, sizeUpdate(4097)))
})
