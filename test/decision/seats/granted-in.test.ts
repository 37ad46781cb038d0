/** The spaces that a refusal names: which, how many, and at what cost. */

import t from 'tap'
import { NO_HOLDERS } from './no-restrictions.ts'
import { grantedIn } from '../../../src/decision/seats/granted-in.ts'
import type { SeatLookup } from '../../../src/decision/authorize.ts'
import type { Principal, SeatClaims } from '../../../src/model/principal.ts'
import { type Seat, SeatQuestion } from '../../../src/model/decision-seat.ts'

const asked = new SeatQuestion('here', 'a:b')

function seat(name: string, spaces: readonly string[], permissions: readonly string[] = ['a:b']): Seat {
  return { id: name, name, complete: true, spaces: new Set(spaces), permissions: new Set(permissions) }
}

function caller(claims: SeatClaims): Principal {
  const subject = { tenant: 'acme', user: 'alice', email: null, owner: 'alice', issuedAt: 10 }
  return { method: 'bearer', ...subject, claims, session: null, validUntil: null }
}

function token(...entries: [string, ...string[]][]): Principal {
  const bySpace = entries.map(([space, ...names]) => [space, names] as const)
  return caller({ by: 'name', entries: new Map(bySpace), issuedAt: 10 })
}

/** Seats by name, which is their id; names given up at the time of 20. */
class Seats implements SeatLookup {
  lookups = 0
  readonly groupsOf = NO_HOLDERS.groupsOf
  readonly grantsOf = NO_HOLDERS.grantsOf
  readonly #seats: ReadonlyMap<string, Seat>
  readonly #givenUp: readonly string[]
  readonly #answer: <V>(value: V) => V | Promise<V>

  constructor(
    seats: readonly Seat[],
    {
      givenUp = [],
      answer = (value) => value,
    }: { givenUp?: string[]; answer?: <V>(value: V) => V | Promise<V> } = {},
  ) {
    this.#seats = new Map(seats.map((each) => [each.name, each]))
    this.#givenUp = givenUp
    this.#answer = answer
  }

  seatByName(_tenant: string, name: string) {
    this.lookups++
    const givenUpAt = this.#givenUp.includes(name) ? 20 : null
    return this.#answer({ seat: this.#seats.get(name) ?? null, givenUpAt })
  }

  seatById(_tenant: string, id: string) {
    this.lookups++
    return this.#answer(this.#seats.get(id) ?? null)
  }
}

const spacesOf = (seats: Seats, principal: Principal, patience = 10_000) =>
  grantedIn(seats, principal, asked, patience)

t.test('a token: the spaces of its entries whose Seats hold the permission there now', async (t) => {
  const seats = new Seats(
    [
      seat('Holder', ['one', 'two', 'unnamed']),
      seat('All', ['three'], ['*']),
      seat('Other', ['one', 'four'], ['c:d']),
      seat('Gone', ['five']),
      seat('Left', ['elsewhere']),
    ],
    { givenUp: ['Gone'] },
  )
  const principal = token(
    ['one', 'Other', 'Holder'],
    ['two', 'Holder', 'Holder'],
    ['three', 'All'],
    ['four', 'Other'],
    ['five', 'Gone'],
    ['six', 'Left', 'Nobody'],
  )
  t.same(await spacesOf(seats, principal), ['one', 'two', 'three'])
})

t.test('an API key, and a token of a provider: the spaces of the Seats', async (t) => {
  const seats = new Seats([
    seat('A', ['one', 'two']),
    seat('B', ['two', 'three']),
    seat('C', ['four'], ['c:d']),
  ])
  const ids = ['C', 'A', 'Nobody', 'B']
  t.same(await spacesOf(seats, caller({ by: 'id', seats: ids })), ['one', 'two', 'three'])
  const provided = caller({ by: 'any-space', names: ids, issuedAt: 10 })
  t.same(await spacesOf(seats, provided), ['one', 'two', 'three'])
  const givenUp = new Seats([seat('A', ['one'])], { givenUp: ['A'] })
  t.same(await spacesOf(givenUp, provided), [])
})

t.test('nothing held anywhere', async (t) => {
  t.same(await spacesOf(new Seats([]), token()), [])
  t.same(await spacesOf(new Seats([]), caller({ by: 'id', seats: [] })), [])
})

t.test('at most five spaces and sixteen look-ups', async (t) => {
  const spaces = Array.from({ length: 1000 }, (_, at) => `s${at}`)
  const everywhere = new Seats([seat('A', spaces)])
  const five = spaces.slice(0, 5)
  t.same(await spacesOf(everywhere, token(...spaces.map((each): [string, string] => [each, 'A']))), five)
  t.equal(everywhere.lookups, 5)
  t.same(await spacesOf(everywhere, caller({ by: 'id', seats: ['A'] })), five)

  for (const principal of [
    token(...spaces.map((each): [string, string] => [each, 'Nobody'])),
    token(['s1', ...spaces]),
    caller({ by: 'id', seats: spaces }),
    caller({ by: 'any-space', names: spaces, issuedAt: 10 }),
  ]) {
    const nowhere = new Seats([])
    t.same(await spacesOf(nowhere, principal), [])
    t.equal(nowhere.lookups, 16)
  }
})

t.test('a store that is slow or fails leaves what was found', async (t) => {
  for (const fault of [new Promise<never>(() => {}), 'fails'] as const) {
    let lookups = 0
    const answer = <V>(value: V): V | Promise<V> => {
      if (++lookups < 2) return value
      return fault === 'fails' ? Promise.reject(new Error('unavailable')) : fault
    }
    const seats = new Seats([seat('A', ['one', 'two'])], { answer })
    t.same(await spacesOf(seats, token(['one', 'A'], ['two', 'A']), 20), ['one'])
  }
})
