/** The answer to a revocation: which instances it has reached, and what each has cut. */

import t from 'tap'
import type { OpenCounts } from '../../seats-admin/model/revocation.ts'
import type { ReachedInstance } from '../../seats-admin/model/revocation.ts'
import { CUT_WITHIN } from '../../src/coherence/cut-reports.ts'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { setUp as setUpInstance } from './fake-instance.ts'
import { change, listed, settled } from './support.ts'

const NOTICE = JSON.stringify({ at: 1, subject: { user: 'u' } })
const counts = (websockets: number, streams = 0, requests = 0): OpenCounts => ({
  websockets,
  streams,
  requests,
})
const WITHIN = LEASE + MARGIN

/** Instance `me`, and a revocation that has begun. */
function setUp(options: Parameters<typeof setUpInstance>[0] = {}) {
  const set = setUpInstance(options)
  const state: { answer: readonly ReachedInstance[] | null } = { answer: null }
  const revoke = () => {
    const committed = set.store.commitOf('revocation', NOTICE)
    void set.instance.revoke(committed).then((answer) => {
      state.answer = answer
    })
    return committed
  }
  const said = (from: string, cut: OpenCounts | null, number = 1) =>
    set.bus.receiver?.acknowledged({ to: 'me', from, number, cut })
  return { ...set, state, revoke, said }
}

t.test('alone: what its own deciders have cut', async (t) => {
  const { decider, state, revoke } = setUp({ isAlone: true, hasBus: false })
  const { promise, resolve } = Promise.withResolvers<OpenCounts>()
  decider.cut = promise
  const { mark } = revoke()
  await settled()
  t.same(decider.cutsAsked, [mark])
  t.equal(state.answer, null)
  resolve(counts(1, 2, 3))
  await settled()
  t.same(state.answer, [
    { id: 'me', name: 'host 1', how: 'acknowledged', ms: 0, cut: counts(1, 2, 3), understands: true },
  ])
})

t.test('waits until each instance that has acknowledged has said what it has cut', async (t) => {
  const { store, bus, clock, state, revoke, said } = setUp()
  store.rows.set('you', listed('you'))
  revoke()
  await settled()
  t.equal(bus.announced.length, 1)
  clock.jump(5)
  bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
  await settled()
  t.equal(state.answer, null, 'decisions are closed, and nobody knows what is open')
  clock.jump(5)
  said('you', counts(4))
  said('you', counts(9))
  await settled()
  t.match(state.answer, [
    { id: 'me', how: 'acknowledged', ms: 0, cut: counts(0) },
    { id: 'you', name: 'host you', how: 'acknowledged', ms: 5, cut: counts(4), understands: true },
  ])
})

t.test('what it has cut is an acknowledgement: the first message may be lost', async (t) => {
  const { store, state, revoke, said } = setUp()
  store.rows.set('you', listed('you'))
  revoke()
  await settled()
  said('you', counts(4))
  await settled()
  t.match(state.answer, [{}, { id: 'you', how: 'acknowledged', cut: counts(4) }])
})

t.test('messages about other writes, and to others, do not count', async (t) => {
  const { store, bus, clock, state, revoke, said } = setUp()
  store.rows.set('you', listed('you'))
  revoke()
  await settled()
  said('you', counts(4), 2)
  bus.receiver?.acknowledged({ to: 'them', from: 'you', number: 1, cut: counts(4) })
  said('stranger', counts(7))
  await clock.pass(WITHIN - 1)
  t.equal(state.answer, null)
  await clock.pass(1)
  t.match(state.answer, [{ id: 'me' }, { id: 'you', how: 'lease_ended', ms: WITHIN, cut: null }])
  t.equal(state.answer?.length, 2)
})

t.test('a silent instance is named when its lease has ended, and is not waited for any longer', async (t) => {
  const { store, clock, state, revoke, said } = setUp()
  store.rows.set('frozen', listed('frozen')).set('you', listed('you'))
  revoke()
  await settled()
  said('you', counts(1))
  await clock.pass(WITHIN)
  t.match(state.answer, [
    { id: 'me', how: 'acknowledged' },
    { id: 'frozen', how: 'lease_ended', ms: WITHIN, cut: null },
    { id: 'you', how: 'acknowledged', cut: counts(1) },
  ])
})

t.test('an instance that does not say what it has cut has two seconds', async (t) => {
  const { store, bus, clock, state, revoke } = setUp()
  store.rows.set('you', listed('you'))
  revoke()
  await settled()
  bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
  await clock.pass(CUT_WITHIN - 1)
  t.equal(state.answer, null)
  await clock.pass(1)
  t.match(state.answer, [{}, { id: 'you', how: 'acknowledged', cut: null }])
  t.equal(clock.timers, 0, 'the list is not read any more')
})

t.test(
  'the two seconds begin with the commit, also if the lease of another instance was waited for',
  async (t) => {
    const { store, bus, clock, state, revoke } = setUp()
    store.rows.set('frozen', listed('frozen')).set('you', listed('you'))
    revoke()
    await settled()
    bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
    await clock.pass(CUT_WITHIN - 1)
    t.equal(state.answer, null)
    await clock.pass(1)
    t.match(state.answer, [{}, { id: 'frozen', how: 'lease_ended' }, { how: 'acknowledged', cut: null }])
  },
)

t.test('an instance that does not know what it has cut is not waited for', async (t) => {
  const { store, state, revoke, said } = setUp()
  store.rows.set('you', listed('you'))
  revoke()
  await settled()
  said('you', null)
  await settled()
  t.match(state.answer, [{}, { id: 'you', how: 'acknowledged', cut: null }])
})

t.test('an older instance is named, and is not waited for', async (t) => {
  for (const understands of [null, ['seat', 'block']]) {
    const { store, bus, state, revoke } = setUp()
    store.rows.set('old', listed('old', 1, 0, { understands }))
    revoke()
    await settled()
    bus.receiver?.acknowledged({ to: 'me', from: 'old', number: 1 })
    await settled()
    t.match(state.answer, [{}, { id: 'old', how: 'acknowledged', cut: null, understands: false }])
  }
})

t.test('without messages, the list tells who has applied the revocation, and what it has cut', async (t) => {
  const { store, clock, state, revoke } = setUp({ hasBus: false })
  store.rows.set('you', listed('you'))
  const { mark, seq } = revoke()
  await clock.pass(100)
  store.rows.set('you', listed('you', 2, seq))
  await clock.pass(100)
  t.equal(state.answer, null)
  const cuts = [
    { mark: mark + 1, cut: counts(8) },
    { mark, cut: counts(2) },
  ]
  store.rows.set('you', listed('you', 3, seq, { cuts }))
  await clock.pass(50)
  t.match(state.answer, [{}, { id: 'you', how: 'acknowledged', cut: counts(2) }])
  const [, you] = state.answer ?? []
  t.ok((you?.ms ?? 0) > 100 && (you?.ms ?? 0) <= 150)
})

t.test('an instance that has left the list is named: it may be frozen', async (t) => {
  const { store, clock, state, revoke } = setUp()
  store.rows.set('you', listed('you'))
  revoke()
  await clock.pass(60)
  store.rows.delete('you')
  await clock.pass(60)
  t.match(state.answer, [{}, { id: 'you', how: 'lease_ended', cut: null }])
})

t.test('an instance that was removed is named, and is not waited for', async (t) => {
  const { store, clock, state, revoke, said } = setUp()
  store.rows
    .set('frozen', listed('frozen', 0, 0, { gone: true, understands: null }))
    .set('you', listed('you'))
  revoke()
  await settled()
  clock.jump(5)
  said('you', counts(1))
  await settled()
  t.match(state.answer, [
    { id: 'me', how: 'acknowledged' },
    { id: 'frozen', name: 'host frozen', how: 'lease_ended', ms: 5, cut: null, understands: true },
    { id: 'you', how: 'acknowledged', cut: counts(1) },
  ])
  t.notOk(store.calls.some((each) => each.startsWith('forget')))
})

t.test('an instance that was removed and is back by its answer has cut', async (t) => {
  const { store, state, revoke, said } = setUp()
  store.rows.set('back', listed('back', 0, 0, { gone: true })).set('you', listed('you'))
  revoke()
  await settled()
  said('back', counts(2))
  said('you', counts(1))
  await settled()
  t.match(state.answer, [{}, { id: 'back', how: 'acknowledged', cut: counts(2) }, { id: 'you' }])
})

t.test('if the list can not be read, others are not taken for closed', async (t) => {
  const { store, clock, state, revoke } = setUp()
  const reading = store.hold()
  store.isDown = true
  revoke()
  await clock.pass(WITHIN)
  t.match(state.answer, [
    { id: 'me', how: 'acknowledged', cut: counts(0) },
    { how: 'lease_ended', cut: null },
  ])
  reading()
})

t.test('a decider of its own that is silent', async (t) => {
  const { decider, clock, state, revoke } = setUp({ isAlone: true, hasBus: false })
  decider.answer = new Promise(() => {})
  revoke()
  await clock.pass(WITHIN)
  t.match(state.answer, [{ id: 'me', how: 'lease_ended', ms: WITHIN, cut: null }])
})

t.test('announced: acknowledges, then says what it has cut; twice for a repeated message', async (t) => {
  const { bus, decider } = setUp()
  const { promise, resolve } = Promise.withResolvers<OpenCounts>()
  decider.cut = promise
  const announcement = { from: 'you', number: 4, seq: 9, changes: [change(NOTICE, 9, 'revocation')] }
  bus.receiver?.announced(announcement)
  await settled()
  const acknowledged = { to: 'you', from: 'me', number: 4 }
  t.same(bus.acknowledged, [acknowledged])
  resolve(counts(3))
  await settled()
  t.same(bus.acknowledged, [acknowledged, { ...acknowledged, cut: counts(3) }])
  bus.receiver?.announced(announcement)
  await settled()
  t.same(bus.acknowledged.slice(2), [acknowledged, { ...acknowledged, cut: counts(3) }])
})

t.test('read: its beats say for some seconds what it has cut; at once without messages', async (t) => {
  for (const up of [true, false]) {
    const { clock, store, bus, decider, instance } = setUp()
    bus.up = up
    await instance.start()
    const { promise, resolve } = Promise.withResolvers<OpenCounts>()
    decider.cut = promise
    const { mark } = store.commitOf('revocation', NOTICE)
    await instance.renew()
    await clock.pass(10)
    const cuts = () => store.rows.get('me')?.cuts
    t.same(cuts(), [])
    resolve(counts(3))
    await clock.pass(10)
    t.same(cuts(), up ? [] : [{ mark, cut: counts(3) }])
    await clock.pass(250)
    t.same(cuts(), [{ mark, cut: counts(3) }])
    await clock.pass(2 * CUT_WITHIN + 250)
    t.same(cuts(), [])
    await instance.close()
  }
})

t.test('without messages, a beat in flight is followed by one with the report', async (t) => {
  const { clock, store, decider, instance } = setUp({ hasBus: false })
  await instance.start()
  const { promise, resolve } = Promise.withResolvers<OpenCounts>()
  decider.cut = promise
  const { mark } = store.commitOf('revocation', NOTICE)
  await instance.renew()
  await clock.pass(10)
  const release = store.hold()
  void instance.renew()
  await settled()
  resolve(counts(3))
  await settled()
  release()
  await settled()
  t.same(store.rows.get('me')?.cuts, [{ mark, cut: counts(3) }])
  await instance.close()
})

t.test('several deciders: the sum; null if one of them does not know', async (t) => {
  for (const other of [counts(1, 1, 1), null]) {
    const { decider, instance, state, revoke } = setUp({ isAlone: true, hasBus: false })
    decider.cut = Promise.resolve(counts(1, 2, 3))
    instance.join({ applyReading: () => {}, applyAnnouncement: () => {}, cutBy: async () => other })
    instance.join({ applyReading: () => {}, applyAnnouncement: () => {} })
    revoke()
    await settled()
    t.match(state.answer, [{ id: 'me', cut: other === null ? null : counts(2, 3, 4) }])
  }
})
