/** Text from a token is data: no character becomes a second header or another user. */

import fc from 'fast-check'
import t from 'tap'
import type { SeatVerdict } from '../../src/model/decision.ts'
import {
  headerText,
  identity,
  IDENTITY_FIELDS,
  identityLines,
  wholeIdentity,
} from '../../src/proxy/identity-headers.ts'
import { ALICE, get, seenBy, valuesOf } from './support.ts'

t.test('visible ASCII stays, everything else is encoded', async (t) => {
  const cases: [string, string][] = [
    ['alice@acme.example', 'alice@acme.example'],
    ['auth0|5f7c', 'auth0|5f7c'],
    ['a b', 'a%20b'],
    ['100%', '100%25'],
    ['%41', '%2541'],
    ['a\r\nx-seatgate-tenant: evil', 'a%0D%0Ax-seatgate-tenant:%20evil'],
    ['\u0000\u007f\u0080', '%00%7F%C2%80'],
    ['Zoë', 'Zo%C3%AB'],
    ['日本', '%E6%97%A5%E6%9C%AC'],
    ['😀', '%F0%9F%98%80'],
    ['\ud800', '%ED%A0%80'],
    ['\udc00\ud800', '%ED%B0%80%ED%A0%80'],
    ['', ''],
  ]
  for (const [text, value] of cases) t.equal(headerText(text), value)
})

t.test('any text: a valid value, and decoding gives the text back', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const value = headerText(text)
      return /^[!-~]*$/.test(value) && decodeURIComponent(value) === text
    }),
  )
})

t.test('different texts stay different, lone surrogates included', async () => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
  const text = fc.array(unit, { maxLength: 4 }).map((units) => units.join(''))
  fc.assert(fc.property(text, text, (a, b) => a === b || headerText(a) !== headerText(b)))
})

t.test('it is one header field on the wire', async (t) => {
  const seen = await seenBy(t, get(), {
    decision: { principal: { ...ALICE, user: 'eve\r\nx-seatgate-tenant: globex', email: 'é\u0000' } },
  })
  t.same(valuesOf(seen, 'x-seatgate-user'), ['eve%0D%0Ax-seatgate-tenant:%20globex'])
  t.same(valuesOf(seen, 'x-seatgate-email'), ['%C3%A9%00'])
  t.same(valuesOf(seen, 'x-seatgate-tenant'), ['acme'])
})

t.test('a user whose name is that of a field changes no other field of an answer to a proxy', async (t) => {
  for (const user of IDENTITY_FIELDS) {
    const principal = { ...ALICE, user, email: null }
    const lines = wholeIdentity({ principal, space: user, permission: 'a:b', seats: [] })
    const valueOf = (name: string) => lines[2 * IDENTITY_FIELDS.indexOf(name as 'x-seatgate-user') + 1]
    t.same(Object.fromEntries(IDENTITY_FIELDS.map((name) => [name, valueOf(name)])), {
      'x-seatgate-tenant': 'acme',
      'x-seatgate-user': user,
      'x-seatgate-email': '',
      'x-seatgate-space': user,
      'x-seatgate-seats': '',
      'x-seatgate-seats-count': '0',
      'x-seatgate-permission': 'a:b',
      'x-seatgate-auth': ALICE.method,
    })
  }
})

t.test(
  'of many long names, the first granting ones fit into 4 KiB, and the count includes all',
  async (t) => {
    const seats = (count: number, name: (at: number) => string) =>
      Array.from({ length: count }, (_, at) => ({ name: name(at), id: null, verdict: 'grants' as const }))
    const fields = (all: ReturnType<typeof seats>) => {
      const lines = identity({ principal: ALICE, space: 's1', permission: 'a:b', seats: all })
      const value = (name: string) => lines[lines.indexOf(name) + 1] ?? ''
      return { names: value('x-seatgate-seats'), count: value('x-seatgate-seats-count') }
    }
    t.same(fields(seats(2, (at) => `Seat ${at}`)), { names: 'Seat%200,Seat%201', count: '2' })
    const long = fields(seats(1000, (at) => `${at}-`.padEnd(256, '☃')))
    t.equal(long.count, '1000')
    t.ok(long.names.length > 2000 && long.names.length <= 4096, `${long.names.length}`)
    t.same(
      long.names.split(',').map((name) => decodeURIComponent(name)),
      [`0-`.padEnd(256, '☃')],
    )
    const short = fields(seats(1000, (at) => `seat${at}`.padEnd(11, 'x')))
    t.equal(short.names.split(',').length, Math.floor((4096 + 1) / 12))
    const denied = [{ name: 'Denied', id: null, verdict: 'lacks_permission' as const }]
    t.same(fields([...denied, ...seats(1, () => 'B')] as never), { names: 'B', count: '1' })
  },
)

t.test('a lone surrogate is encoded too', async (t) => {
  const seat = { name: '\ud800 ', id: null, verdict: 'grants' as const }
  const lines = identity({ principal: ALICE, space: 's1', permission: 'a:b', seats: [seat] })
  t.ok(lines.includes('%ED%A0%80%20'))
})

t.test(
  'the lines of a caller follow each decision: space, permission, Seats and their verdicts',
  async (t) => {
    const seat = (name: string, verdict: SeatVerdict = 'grants') => ({ name, id: null, verdict })
    const many = Array.from({ length: 17 }, (_, at) => seat(`S${at}`))
    const decisions: Omit<Parameters<typeof identityLines>[0], 'principal'>[] = [
      { space: 's1', permission: 'a:b', seats: [seat('One')] },
      { space: 's2', permission: 'a:b', seats: [seat('One')] },
      { space: 's2', permission: 'a:c', seats: [seat('One')] },
      { space: 's2', permission: 'a:c', seats: [seat('Two')] },
      { space: 's2', permission: 'a:c', seats: [seat('Two', 'lacks_permission')] },
      { space: 's2', permission: 'a:c', seats: [seat('Two', 'lacks_permission'), seat('One')] },
      { space: null, permission: 'authenticated', seats: [] },
      { space: 's2', permission: 'public', seats: [] },
      { space: 's1', permission: 'a:b', seats: many },
      { space: 's1', permission: 'a:b', seats: [] },
    ]
    const callers = [ALICE, { ...ALICE, user: 'bob' }, null]
    for (let turn = 0; turn < 2; turn++)
      for (const decision of decisions)
        for (const principal of callers)
          for (let again = 0; again < 2; again++) {
            const whole = { principal, ...decision }
            const { pairs, writable } = identityLines(whole)
            t.same(pairs, identity(whole))
            t.ok(writable)
          }
  },
)
