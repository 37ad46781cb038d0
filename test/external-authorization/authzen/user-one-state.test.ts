/** A question about a user is answered on one state, too: the Seats of the last sign-in belong to it. */

import t from 'tap'
import type { SeatsSource } from '../../../src/model/membership.ts'
import type { User } from '../../../seats-admin/model/user.ts'
import { authorize } from '../../../src/decision/authorize.ts'
import { decideOnOneState } from '../../../src/decision/seats/decision-reads.ts'
import { subjectOf } from '../../../src/external-authorization/authzen/subjects.ts'
import { SeatQuestion } from '../../../src/model/decision-seat.ts'
import { settled, SlowStore } from '../../decision/slow-store.ts'

const QUESTION = new SeatQuestion('s1', 'x:y')

const signedIn = (...seats: string[]): User => ({
  sub: 'alice',
  email: null,
  name: null,
  lastSignIn: 1,
  seats,
})

t.test('a sign-in takes the Seat, then the Seat gains the permission: it is denied', async (t) => {
  const store = new SlowStore()
  const { memory } = store
  store.seats.set('A', [])
  let user = signedIn('A')
  const deps = { memory, store: { readUser: async () => user }, tenants: new Map(), now: Date.now }
  const subject = subjectOf({ type: 'user', id: 'alice' }, 'acme', deps)
  if (subject === null) throw new Error('users are subjects')
  store.isSlow = true
  const answer = decideOnOneState(memory.received, async (reads) => {
    const denial = await subject.denial(reads)
    return denial ?? authorize(await subject.seats(QUESTION, reads), 's1', 'x:y').code
  })
  await settled()
  user = signedIn()
  store.grant('A', ['x:y'])
  store.isSlow = false
  await store.release()
  t.not(await answer, 'allow', 'no state allows it')
})

t.test('a user has the Seats of its groups with seats_from: scim, and those of grants', async (t) => {
  const store = new SlowStore()
  const { memory } = store
  store.seats.set('A', ['x:y']).set('B', ['x:y'])
  const source = { seatsFrom: 'scim', scim: { user: { mode: 'externalId', claim: null } } } as const
  const ask = async (tenants: ReadonlyMap<string, SeatsSource>) => {
    // The latest sign-in named the other Seat.
    const deps = { memory, store: { readUser: async () => signedIn('B') }, tenants, now: Date.now }
    const subject = subjectOf({ type: 'user', id: 'alice' }, 'acme', deps)
    if (subject === null) throw new Error('users are subjects')
    return decideOnOneState(memory.received, async (reads) => {
      const denial = await subject.denial(reads)
      return denial ?? authorize(await subject.seats(QUESTION, reads), 's1', 'x:y').code
    })
  }
  const byGroups = new Map([['acme', source]])
  t.equal(await ask(byGroups), 'no_seat_in_space')
  t.equal(await ask(new Map()), 'allow')
  store.provision(['A'])
  t.equal(await ask(byGroups), 'allow')
  store.provision(['C'])
  t.equal(await ask(byGroups), 'no_seat_in_space')
  store.giveGrants('alice', { id: 'g1', seat: 'A', from: 0, until: Infinity })
  t.equal(await ask(byGroups), 'allow')
  store.grant('B', [])
  t.equal(await ask(new Map()), 'allow', 'without SCIM too')
})
