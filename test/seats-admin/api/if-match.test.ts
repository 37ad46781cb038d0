import fc from 'fast-check'
import t from 'tap'
import { readIfMatch } from '../../../seats-admin/api/admin-endpoint.ts'
import { isRefusal } from '../../../seats-admin/model/refusal.ts'

/** Characters of an entity tag (RFC 9110, section 8.8.3), the comma and the backslash among them. */
const opaque = fc
  .string({
    unit: fc.constantFrom('!', ',', '\\', '*', 'W', '/', '#', 'a', '~', '\x80', '\xff'),
    maxLength: 8,
  })
  .map((text) => `"${text}"`)
const space = fc.constantFrom('', ' ', '\t', ' \t ')
const element = fc.record({
  weak: fc.boolean(),
  tag: opaque,
  before: space,
  after: space,
  empty: fc.boolean(),
})

t.test('a list has its strong tags, on any number of lines', async (t) => {
  fc.assert(
    fc.property(fc.array(element, { minLength: 1, maxLength: 6 }), fc.nat(5), (elements, cut) => {
      const texts = elements.map(
        ({ weak, tag, before, after, empty }) =>
          `${empty ? `${before},` : ''}${before}${weak ? 'W/' : ''}${tag}${after}`,
      )
      const lines = [texts.slice(0, cut), texts.slice(cut)].map((part) => part.join(','))
      const expected = elements.filter(({ weak }) => !weak).map(({ tag }) => tag)
      t.strictSame(readIfMatch(lines), expected)
    }),
  )
})

t.test('no field, and *', async (t) => {
  t.equal(readIfMatch([]), null)
  for (const text of ['*', ' * ', '\t*']) t.equal(readIfMatch([text]), '*')
})

t.test('a malformed field is refused', async (t) => {
  const malformed = [
    '',
    ' ',
    ',',
    ', ,',
    'a',
    '3',
    `'3'`,
    '"3',
    '3"',
    '"3" "4"',
    '"a b"',
    '"a"b',
    'w/"3"',
    'W/ "3"',
  ]
  for (const text of [
    ...malformed,
    '*, "3"',
    '"3", *',
    '**',
    '"3";q=1',
    '"3"\u0100',
    '"\x00"',
    `${' '.repeat(60_000)}x`,
  ]) {
    const read = readIfMatch([text])
    t.ok(isRefusal(read) && read.refused === 'input_invalid', JSON.stringify(text.slice(0, 20)))
  }
  t.ok(isRefusal(readIfMatch(['*', '*'])), 'twice')
})
