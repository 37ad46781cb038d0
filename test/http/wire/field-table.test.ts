/** The pass over the bytes accepts exactly the field lines and request lines of the grammar. */

import fc from 'fast-check'
import t from 'tap'
import { fieldName } from '../../../src/http/wire/field-name.ts'
import { FieldTable } from '../../../src/http/wire/field-table.ts'
import { MalformedRequest } from '../../../src/http/wire/malformed-request.ts'
import { requestGrammar } from '../../../src/http/wire/request-parser.ts'
import { fieldTable } from '../../support/field-table.ts'

/** A head somewhere in a read. */
function headOf(text: string, before = '', after = '') {
  const bytes = Buffer.from(`${before}${text}${after}`, 'latin1')
  return { text: text + after, bytes, offset: before.length, start: 0, end: text.length }
}

const LINES = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*$/

/** By the grammar of RFC 9112, section 5, as an expression. */
function expected(text: string): string[] | null {
  if (!LINES.test(text)) return null
  return text
    .split('\r\n')
    .slice(0, -1)
    .flatMap((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, '')]
    })
}

const piece = fc.constantFrom(
  ...[
    'Host',
    'x_api-key',
    'A',
    ':',
    ': ',
    ' :',
    ':\t',
    ' ',
    '\t',
    '\r\n',
    '\r',
    '\n',
    '\0',
    '\x7f',
    '\x80',
    '\xff',
  ],
  ...[
    'v',
    'a b',
    ';',
    '"',
    '(',
    ')',
    '/',
    '@',
    '!',
    '~',
    '{',
    '\r\n\r\n',
    'x-y: z\r\n',
    'Content-Length: 1\r\n',
  ],
)
const section = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

t.test('any section: the fields of the grammar, or none', async (t) => {
  let valid = 0
  fc.assert(
    fc.property(section, section, section, (text, before, after) => {
      const parsed = FieldTable.parse(headOf(text, before, after), 0)
      if (parsed !== null) valid++
      return JSON.stringify(parsed?.pairs ?? null) === JSON.stringify(expected(text))
    }),
    { numRuns: 50_000 },
  )
  t.ok(valid > 1000, `${valid} are valid`)
})

t.test('each byte in a name and in a value', async (t) => {
  for (let byte = 0; byte < 256; byte++) {
    const character = String.fromCharCode(byte)
    for (const text of [`x${character}y: v\r\n`, `x: v${character}w\r\n`]) {
      const parsed = FieldTable.parse(headOf(text), 0)
      t.same(parsed?.pairs ?? null, expected(text), JSON.stringify(text))
    }
  }
})

t.test('serialized lines: canonical ones as received, others normalized', async (t) => {
  const text = 'A: 1\r\nB:2\r\nC:  3\r\nD: 4 \r\nE: \r\nF:\r\ng: 7\r\n'
  const fields = FieldTable.parse(headOf(text, 'before', 'after'), 0)
  if (fields === null) throw new Error('malformed')
  t.equal(fields.lines(0, fields.count), 'A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: \r\nF: \r\ng: 7\r\n')
  t.equal(fields.lines(1, 3), 'B: 2\r\nC: 3\r\n')
  t.equal(fields.lines(2, 2), '')
  t.equal(fields.received(3), 'D: 4 \r\n')
  fc.assert(
    fc.property(section, fc.nat(4), fc.nat(4), (any, from, count) => {
      const table = FieldTable.parse(headOf(any), 0)
      const pairs = expected(any)
      if (table === null || pairs === null || from + count > table.count) return true
      const wanted = Array.from(
        { length: count },
        (_, i) => `${pairs[2 * (from + i)]}: ${pairs[2 * (from + i) + 1]}\r\n`,
      )
      return table.lines(from, from + count) === wanted.join('')
    }),
    { numRuns: 20_000 },
  )
})

t.test('names: case does not matter, another character is another spelling', async (t) => {
  const name = fieldName('x-api-key')
  const fields = fieldTable(
    'X-API-Key',
    '1',
    'x_api_key',
    '2',
    'x-api-keys',
    '3',
    'x-api-key',
    '4',
    'x.api-key',
    '5',
  )
  t.same(fields.values(name), ['1', '4'])
  const rows = [0, 1, 2, 3, 4].map((i) => [fields.is(i, name), fields.isSpelling(i, name), fields.isOdd(i)])
  t.same(rows, [
    [true, true, false],
    [false, true, true],
    [false, false, false],
    [true, true, false],
    [false, true, true],
  ])
  t.equal(fields.values(fieldName('host')), fieldTable().values(name), 'one shared empty list')
  t.throws(() => (fields.values(fieldName('host')) as string[]).push('a'))
})

t.test('names with the same hash are told apart', async (t) => {
  const name = fieldName('host')
  const fields = fieldTable('hxst', 'a')
  t.notOk(fields.is(0, { folded: 'host', hash: fields.hash(0) }))
  t.notOk(fields.isSpelling(0, { folded: 'host', hash: fields.hash(0) }))
  t.ok(fieldTable('Host', 'a').is(0, name))
})

t.test('fields that can not be serialized have no table', async (t) => {
  for (const [name, value] of [
    ['a b', ''],
    ['', 'a'],
    ['a', 'b\r\nc: d'],
    ['a', 'b\n'],
    ['a\r\n', 'b'],
    ['a: b\r\nc', 'd'],
    ['a', '\u0100'],
    ['\u0161', 'a'],
  ] as const)
    t.equal(FieldTable.of([name, value]), null, JSON.stringify([name, value]))
})

const REQUEST_LINE =
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64} (?:[!-~]+|[!->@-~]+\?[!-~\x80-\xff]+) HTTP\/1\.[01]\r\n/
const TARGET = /^(?:[/*]|[A-Za-z]+:\/\/[A-Za-z0-9._~!$&'()*+,;=:@%[\]-]*(?:[/?]|$))/

t.test('any request line: accepted exactly where the grammar accepts it', async (t) => {
  const grammar = requestGrammar(4096)
  const part = fc.constantFrom(
    ...[
      'GET',
      'P@ST',
      'A'.repeat(64),
      'A'.repeat(65),
      ' ',
      '  ',
      '\t',
      '/',
      '/a',
      '?',
      '?x',
      '\xe4',
      '\x7f',
      '\0',
      '*',
    ],
    ...[
      'http://a/',
      ' HTTP/1.1',
      ' HTTP/1.0',
      ' HTTP/1.2',
      ' HTTP/2.0',
      ' http/1.1',
      '\r\n',
      '\n',
      '\r',
      'GET /a HTTP/1.1',
    ],
  )
  const line = fc.array(part, { maxLength: 7 }).map((parts) => `${parts.join('')}\r\n`)
  let valid = 0
  fc.assert(
    fc.property(line, section, (text, before) => {
      let accepted = true
      try {
        const { method, target, minor } = grammar.readHead(headOf(text, before), false)
        if (!text.startsWith(`${method} ${target} HTTP/1.${minor}\r\n`)) return false
      } catch (error) {
        if (!(error instanceof MalformedRequest)) throw error
        accepted = false
      }
      const target = text.split(' ')[1] ?? ''
      const first = REQUEST_LINE.exec(text)?.[0] ?? null
      const isValid = first !== null && expected(text.slice(first.length)) !== null && TARGET.test(target)
      if (isValid) valid++
      return accepted === isValid
    }),
    { numRuns: 50_000 },
  )
  t.ok(valid > 100, `${valid} are valid`)
})
