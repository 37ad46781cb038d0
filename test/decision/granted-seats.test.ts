/** Decisions on users with grants: from when, until when and by which clocks a grant counts, and for whom. */

import t from 'tap'
import type { GrantTerm } from '../../seats-admin/model/grant.ts'
import type { Evaluation } from '../../src/model/decision.ts'
import type { Principal } from '../../src/model/principal.ts'
import { alice, member, REQUEST, settled, SlowStore } from './slow-store.ts'

const FROM = 1_800_000_000_000
const UNTIL = FROM + 60_000
const HOUR = 3_600_000

/** A store at a time within the grant, and a process whose monotonic clock has another origin. */
function setUp({ at = FROM + 30_000, hasMany = false } = {}) {
  const clock = { now: 500, wall: at, store: at }
  const store = new SlowStore({ now: () => clock.now, wall: () => clock.wall, store: () => clock.store })
  store.hasManyGrants = hasMany
  store.seats.set('A', ['x:y']).set('B', [])
  const pass = (ms: number) => {
    clock.now += ms
    clock.wall += ms
    clock.store += ms
  }
  return { store, clock, pass }
}

const grant = (more: Partial<GrantTerm> = {}): GrantTerm => ({
  ...{ id: 'g1', seat: 'A', from: FROM, until: UNTIL },
  ...more,
})

const evaluate = (store: SlowStore, caller: Principal = alice([])): Promise<Evaluation> =>
  Promise.resolve(store.engine(() => caller).evaluate(REQUEST))

const codeOf = (store: SlowStore, caller?: Principal) =>
  evaluate(store, caller).then(({ decision }) => decision.code)

for (const hasMany of [false, true])
  t.test(`from its beginning until its end${hasMany ? ', read for the user alone' : ''}`, async (t) => {
    const { store, pass } = setUp({ at: FROM - 2, hasMany })
    store.giveGrants('alice', grant())
    t.equal(await codeOf(store), 'no_seat_in_space')
    store.asked.length = 0
    pass(1)
    t.equal(await codeOf(store), 'no_seat_in_space')
    pass(1)
    t.equal(await codeOf(store), 'allow', 'the beginning belongs to it')
    pass(UNTIL - FROM - 1)
    t.equal(await codeOf(store), 'allow')
    pass(1)
    t.equal(await codeOf(store), 'no_seat_in_space', 'the end does not')
    t.same(store.asked, ['seat A'], 'no clock causes a read')
  })

t.test('a clock that is wrong, of the process or of the store, never gives or extends a grant', async (t) => {
  const cases = [
    ['begins in an hour, wall ahead', { at: FROM - HOUR, wall: HOUR, store: 0 }],
    ['begins in an hour, store ahead', { at: FROM - HOUR, wall: 0, store: HOUR }],
    ['has ended an hour ago, wall behind', { at: UNTIL + HOUR, wall: -HOUR, store: 0 }],
    ['has ended an hour ago, store behind', { at: UNTIL + HOUR, wall: 0, store: -HOUR }],
    ['is in force, wall ahead', { at: UNTIL - 1, wall: HOUR, store: 0 }],
    ['is in force, wall behind', { at: FROM, wall: -HOUR, store: 0 }],
    ['is in force, store ahead', { at: UNTIL - 1, wall: 0, store: HOUR }],
    ['is in force, store behind', { at: FROM, wall: 0, store: -HOUR }],
  ] as const
  for (const [what, { at, wall, store: ahead }] of cases) {
    const { store, clock } = setUp({ at })
    clock.wall += wall
    clock.store += ahead
    store.giveGrants('alice', grant())
    t.equal(await codeOf(store), 'no_seat_in_space', what)
  }
})

t.test('the wall clock is set while memory has the grant', async (t) => {
  const { store, clock, pass } = setUp()
  store.giveGrants('alice', grant())
  t.equal(await codeOf(store), 'allow')
  clock.wall += HOUR
  t.equal(await codeOf(store), 'no_seat_in_space')
  clock.wall -= HOUR
  t.equal(await codeOf(store), 'allow', 'and back')
  pass(UNTIL - FROM)
  clock.wall -= HOUR
  t.equal(await codeOf(store), 'no_seat_in_space', 'the process continues the clock of the store')
})

for (const hasMany of [false, true])
  t.test(`a slow reading extends no grant${hasMany ? ', read for the user alone' : ''}`, async (t) => {
    const { store, clock, pass } = setUp({ at: UNTIL - 5000, hasMany })
    clock.wall -= HOUR
    store.giveGrants('alice', grant({ from: 0 }))
    const deliver = store.delay(hasMany ? 'grants of alice' : 'grants')
    const code = codeOf(store)
    await settled()
    // The store has answered as of now, and the answer is on its way: the process is frozen, for example.
    pass(10_000)
    deliver()
    t.equal(await code, 'no_seat_in_space')
  })

t.test('a grant from its creation counts though the wall clock is behind', async (t) => {
  const { store, clock } = setUp()
  clock.wall = FROM - HOUR
  store.giveGrants('alice', grant({ from: 0 }))
  t.equal(await codeOf(store), 'allow')
})

t.test('for users, however they authenticate, and for no API key', async (t) => {
  const { store } = setUp()
  store.giveGrants('alice', grant())
  store.giveGrants('https://ci.example|job', grant({ id: 'g2' }))
  t.equal(await codeOf(store), 'allow')
  t.equal(await codeOf(store, { ...alice([]), method: 'session', session: 's' }), 'allow')
  t.equal(await codeOf(store, member()), 'allow', 'with groups by SCIM, which does not know the user')
  const job = 'https://ci.example|job'
  const claims = { by: 'any-space', names: [], issuedAt: 1 } as const
  t.equal(await codeOf(store, { ...alice([]), method: 'issuer', user: job, owner: job, claims }), 'allow')
  const key = { ...alice([]), method: 'api-key', user: 'k1', claims: { by: 'id', seats: [] } } as const
  t.equal(await codeOf(store, key), 'no_seat_in_space', 'the key of the user')
  t.equal(await codeOf(store, { ...alice([]), user: 'bob', owner: 'bob' }), 'no_seat_in_space')
  t.equal(
    await codeOf(store, { ...alice([]), tenant: 'globex', user: 'bob', owner: 'bob' }),
    'no_seat_in_space',
  )
})

t.test('the Seat is held by id, and in all of its spaces', async (t) => {
  const { store } = setUp()
  store.giveGrants('alice', grant(), grant({ id: 'g2', seat: 'gone' }))
  const { decision } = await evaluate(store, alice(['B']))
  t.equal(decision.code, 'allow')
  t.same(
    decision.seats.map(({ name, verdict, grant: by }) => [name, verdict, by?.id]),
    [
      ['B', 'lacks_permission', undefined],
      ['A', 'grants', 'g1'],
    ],
  )
  store.grant('A', [])
  t.equal(await codeOf(store), 'permission_denied')
  const elsewhere = { ...REQUEST, credentials: { ...REQUEST.credentials, space: ['s2'] } }
  const engine = store.engine(() => alice([]))
  t.equal((await engine.evaluate(elsewhere)).decision.code, 'no_seat_in_space')
})

t.test('a Seat that the user has anyway is named once, and of two grants the longer', async (t) => {
  const { store } = setUp()
  store.giveGrants('alice', grant(), grant({ id: 'g2', until: UNTIL + 1 }))
  const by = async (caller: Principal) =>
    (await evaluate(store, caller)).decision.seats.map(({ name, grant: of }) => [name, of?.id])
  t.same(await by(alice(['A'])), [['A', undefined]])
  t.same(await by(alice([])), [['A', 'g2']])
  store.givenUp.set('A', 2 ** 40)
  store.write(() => {}, ['seat-name', 'A'])
  t.same(await by(alice(['A'])), [
    ['A', undefined],
    ['A', 'g2'],
  ])
})

t.test('the evaluation knows when a grant has begun or ended', async (t) => {
  const { store, clock, pass } = setUp({ at: FROM - 10 })
  const isCurrent = ({ grants }: Evaluation) => grants?.isCurrent(clock.now, clock.wall)
  t.equal((await evaluate(store)).grants, null)
  store.giveGrants('alice', grant(), grant({ id: 'g2', seat: 'B' }))
  const before = await evaluate(store)
  t.equal(isCurrent(before), true)
  pass(10)
  t.equal(isCurrent(before), false, 'has begun')
  const within = await evaluate(store)
  t.equal(isCurrent(within), true)
  clock.wall += HOUR
  t.equal(isCurrent(within), false, 'the wall clock is ahead')
  clock.wall -= HOUR
  pass(UNTIL - FROM)
  t.equal(isCurrent(within), false, 'has ended')
  t.equal(isCurrent(await evaluate(store)), true)
})

t.test('a cached authorization does not outlive a grant', async (t) => {
  const { store, pass } = setUp({ at: FROM - 1 })
  store.giveGrants('alice', grant())
  const caller = alice(['B'])
  const engine = store.cachingEngine(() => caller)
  const code = async () => (await engine.evaluate(REQUEST)).decision.code
  t.equal(await code(), 'permission_denied')
  t.equal(await code(), 'permission_denied')
  pass(1)
  t.equal(await code(), 'allow')
  t.equal(await code(), 'allow')
  pass(UNTIL - FROM)
  t.equal(await code(), 'permission_denied')
})

t.test('a grant is deleted, or all grants of a tenant may have changed', async (t) => {
  const { store } = setUp()
  for (const key of ['alice', null]) {
    store.giveGrants('alice', grant())
    t.equal(await codeOf(store), 'allow')
    store.writeKeys(() => store.grants.delete('alice'), ['grant', JSON.stringify(key)])
    t.equal(await codeOf(store), 'no_seat_in_space', `${key}`)
  }
})

t.test('a grant moves to another Seat while the decision waits: no mixture of both', async (t) => {
  const { store } = setUp()
  store.seats.set('B', ['x:y'])
  store.giveGrants('alice', grant())
  store.isSlow = true
  const code = codeOf(store)
  await settled()
  await store.release('restrictions')
  await store.release('grants')
  t.same(store.waiting, ['seat A'])
  store.giveGrants('alice', grant({ seat: 'B' }))
  store.grant('B', [])
  store.isSlow = false
  await store.release()
  t.equal(await code, 'permission_denied')
})

t.test('grants of others make a decision that waits no slower', async (t) => {
  const { store } = setUp()
  store.giveGrants('alice', grant())
  store.isSlow = true
  const code = codeOf(store)
  for (let at = 0; at < 1000; at++) store.write(() => {}, ['grant', `u${at}`])
  store.write(() => {}, ['grant', 'alice', 'globex'])
  store.isSlow = false
  await store.release()
  t.equal(await code, 'allow')
  t.equal(store.memory.received.repeated, 0)
})
