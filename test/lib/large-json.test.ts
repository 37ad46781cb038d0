/** Large texts are read as small ones are, in steps of bounded work. */

import fc from 'fast-check'
import t from 'tap'
import type { JsonLimits } from '../../seats-admin/model/json-limits.ts'
import { MAX_DEPTH, type Parsed, parseJson } from '../../src/lib/json.ts'
import { jsonSteps, MAX_PIECE, PIECE } from '../../src/lib/large-json.ts'
import { anyText } from './any-text.ts'

const UNLIMITED = { members: Infinity, elements: Infinity }

function read(text: string | Buffer, limits: JsonLimits = UNLIMITED): Parsed & { steps: number } {
  const reading = jsonSteps(Buffer.from(text), limits)
  for (let steps = 1; ; steps++) {
    const { done, value } = reading.next()
    if (done === true) return { ...value, steps }
  }
}

function fault(text: string | Buffer, limits?: JsonLimits): string | null {
  const parsed = read(text, limits)
  return 'fault' in parsed ? parsed.fault : null
}

/** A string of just more than a piece. */
const LONG = JSON.stringify('x'.repeat(PIECE))

/** Makes a text large wherever a string stands in it: it is read in pieces there. */
const stretched = (text: string) => text.replaceAll('"long"', LONG)

t.test('any text is read as a small one is', async () => {
  const token = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"long"',
    '"a"',
    '"\\u0061"',
    ':',
    ',',
    '\\',
    '1',
    ' ',
    '"',
    '"__proto__"',
  )
  const jsonish = fc.array(token, { maxLength: 20 }).map((all) => all.join(''))
  const value = fc
    .json({ maxDepth: 4, stringUnit: 'grapheme' })
    .map((text) => text.replaceAll(/"([a-z ])"/g, '"long"'))
  fc.assert(
    fc.property(fc.oneof(jsonish, value, anyText()), (small) => {
      const text = stretched(small)
      const [own, whole] = [read(text), parseJson(text)]
      if ('fault' in whole || 'fault' in own) return 'fault' in whole && 'fault' in own
      return JSON.stringify(own.value) === JSON.stringify(whole.value)
    }),
    { numRuns: 5000 },
  )
})

t.test('texts with large parts', async (t) => {
  const many = `[${Array.from({ length: 20_000 }, (_, at) => `{"a":${at},"b":[]}`).join(' , ')}]`
  const members = `{${Array.from({ length: 20_000 }, (_, at) => `"m${at}":[${at}]`).join()}}`
  for (const text of [
    many,
    members,
    `{"a":${many},"b":${members}}`,
    `[[${many}],${many},1,${members},{}]`,
    ` ${many}\n`,
    `[${' '.repeat(PIECE)}]`,
    `{${' '.repeat(PIECE)}}`,
    `{"__proto__":${many},"b":1}`,
    `{"toString":${many},"constructor":${LONG}}`,
    LONG,
    `["\u{1f600}${'é'.repeat(PIECE)}",${LONG},"\\""]`,
  ]) {
    const parsed = read(text)
    t.ok(
      'value' in parsed && JSON.stringify(parsed.value) === JSON.stringify(JSON.parse(text)),
      text.slice(0, 40),
    )
    if (text.length > 10 * PIECE) t.ok(parsed.steps > text.length / PIECE / 5, `${parsed.steps} steps`)
  }
  for (const text of [
    `[${LONG},]`,
    `[,${LONG}]`,
    `[${LONG},,${LONG}]`,
    `[${LONG} ${LONG}]`,
    `[${LONG}}`,
    `{"a":${many}1}`,
    `{"a"${many}}`,
    `{"a":1${many}}`,
    `{1:${many}}`,
    `[1${many}]`,
    `[${many}.5]`,
    `[${many}${many}]`,
    `${many},`,
    `1,${many}`,
    `${many}x`,
    `[${many}`,
    `\uFEFF${many}`,
  ])
    t.equal(fault(text), 'not valid JSON', text.slice(0, 20))
})

t.test('duplicate members, in one piece and in two', async (t) => {
  for (const text of [
    `{"a":${LONG},"a":1}`,
    `{"a":1,"b":${LONG},"\\u0061":1}`,
    `{"a":[${LONG}],"b":${LONG},"a":[${LONG}]}`,
    `{"__proto__":${LONG},"b":[${LONG}],"__proto__":1}`,
    `{"b":[${LONG},{"c":1,"c":2}]}`,
  ])
    t.equal(fault(text), 'an object has the same member twice', text.slice(0, 20))
})

t.test('bytes that are no UTF-8', async (t) => {
  const [head, tail] = [Buffer.from(`[${LONG},"`), Buffer.from(`",${LONG}]`)]
  for (const wrong of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xa2]])
    t.equal(fault(Buffer.concat([head, Buffer.from(wrong), tail])), 'not valid UTF-8')
})

t.test('the limits are checked before anything is built', async (t) => {
  const limits = { members: 10, elements: 20 }
  const objects = (count: number) => `{${Array.from({ length: count }, (_, at) => `"${at}":${LONG}`).join()}}`
  t.equal(fault(objects(10), limits), null)
  t.equal(fault(objects(11), limits), 'has more than 10 members')
  for (const element of ['1', LONG]) {
    t.equal(fault(`[${Array.from({ length: 20 }, () => element).join()}]`, limits), null)
    t.equal(
      fault(`[${Array.from({ length: 21 }, () => element).join()}]`, limits),
      'has more than 20 elements',
    )
  }
  t.equal(fault(`[${'{},'.repeat(100_000)}1]`, limits), 'has more than 20 elements')
  t.equal(fault(`[${'1,'.repeat(4_000_000)}`, limits), 'has more than 20 elements', 'though it is no JSON')
  t.ok(read(`[${'1,'.repeat(4_000_000)}`, limits).steps < 5)
  const nested = (depth: number) => `${'['.repeat(depth)}${LONG}${']'.repeat(depth)}`
  t.equal(fault(nested(MAX_DEPTH)), null)
  t.equal(fault(nested(MAX_DEPTH + 1)), 'nested more than 64 levels deep')
  t.match(fault(`["${'x'.repeat(MAX_PIECE)}"]`), /bytes in a string/)
  t.match(fault(`[1,${' '.repeat(MAX_PIECE)}1]`), /white space/)
})
