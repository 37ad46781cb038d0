/** Responses are parsed alike, or refused, however their bytes are split into reads. */

import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { MessageParser } from '../../../src/http/wire/message-parser.ts'
import { ProtocolError } from '../../../src/http/client/upstream-request.ts'
import {
  responseGrammar,
  type ParsedResponseHead,
  MAX_HEAD_BYTES,
} from '../../../src/http/client/response-parser.ts'

interface Read {
  readonly heads: { status: number; phrase: string; fields: readonly string[]; keepAlive: boolean }[]
  body: string
  ended: boolean
  trailers: readonly string[]
  error: string | null
  /** Bytes behind the response. */
  left: number
}

/** @param pieces the reads of the connection; it then ends if `closes` */
function read(pieces: readonly Buffer[], { head = false, closes = false } = {}): Read {
  const found: Read = { heads: [], body: '', ended: false, trailers: [], error: null, left: 0 }
  const reader = new MessageParser(responseGrammar, MAX_HEAD_BYTES, {
    head: ({ status, phrase, fields, keepAlive }: ParsedResponseHead) => {
      found.heads.push({ status, phrase, fields: [...fields.pairs], keepAlive })
    },
    body: (chunk) => {
      found.body += typeof chunk === 'string' ? chunk : chunk.toString('latin1')
    },
    end: (trailers) => Object.assign(found, { ended: true, trailers }),
  })
  reader.begin(head)
  // All pieces pass through one buffer, as on a connection: the parser must retain nothing of it.
  const buffer = Buffer.alloc(64 * 1024)
  try {
    for (const piece of pieces) {
      buffer.fill('x')
      piece.copy(buffer)
      found.left += piece.length - reader.read(buffer, 0, piece.length)
    }
    if (closes) reader.close()
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    found.error = error.message
  }
  return found
}

const bytes = (text: string) => Buffer.from(text, 'latin1')

const GOOD: Record<string, string> = {
  'a length': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A:  b\t\r\n\r\nhello',
  'no body': 'HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n',
  'not modified, with the length it would have': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n',
  'a length of zero': 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'no phrase': 'HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na',
  'no fields': 'HTTP/1.1 204 \r\n\r\n',
  chunks:
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n00A;x="y"\r\n0123456789\r\n0\r\n\r\n',
  trailers: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nX-A: b\r\nX-C: d\r\n\r\n',
  'interim answers before it':
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 P\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'every byte except line ends': `HTTP/1.1 200 OK\r\nContent-Length: 256\r\nX-A: ${Array.from({ length: 128 }, (_, i) => String.fromCharCode(128 + i)).join('')}\r\n\r\n${Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join('')}`,
}

for (const [name, text] of Object.entries(GOOD)) {
  t.test(`${name}: split anywhere`, async (t) => {
    const whole = read([bytes(text)])
    t.match(whole, { ended: true, error: null, left: 0 })
    const wrong: number[] = []
    for (let at = 1; at < text.length; at++)
      if (!isDeepStrictEqual(read([bytes(text.slice(0, at)), bytes(text.slice(at))]), whole)) wrong.push(at)
    t.same(wrong, [], 'split at none of these it is another one')
    t.same(read([...text].map(bytes)), whole, 'byte by byte')
  })
}

t.test('bytes after a response are neither consumed nor reported', async (t) => {
  for (const [name, text] of Object.entries(GOOD)) {
    const found = read([bytes(`${text}HTTP/1.1 200 OK\r\n\r\n`)])
    t.match(found, { ended: true, left: 19 }, name)
    t.equal(found.heads.at(-1)?.status, read([bytes(text)]).heads.at(-1)?.status, name)
  }
})

t.test('a body that ends with the connection', async (t) => {
  const text = 'HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nsome'
  t.match(read([bytes(text)], { closes: true }), { body: 'some', ended: true })
  t.equal(read([bytes(text)]).ended, false)
  t.equal(read([bytes(text)]).heads[0]?.keepAlive, false)
})

t.test('the end of the connection completes no other body', async (t) => {
  for (const text of [
    '',
    'HTTP/1.1 2',
    GOOD['a length']?.slice(0, -1) ?? '',
    GOOD['chunks']?.slice(0, -2) ?? '',
  ])
    t.equal(read([bytes(text)], { closes: true }).ended, false)
})

t.test('a response to HEAD has no body, whatever its fields', async (t) => {
  for (const field of ['Content-Length: 5', 'Transfer-Encoding: chunked', 'X-A: b'])
    t.match(read([bytes(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n`)], { head: true }), { ended: true, body: '' })
})

t.test('persistence of the connection', async (t) => {
  for (const [lines, keepAlive] of [
    ['HTTP/1.1 200 OK', true],
    ['HTTP/1.1 200 OK\r\nConnection: close', false],
    ['HTTP/1.1 200 OK\r\nConnection: keep-alive, Close', false],
    ['HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close', false],
    ['HTTP/1.0 200 OK', false],
    ['HTTP/1.0 200 OK\r\nConnection: Keep-Alive', true],
  ] as const)
    t.equal(read([bytes(`${lines}\r\nContent-Length: 0\r\n\r\n`)]).heads[0]?.keepAlive, keepAlive, lines)
})

t.test('never both an error and an end, for any bytes in any reads', async (t) => {
  const piece = fc.constantFrom(
    ...[
      'HTTP/1.1 200 OK',
      'HTTP/1.1 204 A',
      'HTTP/1.0 200 OK',
      '\r\n',
      '\r',
      '\n',
      '\r\n\r\n',
      'Content-Length: 2',
    ],
    ...[
      'Transfer-Encoding: chunked',
      'X: y',
      ' z',
      ':',
      '2',
      '0',
      'ok',
      '\0',
      'ffffffffffffffff',
      ';a',
      '2\r\nok\r\n',
    ],
  )
  const cuts = fc.array(fc.nat(200), { maxLength: 5 })
  let ended = 0
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), cuts, (parts, at) => {
      const text = parts.join('')
      const edges = [...new Set([0, ...at.filter((each) => each < text.length), text.length])].sort(
        (a, b) => a - b,
      )
      const cut = read(edges.slice(1).map((to, i) => bytes(text.slice(edges[i], to))))
      const whole = read([bytes(text)])
      if (whole.ended) ended++
      // The read at which an error is found depends on the split; the parsed response does not.
      const isSame = !whole.ended || isDeepStrictEqual({ ...cut, left: 0 }, { ...whole, left: 0 })
      return isSame && cut.ended === whole.ended && !(cut.ended && cut.error !== null)
    }),
    { numRuns: 5_000 },
  )
  t.ok(ended > 0, `${ended} are whole responses`)
})
