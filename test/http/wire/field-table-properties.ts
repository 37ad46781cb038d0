/** The properties of field tables and request lines, for as many random texts as a test wants. */

import fc from 'fast-check'
import type { Test } from 'tap'
import { FieldTable } from '../../../src/http/wire/field-table.ts'
import { MalformedRequest } from '../../../src/http/wire/malformed-request.ts'
import { requestGrammar } from '../../../src/http/wire/request-parser.ts'

/** A head somewhere in a read. */
export function headOf(text: string, before = '', after = '') {
  const bytes = Buffer.from(`${before}${text}${after}`, 'latin1')
  return { text: text + after, bytes, offset: before.length, start: 0, end: text.length }
}

const LINES = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*$/

/** By the grammar of RFC 9112, section 5, as an expression. */
export function expected(text: string): string[] | null {
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
  ...['Host', 'x_api-key', 'A', 'v', 'a b', 'x-y: z\r\n', 'Content-Length: 1\r\n', '\r\n\r\n', '\r\n'],
  ...[': ', ' :', ':\t', ...':; \t\r\n\0\x7f\x80\xff"()/@!~{'],
)
const section = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

/** The fields of the grammar, or none. */
export function checkSections(t: Test, runs: number): void {
  let valid = 0
  fc.assert(
    fc.property(section, section, section, (text, before, after) => {
      const parsed = FieldTable.parse(headOf(text, before, after), 0)
      if (parsed !== null) valid++
      return JSON.stringify(parsed?.pairs ?? null) === JSON.stringify(expected(text))
    }),
    { numRuns: runs },
  )
  t.ok(valid > runs / 50, `${valid} are valid`)
}

/** What is serialized is what was parsed. */
export function checkLines(runs: number): void {
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
    { numRuns: runs },
  )
}

const REQUEST_LINE =
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64} (?:[!-~]+|[!->@-~]+\?[!-~\x80-\xff]+) HTTP\/1\.[01]\r\n/
const TARGET = /^(?:[/*]|[A-Za-z]+:\/\/[A-Za-z0-9._~!$&'()*+,;=:@%[\]-]*(?:[/?]|$))/

/** Accepted exactly where the grammar accepts it. */
export function checkRequestLines(t: Test, runs: number): void {
  const grammar = requestGrammar(4096)
  const part = fc.constantFrom(
    ...[
      'GET',
      'P@ST',
      'A'.repeat(64),
      'A'.repeat(65),
      '  ',
      '/a',
      '?x',
      'http://a/',
      '\r\n',
      'GET /a HTTP/1.1',
    ],
    ...[' HTTP/1.1', ' HTTP/1.0', ' HTTP/1.2', ' HTTP/2.0', ' http/1.1', ...' \t/?\xe4\x7f\0*\n\r'],
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
    { numRuns: runs },
  )
  t.ok(valid > runs / 5000, `${valid} are valid`)
}
