/** Text from a token is data: no character becomes a second header or another user. */

import fc from 'fast-check'
import t from 'tap'
import { FieldLines } from '../../src/http/wire/field-lines.ts'
import { Callers, headerText, identity } from '../../src/proxy/identity-headers.ts'
import { ALICE, get, seenBy, valuesOf } from './support.ts'

t.test('visible ASCII stays, all else is encoded', async (t) => {
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

t.test('two texts never look alike, lone surrogates included', async () => {
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code))
  const text = fc.array(unit, { maxLength: 4 }).map((units) => units.join(''))
  fc.assert(fc.property(text, text, (a, b) => a === b || headerText(a) !== headerText(b)))
})

t.test('on the wire it is one header', async (t) => {
  const seen = await seenBy(t, get(), {
    decision: { principal: { ...ALICE, user: 'eve\r\nx-seatgate-tenant: globex', email: 'é\u0000' } },
  })
  t.same(valuesOf(seen, 'x-seatgate-user'), ['eve%0D%0Ax-seatgate-tenant:%20globex'])
  t.same(valuesOf(seen, 'x-seatgate-email'), ['%C3%A9%00'])
  t.same(valuesOf(seen, 'x-seatgate-tenant'), ['acme'])
})

t.test('of callers that take turns, each is told as if it were the only one', async () => {
  const seat = (name: string) => ({ name, id: null, verdict: 'grants' as const })
  const all = Array.from({ length: 24 }, (_, at) => ({
    principal: { ...ALICE, user: `user-${at % 3}` },
    space: `s${at % 2}`,
    permission: `trainings:${at % 4}`,
    seats: at < 12 ? [seat('Viewer')] : [seat('Viewer'), seat('Editor')],
  }))
  const turns = fc.array(fc.nat(all.length - 1), { maxLength: 100 })
  fc.assert(
    fc.property(turns, (order) => {
      const callers = new Callers()
      return order.every((at) => {
        const caller = all[at] ?? { principal: null, space: null, permission: null, seats: [] }
        return callers.lines(caller).text === new FieldLines(identity(caller)).text
      })
    }),
  )
})

t.test('of long lists of Seats, a connection keeps one', async (t) => {
  const seats = Array.from({ length: 21 }, (_, at) => ({
    name: `S ${at}`,
    id: null,
    verdict: 'grants' as const,
  }))
  const asks = (permission: string, count: number) => ({
    ...{ principal: ALICE, space: 's1', permission },
    seats: seats.slice(0, count),
  })
  const callers = new Callers()
  const [one, two, short] = [asks('p1', 21), asks('p2', 21), asks('p3', 20)]
  const first = callers.lines(one)
  t.equal(callers.lines({ ...one }), first)
  const second = callers.lines(two)
  t.equal(callers.lines(two), second)
  const third = callers.lines(short)
  t.equal(callers.lines(two), second, 'with short ones beside it')
  t.equal(callers.lines(short), third)
  t.not(callers.lines(one), first)
  for (const caller of [one, two, short])
    t.equal(callers.lines(caller).text, new FieldLines(identity(caller)).text)
})

t.test(
  'of many long names, the first that granted go in 4 KiB, and the count says how many there were',
  async (t) => {
    const seats = (count: number, name: (at: number) => string) =>
      Array.from({ length: count }, (_, at) => ({ name: name(at), id: null, verdict: 'grants' as const }))
    const told = (all: ReturnType<typeof seats>) => {
      const lines = identity({ principal: ALICE, space: 's1', permission: 'a:b', seats: all })
      const value = (name: string) => lines[lines.indexOf(name) + 1] ?? ''
      return { names: value('x-seatgate-seats'), count: value('x-seatgate-seats-count') }
    }
    t.same(told(seats(2, (at) => `Seat ${at}`)), { names: 'Seat%200,Seat%201', count: '2' })
    const long = told(seats(1000, (at) => `${at}-`.padEnd(256, '☃')))
    t.equal(long.count, '1000')
    t.ok(long.names.length > 2000 && long.names.length <= 4096, `${long.names.length}`)
    t.same(
      long.names.split(',').map((name) => decodeURIComponent(name)),
      [`0-`.padEnd(256, '☃')],
    )
    const short = told(seats(1000, (at) => `seat${at}`.padEnd(11, 'x')))
    t.equal(short.names.split(',').length, Math.floor((4096 + 1) / 12))
    const denied = [{ name: 'Denied', id: null, verdict: 'lacks_permission' as const }]
    t.same(told([...denied, ...seats(1, () => 'B')] as never), { names: 'B', count: '1' })
  },
)

t.test('a lone surrogate is encoded as before', async (t) => {
  const seat = { name: '\ud800 ', id: null, verdict: 'grants' as const }
  const lines = identity({ principal: ALICE, space: 's1', permission: 'a:b', seats: [seat] })
  t.ok(lines.includes('%ED%A0%80%20'))
})
