/** Lines that are read without `JSON.parse` are read as with it. */

import { deepEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { readAnyLine, readLine, usualLine } from '../../src/access/replay/logged-request.ts'

const HEAD = '{"level":"info","time":"2026-01-05T00:00:00.003Z","request_id":"a-1","method":"GET"'
const MIDDLE =
  '"duration_ms":23.5,"decision_us":69,"upstream_ms":0.5,"bytes_in":0,"bytes_out":7,"client":"10.0.65.170"'
const ROUTE = '"route":"GET /a","upstream":"app","permission":"a:b"'
const CALLER = '"tenant":"acme","user":"u","auth":"bearer"'
const LINES = [
  `${HEAD},"path":"/a","status":404,"code":"route_not_found",${MIDDLE},"msg":"request"}`,
  `${HEAD},"path":"/a","status":200,"code":"allow",${MIDDLE},${ROUTE},${CALLER},"issued_at":17,"space":"main","source":"memory","seats":["A:grants","b:c:unknown"],"msg":"request"}`,
  `${HEAD},"path":"/a","status":200,"code":"allow",${MIDDLE},${ROUTE},${CALLER},"issued_at":17,"any_space":true,"space":"main","seats":[],"msg":"request"}`,
  `${HEAD},"path":"/a","status":502,"code":"upstream_timeout","decision":"allow",${MIDDLE},${ROUTE},${CALLER},"seat_ids":["01J","02J"],"space":"main","seats":["A:grants","B:grants"],"msg":"request"}`,
]

t.test('the usual lines are', async (t) => {
  for (const line of LINES) {
    t.ok(usualLine(line))
    t.same(readLine(line), readAnyLine(line))
  }
  t.notOk(usualLine(LINES[0]?.replace('/a', '/\\u0061') ?? ''))
})

/** Parts that a log line consists of, and those that could be mistaken for them. */
const PARTS = [
  ...[
    '"',
    '\\',
    '\\"',
    '\\u0061',
    ',',
    ':',
    '{',
    '}',
    '[',
    ']',
    '0',
    '-',
    '.',
    'e1',
    ' ',
    '\t',
    '\r',
    '\0',
    '\x7f',
    'é',
    '\ud800',
  ],
  ...[
    'null',
    'true',
    '""',
    '"path":"/b",',
    '"path":"/c"',
    ',"path":"/d"',
    '"seats":[],',
    ',"issued_at":null',
    '"__proto__":{"a":1},',
  ],
  ...[',"any_space":false', '"seats":["+5 more"],', ',"decision":"allow"', '"msg":"other",', ',"tenant":1'],
]

/** Inserts, removes and repeats parts of a line. */
const mutant = fc
  .tuple(
    fc.constantFrom(...LINES),
    fc.array(
      fc.tuple(fc.nat(), fc.nat(12), fc.oneof(fc.constantFrom(...PARTS), fc.string({ maxLength: 3 }))),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  )
  .map(([line, edits]) =>
    edits.reduce((text, [at, removed, inserted]) => {
      const from = at % (text.length + 1)
      return text.slice(0, from) + inserted + text.slice(from + (removed > 6 ? 0 : removed))
    }, line),
  )

t.test('any other is read as JSON, or refused as JSON is', async (t) => {
  let usual = 0
  fc.assert(
    fc.property(mutant, (line) => {
      if (usualLine(line) !== null) usual++
      deepEqual(readLine(line), readAnyLine(line))
    }),
    { numRuns: 4000 },
  )
  t.ok(usual > 100, `${usual} of them are usual lines`)
})

t.test('a field that comes twice counts as JSON.parse counts it', async (t) => {
  for (const line of LINES)
    for (const [whole, name] of line.matchAll(/"(\w+)":(?:"[^"]*"|\[[^\]]*\]|[\d.]+|true),/g)) {
      const twice = line.replace(whole, `${whole}"${name}":"other",`)
      t.same(readLine(twice), readAnyLine(twice), twice)
      t.notOk(usualLine(twice))
    }
})
