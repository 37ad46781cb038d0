/** Requests are parsed alike, or refused, however their bytes are split into reads. */

import fc from 'fast-check'
import t from 'tap'
import { MessageParser } from '../../../src/http/wire/message-parser.ts'
import { MalformedRequest } from '../../../src/http/wire/malformed-request.ts'
import { requestGrammar, type RequestHead } from '../../../src/http/wire/request-parser.ts'

const MOST = 4096

interface Read {
  readonly heads: RequestHead[]
  body: string
  /** The number of parts of a body. */
  parts: number
  ended: number
  fault: string | null
}

/** In sequence, as on a connection. */
function read(pieces: readonly Buffer[]): Read {
  const found: Read = { heads: [], body: '', parts: 0, ended: 0, fault: null }
  const reader = new MessageParser(requestGrammar(MOST), MOST, {
    head: (head) => void found.heads.push(head),
    body: (chunk) => {
      found.parts++
      found.body += chunk.toString('latin1')
    },
    end: () => {
      found.ended++
      reader.begin()
    },
  })
  reader.begin()
  try {
    for (const piece of pieces) reader.read(piece, 0, piece.length)
  } catch (error) {
    if (!(error instanceof MalformedRequest)) throw error
    found.fault = error.kind
  }
  return found
}

const bytes = (text: string) => Buffer.from(text, 'latin1')
const cutAt = (text: string, ends: readonly number[]) => {
  const all = bytes(text)
  const cuts = [0, ...ends.map((end) => end % (all.length + 1)).sort((a, b) => a - b), all.length]
  return cuts.slice(1).map((end, i) => all.subarray(cuts[i], end))
}

const GOOD: Record<string, string> = {
  plain: 'GET /a?b=c HTTP/1.1\r\nHost: a\r\nX-A:  b\t\r\n\r\n',
  'bytes beyond ASCII in the query': 'GET /a?\xc3\xa9=\xff\x80?\xa0 HTTP/1.1\r\nHost: a\r\n\r\n',
  'empty lines before it': '\r\n\r\nGET / HTTP/1.0\r\n\r\n',
  'a length': 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello',
  chunks:
    'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n00A;x="y"\r\n0123456789\r\n0\r\n\r\n',
  trailers:
    'PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nX-A: b\r\nX-C: d\r\n\r\n',
  'two of them':
    'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx',
}
const BAD: Record<string, readonly [string, string]> = {
  'a bare LF': ['GET / HTTP/1.1\nHost: a\r\n\r\n', 'malformed'],
  'a bare LF in the fields': ['GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n', 'malformed'],
  'a bare CR in a value': ['GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n', 'malformed'],
  'a fold': ['GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n', 'malformed'],
  'TLS in place of HTTP': ['\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', 'malformed'],
  'HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'http2'],
  'bytes beyond ASCII in the target': ['GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n', 'bad-target'],
  'bytes beyond ASCII in path and query': ['GET /\xe9?\xe9 HTTP/1.1\r\nHost: a\r\n\r\n', 'bad-target'],
  'a control byte behind those in the query': ['GET /a?\xe9\x01 HTTP/1.1\r\nHost: a\r\n\r\n', 'bad-target'],
  'another version behind those in the query': ['GET /a?\xe9 HTTP/3.1\r\nHost: a\r\n\r\n', 'malformed'],
  'a length with a leading zero': ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 010\r\n\r\n', 'malformed'],
  'a length of zeros': [
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${'0'.repeat(16)}\r\n\r\n`,
    'malformed',
  ],
  'two lengths': ['GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na', 'malformed'],
  'a length and chunks': [
    'GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    'malformed',
  ],
  'chunks by HTTP/1.0': ['GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n', 'malformed'],
  'a header section that is too long': [`GET / HTTP/1.1\r\nX: ${'a'.repeat(MOST)}\r\n\r\n`, 'large-head'],
  'white space that is too long': [`GET / HTTP/1.1\r\nX:${' '.repeat(MOST)}a\r\n\r\n`, 'large-head'],
  'a length beyond the limit': ['GET / HTTP/1.1\r\nContent-Length: 9999999999999999\r\n\r\n', 'large-body'],
}

for (const [name, text] of Object.entries(GOOD)) {
  t.test(name, async (t) => {
    const { parts: _, ...whole } = read([bytes(text)])
    t.equal(whole.fault, null)
    t.equal(whole.ended, whole.heads.length)
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (ends) => {
        const { parts: _parts, ...cut } = read(cutAt(text, ends))
        t.strictSame(cut, whole)
      }),
      { numRuns: 100 },
    )
    const { parts: _parts, ...bytewise } = read([...bytes(text)].map((byte) => Buffer.from([byte])))
    t.strictSame(bytewise, whole)
  })
}

for (const [name, [text, kind]] of Object.entries(BAD)) {
  t.test(`refused: ${name}`, async (t) => {
    t.equal(read([bytes(text)]).fault, kind)
    const bytewise = read([...bytes(text)].map((byte) => Buffer.from([byte])))
    t.ok(bytewise.fault !== null, 'a byte at a time')
    t.equal(bytewise.ended, 0)
  })
}

t.test('tiny chunks are combined, because each would cost more than a kilobyte', async (t) => {
  const head = 'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const { body, parts } = read([bytes(head), bytes('1\r\na\r\n'.repeat(10_000)), bytes('0\r\n\r\n')])
  t.equal(body, 'a'.repeat(10_000))
  t.equal(parts, 1)
  const mixed = read([bytes(`${head}1\r\na\r\n2000\r\n${'b'.repeat(8192)}\r\n1\r\nc\r\n0\r\n\r\n`)])
  t.equal(mixed.body, `a${'b'.repeat(8192)}c`, 'in order')
})

t.test('the total of all chunk extensions is limited', async (t) => {
  const head = 'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const extended = `1;${'e'.repeat(1000)}\r\na\r\n`
  t.equal(read([bytes(head + extended.repeat(10))]).fault, null)
  t.equal(read([bytes(head + extended.repeat(20))]).fault, 'malformed')
})

t.test('a chunk size is read alike in one piece and byte by byte', async (t) => {
  const head = 'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const sizes: [line: string, size: number | string][] = [
    ...['1', '9', 'a', 'f', 'A', 'F', '1b', '1B', '10'].map((digits): [string, number] => [
      digits,
      Number.parseInt(digits, 16),
    ]),
    ['01', 1],
    ['0000000000000000000001', 1],
    ['1;a', 1],
    ['1 ;a="\xff"', 1],
    // All of 13 digits is a number of bytes that is still to come.
    ['fffffffffffff', Infinity],
    ['fffffffffffff;a', Infinity],
    ['ffffffffffffff', 'large-body'],
    ['fffffffffffffffff', 'malformed'],
    ...[
      '',
      ' 1',
      '1 ',
      '\t1',
      '+1',
      '-1',
      '0x1',
      '1_0',
      '1.',
      'g',
      '1g',
      'G',
      ':',
      '@',
      '`',
      '/',
      '\0',
      '\xb1',
    ].map((line): [string, string] => [line, 'malformed']),
    ...['1\r', '1\n', '\n1', '\r1', '1\r\r', '1;a\r', '1\ra'].map((line): [string, string] => [
      line,
      'malformed',
    ]),
  ]
  for (const [line, size] of sizes) {
    const content = 'b'.repeat(size === Infinity ? 40 : Number(size) || 1)
    const message = bytes(`${head}${line}\r\n${content}\r\n0\r\n\r\n`)
    const { parts: _, ...whole } = read([message])
    const { parts: _parts, ...bytewise } = read([...message].map((byte) => Buffer.from([byte])))
    t.strictSame(bytewise, whole, JSON.stringify(line))
    if (typeof size === 'string') t.match(whole, { fault: size, ended: 0, body: '' }, JSON.stringify(line))
    else if (size === Infinity) t.match(whole, { fault: null, ended: 0 })
    else t.match(whole, { fault: null, ended: 1, body: content }, JSON.stringify(line))
  }
  for (const end of ['\n', '\r', 'b\r\n', '\r\r\n', '\n\r\n', '\r\n\r\n'])
    t.equal(read([bytes(`${head}1\r\na${end}0\r\n\r\n`)]).fault, 'malformed', JSON.stringify(end))
})
