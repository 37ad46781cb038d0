/** What the OpenAPI document says of texts is what the checks accept. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'
import { apiKeyBody } from '../../../seats-admin/api/api-key-endpoints.ts'
import { FORMATS, published } from '../../../seats-admin/api/formats.ts'
import { limitParameter, PAGE } from '../../../seats-admin/api/parameters.ts'
import { seatBody, seatPatchBody } from '../../../seats-admin/api/seat-endpoints.ts'
import { isRefusal } from '../../../seats-admin/index.ts'
import { anyText } from '../../lib/any-text.ts'

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })
// RFC 3339, without a look at the calendar: the document can say no more.
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i)

/** Texts near the limits of the formats. */
const pieces = fc.constantFrom(
  ...['a', 'Z', '0', '.', '_', '~', '-', ':', '*', ' ', '\t', '\n', '\u0000', '\u007f', '\u009f', '\u00a0'],
  ...[
    '\u2028',
    '\ufeff',
    '\u3000',
    '💺',
    'é',
    '\ud800',
    '\udc00',
    'ab:cd',
    'x'.repeat(126),
    '💺'.repeat(127),
  ],
)
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 6 }).map((each) => each.join('')),
  anyText({ maxLength: 20 }),
  fc.stringMatching(/^[A-Za-z0-9._~:*-]{1,9}$/),
  fc.stringMatching(/^[A-Za-z0-9._-]{1,3}:[A-Za-z0-9._-]{1,3}$/),
  fc.date({ noInvalidDate: true }).map((each) => each.toISOString()),
)

for (const [name, { accepts, keywords, otherwise, meaning }] of Object.entries(FORMATS))
  t.test(name, async (t) => {
    const isDescribed = ajv.compile({ type: 'string', ...keywords })
    const isExact = name === 'space' || name === 'permission'
    let accepted = 0
    fc.assert(
      fc.property(texts, (text) => {
        const isAccepted = accepts(text)
        if (isAccepted) accepted++
        // The document cannot say all of a check: an accepted text is always described, the reverse holds for some.
        if (isAccepted || isExact) return isDescribed(text) === isAccepted
        return name !== 'name' || !text.isWellFormed() || !isDescribed(text)
      }),
      { numRuns: 3000 },
    )
    t.ok(accepted > 10, `${accepted} of 3000 texts are accepted`)
    t.match(otherwise, /^must be /)
    t.ok(meaning.length > 0)
  })

t.test('a body that is accepted is described, and the other way round', async (t) => {
  const names = fc.constantFrom('A', 'B', 'C', '', ' A', 'x'.repeat(257))
  const list = (...items: unknown[]) => fc.array(fc.constantFrom(...items), { maxLength: 4 })
  const field = (valid: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 9, arbitrary: valid }, fc.constantFrom(null, 1, 'text', {}, []))
  const record = (fields: Record<string, fc.Arbitrary<unknown>>, unknown: string) =>
    fc.oneof(fc.record(fields), fc.record({ ...fields, [unknown]: fc.constant('x') }, { requiredKeys: [] }))
  const seats = record(
    {
      name: field(names),
      spaces: field(list('a', 'b', 'c', 'd', 'c:d', 1)),
      permissions: field(list('*', 'a:b', 'c:d', 'e:f', 'c', null)),
    },
    'id',
  )
  const expiry = field(fc.constantFrom('2099-01-01T00:00:00Z', '2099-01-01', null))
  const keys = record({ name: field(names), seats: field(list('A', 'B', '')), expires_at: expiry }, 'key')
  for (const [check, bodies] of [
    [seatBody, seats],
    [seatPatchBody, seats],
    [apiKeyBody, keys],
  ] as const) {
    const isDescribed = ajv.compile(published(check.schema))
    let accepted = 0
    fc.assert(
      fc.property(bodies as fc.Arbitrary<unknown>, (body) => {
        const isAccepted = !isRefusal(check(body))
        if (isAccepted) accepted++
        return isDescribed(body) === isAccepted
      }),
      { numRuns: 3000 },
    )
    t.ok(accepted > 30, `${accepted} of 3000 bodies are accepted`)
  }
})

t.test('parameters', async (t) => {
  const isDescribed = ajv.compile(limitParameter.schema)
  for (let limit = -1; limit < 103; limit++)
    t.equal(limitParameter.accepts(String(limit)), isDescribed(limit), String(limit))
  const isId = ajv.compile(PAGE.after.schema)
  const near = fc.stringMatching(/^[0-9A-Zilou]{25,27}$/)
  fc.assert(fc.property(near, (text) => PAGE.after.accepts(text) === isId(text)))
  t.ok(PAGE.after.accepts('01KAJ0Z1V5Q8T2C0W7M3E9R4XD'))
})
