/** A decision is made on one state, whatever changes while it waits for the store. */

import t from 'tap'
import { Refusal } from '../../src/model/errors.ts'
import { decideOnOneState } from '../../src/decision/seats/decision-reads.ts'
import { SeatQuestion } from '../../src/model/decision-seat.ts'
import type { Principal } from '../../src/model/principal.ts'
import { alice, REQUEST, SlowStore } from './slow-store.ts'

const QUESTION = new SeatQuestion('s1', 'x:y')

function setUp(seats: Record<string, string[]>) {
  const store = new SlowStore()
  for (const [name, permissions] of Object.entries(seats)) store.seats.set(name, permissions)
  return store
}

/** Begins a decision. @returns its code, once it is made */
function begin(store: SlowStore, names: readonly string[]): Promise<string> {
  const evaluation = store.engine(() => alice(names)).evaluate(REQUEST)
  return Promise.resolve(evaluation).then(({ decision }) => decision.code)
}

/** Memory has the blocks, and these Seats. */
async function warm(store: SlowStore, ...names: string[]): Promise<void> {
  await begin(store, names)
  store.asked.length = 0
}

t.test('a block, then a grant, while a request waits for the Seat: it is refused', async (t) => {
  const store = setUp({ A: [] })
  await warm(store)
  store.isSlow = true
  const code = begin(store, ['A'])
  store.write(() => store.blocked.add('alice'), ['block', 'alice'])
  store.grant('A', ['x:y'])
  store.isSlow = false
  await store.release()
  t.equal(await code, 'caller_blocked')
  t.equal(store.memory.received.repeated, 1)
})

t.test('a permission moves from one Seat to another of the caller: it is allowed', async (t) => {
  const store = setUp({ A: ['x:y'], B: [] })
  await warm(store, 'B')
  store.isSlow = true
  const code = begin(store, ['B', 'A'])
  const move = () => store.seats.set('A', []).set('B', ['x:y'])
  store.write(move, ['seat-name', 'A'], ['seat-name', 'B'])
  store.isSlow = false
  await store.release()
  t.equal(await code, 'allow')
})

t.test('the same where memory is not told, but the store shows it', async (t) => {
  const store = setUp({ A: ['x:y'], B: [] })
  await warm(store, 'B')
  store.isSlow = true
  const code = begin(store, ['B', 'A'])
  store.commit(() => store.seats.set('A', []).set('B', ['x:y']), ['seat-name', 'A'], ['seat-name', 'B'])
  store.isSlow = false
  await store.release()
  t.equal(await code, 'allow')
  t.equal(store.readings, 1, 'memory is brought up to what the store shows')
})

t.test('memory never holds two states, so that a later decision without a wait has one', async (t) => {
  const store = setUp({ A: ['x:y'], B: [] })
  await warm(store, 'B')
  store.commit(() => store.seats.set('A', []).set('B', ['x:y']), ['seat-name', 'A'], ['seat-name', 'B'])
  t.equal(await begin(store, ['A']), 'permission_denied')
  t.equal(await begin(store, ['A', 'B']), 'allow')
})

t.test('an API key is revoked, then its Seat gains the permission: it is refused', async (t) => {
  const store = setUp({ A: [] })
  const key = (revokedAt: number | null) => ({
    ...{ id: 'k1', tenant: 'acme', hash: new Uint8Array(32), seatIds: ['A'] },
    ...{ expiresAt: null, revokedAt, owner: null },
  })
  store.keys.set('k1', key(null))
  const revoked = new Refusal('api_key_revoked', 'revoked')
  const principal: Principal = {
    ...alice([]),
    method: 'api-key',
    user: 'k1',
    claims: { by: 'id', seats: ['A'] },
  }
  const engine = store.engine(async (_credentials, trace) => {
    const record = await store.memory.apiKeyById('acme', 'k1', trace)
    return record === null || record.revokedAt !== null ? revoked : principal
  })
  store.isSlow = true
  const evaluation = Promise.resolve(engine.evaluate(REQUEST))
  await store.release('key k1')
  store.write(() => store.keys.set('k1', key(5)), ['api-key', 'k1'])
  store.grant('A', ['x:y'])
  store.isSlow = false
  await store.release()
  t.equal((await evaluation).decision.code, 'api_key_revoked')
})

t.test(
  'a change of the record that is being read is part of what is read: nothing is repeated',
  async (t) => {
    const store = setUp({ A: [], B: [] })
    await warm(store, 'B')
    store.isSlow = true
    const code = begin(store, ['B', 'A'])
    store.grant('A', ['x:y'])
    await store.release()
    t.equal(await code, 'allow')
    t.equal(store.memory.received.repeated, 0)
  },
)

t.test('a change counts once: its second message repeats nothing', async (t) => {
  const store = setUp({ A: [], B: [] })
  const changes = store.commit(() => store.seats.set('B', ['z:z']), ['seat-name', 'B'], ['seat', 'B'])
  store.memory.applyAnnouncement(changes)
  await warm(store, 'B')
  store.isSlow = true
  const code = begin(store, ['B', 'A'])
  store.memory.applyReading(changes, { seq: store.seq })
  store.memory.applyAnnouncement(changes)
  store.isSlow = false
  await store.release()
  t.equal(await code, 'permission_denied')
  t.equal(store.memory.received.repeated, 0)
})

t.test('a flood of writes of another tenant, and of others of the same, repeats no decision', async (t) => {
  const store = setUp({ A: ['x:y'], B: [] })
  await warm(store, 'B')
  store.isSlow = true
  const code = begin(store, ['B', 'A'])
  for (let at = 0; at < 5000; at++) {
    store.write(() => {}, ['seat-name', 'B', 'other'], ['seat', 'A', 'other'], ['block', 'alice', 'other'])
    store.write(() => {}, ['seat-name', `C${at}`], ['block', `user ${at}`], ['session', `s${at}`])
  }
  store.isSlow = false
  await store.release()
  t.equal(await code, 'allow')
  t.equal(store.memory.received.repeated, 0)
})

t.test('where what it has read keeps changing, a decision is made four times and then refused', async (t) => {
  const store = setUp({ A: [] })
  const { memory } = store
  let made = 0
  const decided = decideOnOneState(memory.received, async (reads) => {
    made++
    await memory.seatByName('acme', 'A', QUESTION, reads)
    store.grant('A', [`x:${made}`])
    return made
  })
  await t.rejects(Promise.resolve(decided), /changes faster than it can be read/)
  t.same([made, memory.received.repeated], [4, 3])
  t.equal(memory.received.waiting, 0)
})

t.test('a decision that waits while more changes arrive than are kept is made again', async (t) => {
  const store = setUp({ A: [] })
  await warm(store)
  store.isSlow = true
  const code = begin(store, ['A'])
  for (let at = 0; at <= 100_000; at++) store.write(() => {}, ['seat', `other ${at}`, 'globex'])
  store.isSlow = false
  await store.release()
  t.equal(await code, 'permission_denied')
  t.equal(store.memory.received.repeated, 1)
  t.equal(store.memory.received.waiting, 0)
})

t.test('no decision waits any more that has failed before it could', async (t) => {
  const { memory } = setUp({ A: [] })
  const decide = () =>
    decideOnOneState(memory.received, (reads) => {
      void memory.seatByName('acme', 'A', QUESTION, reads)
      throw new Error('at once')
    })
  t.throws(decide, /at once/)
  t.equal(memory.received.waiting, 0)
})

t.test('no decision waits once a decision is made, or has failed', async (t) => {
  const store = setUp({ A: [], B: [] })
  store.isSlow = true
  const code = begin(store, ['A', 'B'])
  t.equal(store.memory.received.waiting, 1)
  store.isSlow = false
  await store.release()
  await code
  t.equal(store.memory.received.waiting, 0)
  const failed = decideOnOneState(store.memory.received, async (reads) => {
    await store.memory.seatByName('acme', 'C', QUESTION, reads)
    throw new Error('the store is gone')
  })
  await t.rejects(Promise.resolve(failed), /store is gone/)
  t.equal(store.memory.received.waiting, 0)
})

t.test('a decision with all records in memory does not wait', async (t) => {
  const store = setUp({ A: ['x:y'] })
  await warm(store, 'A')
  const evaluation = store.engine(() => alice(['A'])).evaluate(REQUEST)
  t.notOk(evaluation instanceof Promise)
  t.equal(store.memory.received.waiting, 0)
})
