import t from 'tap'
import type { NumberedChange } from '../../seats-admin/model/change.ts'
import { NOTHING_OPEN, type OpenCounts, type ReachedInstance } from '../../seats-admin/model/revocation.ts'
import { CUT_WITHIN } from '../../src/coherence/cut-reports.ts'
import type { Reading } from '../../src/coherence/feed-reading.ts'
import { History } from '../../src/coherence/history.ts'
import { Instance } from '../../src/coherence/instance.ts'
import { LEASE, Lease, MARGIN } from '../../src/coherence/lease.ts'
import { RemoteDecider, RemoteInstance, RENEWAL } from '../../src/coherence/worker-link.ts'
import { Channel } from '../../src/runtime/workers/channel.ts'
import { change, listed, ManualClock, FakeStore, position, settled } from './support.ts'

/** Both ends of a process channel without processes: in order and without loss. */
function channels() {
  const state = { isFrozen: false }
  const waiting: (() => void)[] = []
  const pipe = () => {
    let receive: (message: unknown) => void = () => {}
    const send = (message: unknown) => {
      const copy = structuredClone(message)
      if (state.isFrozen) waiting.push(() => receive(copy))
      else queueMicrotask(() => receive(copy))
    }
    return { send, onMessage: (to: typeof receive) => void (receive = to) }
  }
  const [up, down] = [pipe(), pipe()]
  const primary = new Channel({ send: down.send, onMessage: up.onMessage })
  const worker = new Channel({ send: up.send, onMessage: down.onMessage })
  const thaw = () => {
    state.isFrozen = false
    for (const run of waiting.splice(0)) run()
  }
  return { state, primary, worker, thaw }
}

/** A primary that follows a store, and one worker. */
async function setUp() {
  const clock = new ManualClock()
  const store = new FakeStore()
  store.commit('a', 'b')
  const listener = { feed: () => {}, answered: () => {}, acknowledged: () => {} }
  const parts = { id: 'me', name: 'host 1', source: store, list: store, bus: null, clock, listener }
  const instance = new Instance(parts)
  const history = new History()
  instance.join(new Lease(instance, [history], clock))
  await instance.renew()
  const channel = channels()
  const decider = new RemoteDecider(channel.primary, instance, history)
  const coherence = new RemoteInstance(channel.worker, clock, parts)
  const readings: Reading[] = []
  const announced: string[] = []
  const memory = {
    applyReading: (reading: Reading) => void readings.push(reading),
    applyAnnouncement: (changes: readonly NumberedChange[]) =>
      void announced.push(...changes.map(({ key }) => key)),
  }
  return { clock, store, instance, history, channel, decider, coherence, memory, readings, announced }
}

t.test('a worker starts with the changes that the primary retains, and without a lease', async (t) => {
  const { coherence, memory, readings, history } = await setUp()
  coherence.join(memory)
  await settled()
  const [first] = readings
  t.equal(first?.noted, Number.NEGATIVE_INFINITY)
  t.equal(first?.from, null)
  t.same(first?.head, history.head)
  t.same(first?.changes, history.retained())
  t.equal(first?.changes?.length, 2)
})

t.test('its first lease comes from a reading that began after it joined', async (t) => {
  const { clock, coherence } = await setUp()
  const worker = new History()
  const lease = new Lease(coherence, [worker], clock)
  clock.jump(100)
  coherence.join(lease)
  await lease.renewed()
  t.equal(lease.live(), true)
  t.equal(worker.isCurrent(position(2), { tenant: 'acme', kind: 'seat', key: 'a' }), true)
  clock.jump(LEASE)
  t.equal(lease.live(), false)
})

t.test('then it gets each reading and each announcement', async (t) => {
  const { store, instance, coherence, memory, readings, announced } = await setUp()
  coherence.join(memory)
  await settled()
  store.commit('c')
  await instance.renew()
  await settled()
  t.same(
    readings[1]?.changes?.map(({ key }) => key),
    ['c'],
  )
  t.same(readings[1]?.from, readings[0]?.head)
  void instance.announce(store.commit('d'))
  await settled()
  t.same(announced, ['d'])
})

t.test('an announcement is applied when the worker confirms it; not while it is frozen', async (t) => {
  const { channel, decider, coherence, memory, announced } = await setUp()
  coherence.join(memory)
  await settled()
  channel.state.isFrozen = true
  let isApplied = false
  const applying = decider.applyAnnouncement([change('a', 3)]).then(() => {
    isApplied = true
  })
  await settled()
  t.equal(isApplied, false)
  channel.thaw()
  await applying
  t.same(announced, ['a'])
})

t.test('the same for a reading', async (t) => {
  const { channel, instance, store, coherence, memory } = await setUp()
  coherence.join(memory)
  await settled()
  await instance.renew()
  await settled()
  channel.state.isFrozen = true
  store.commit('c')
  await instance.renew()
  await instance.renew()
  t.equal(store.rows.get('me')?.applied, 2)
  channel.thaw()
  await settled()
  await instance.renew()
  t.equal(store.rows.get('me')?.applied, 3)
})

t.test('a worker receives a change although two readings in a row began before it', async (t) => {
  const { clock, store, instance, channel, coherence } = await setUp()
  const lease = new Lease(coherence, [], clock)
  coherence.join(lease)
  await lease.renewed()
  await settled()
  const first = store.hold()
  const renewed = lease.renewed()
  await settled()
  channel.state.isFrozen = true
  first()
  await settled()
  // The worker has not seen yet that the first reading has ended; another one has begun for the timer.
  const second = store.hold()
  void instance.renew()
  await settled()
  const { seq } = store.commit('c')
  // The worker's own read of the store shows the change.
  const received = lease.readUpTo(seq)
  channel.thaw()
  await settled()
  second()
  await t.resolves(received)
  await renewed
})

t.test('an ended process has nothing to drop', async (t) => {
  const { channel, decider, coherence, memory } = await setUp()
  coherence.join(memory)
  await settled()
  channel.state.isFrozen = true
  const applying = decider.applyAnnouncement([change('a', 3)])
  channel.primary.end()
  await t.resolves(applying)
  await t.resolves(decider.applyAnnouncement([change('a', 4)]))
})

t.test('an ended process gets no more readings', async (t) => {
  const { instance, decider, coherence, memory, readings } = await setUp()
  coherence.join(memory)
  await instance.renew()
  await settled()
  const before = readings.length
  decider.ended()
  await instance.renew()
  await settled()
  t.equal(readings.length, before)
})

t.test('an announcement that the worker fails to apply does not count as applied', async (t) => {
  const { decider, coherence, memory } = await setUp()
  const applyAnnouncement = () => {
    throw new Error('no memory')
  }
  coherence.join({ ...memory, applyAnnouncement })
  await settled()
  await t.rejects(decider.applyAnnouncement([change('a', 3)]), /no memory/)
})

t.test('it renews through the primary, and fails when that fails', async (t) => {
  const { store, coherence, memory, readings } = await setUp()
  coherence.join(memory)
  await settled()
  const before = readings.length
  await Promise.all([coherence.renew(), coherence.renew()])
  t.equal(readings.length, before + 1, 'the reading has arrived when the renewal resolves')
  store.isDown = true
  await t.rejects(coherence.renew(), /down/)
})

t.test('it waits for a frozen primary no longer than RENEWAL', async (t) => {
  const { clock, channel, coherence } = await setUp()
  channel.state.isFrozen = true
  const renewed = coherence.renew()
  const rejected = t.rejects(renewed, /does not respond/)
  await clock.pass(RENEWAL)
  await rejected
  channel.thaw()
  await coherence.renew()
})

t.test('it announces through the primary', async (t) => {
  const { clock, store, channel, coherence, memory } = await setUp()
  coherence.join(memory)
  await settled()
  await coherence.announce(store.commit('c'))
  t.equal(clock.now(), 0)
  channel.state.isFrozen = true
  let isAnswered = false
  void coherence.announce(store.commit('d')).then(() => {
    isAnswered = true
  })
  await clock.pass(LEASE + MARGIN - 1)
  t.equal(isAnswered, false, 'a frozen primary announces nothing')
  await clock.pass(1)
  t.equal(isAnswered, true, 'LEASE + MARGIN have passed')
})

const NOTICE = JSON.stringify({ at: 1, subject: { user: 'u' } })
const CUT: OpenCounts = { websockets: 1, streams: 2, requests: 3 }

t.test('cut: what the worker says of the revocation', async (t) => {
  const { decider, coherence, memory } = await setUp()
  const marks: number[] = []
  const cutBy = async (mark: number) => {
    marks.push(mark)
    return marks.length === 1 ? CUT : null
  }
  coherence.join({ ...memory, cutBy })
  t.same([await decider.cutBy(7), await decider.cutBy(8)], [CUT, null])
  t.same(marks, [7, 8])
})

t.test('cut: a worker without open requests, one that fails, and one that is frozen', async (t) => {
  const { channel, decider, coherence, memory } = await setUp()
  coherence.join(memory)
  t.same(await decider.cutBy(7), NOTHING_OPEN)
  const failing = () => Promise.reject(new Error('no memory'))
  coherence.join({ ...memory, cutBy: failing })
  t.equal(await decider.cutBy(7), null, 'a failure tells nothing of what is open')
  coherence.join({ ...memory, cutBy: async () => CUT })
  channel.state.isFrozen = true
  const state: { cut?: OpenCounts | null } = {}
  const cutting = decider.cutBy(7).then((cut) => {
    state.cut = cut
  })
  await settled()
  t.notOk('cut' in state, 'a frozen worker is not taken for one that has ended')
  channel.thaw()
  await cutting
  t.same(state.cut, CUT)
})

t.test('cut: a process that has ended has nothing open', async (t) => {
  const { channel, decider, coherence, memory } = await setUp()
  coherence.join({ ...memory, cutBy: async () => CUT })
  channel.state.isFrozen = true
  const cutting = decider.cutBy(7)
  channel.primary.end()
  t.same([await cutting, await decider.cutBy(8)], [NOTHING_OPEN, NOTHING_OPEN])
})

t.test('it revokes through the primary, and is asked what it has cut like any worker', async (t) => {
  const { clock, store, instance, coherence, memory } = await setUp()
  store.rows.set('you', listed('you'))
  const asked = new Set<number>()
  const cutBy = async (mark: number) => {
    asked.add(mark)
    return CUT
  }
  coherence.join({ ...memory, cutBy })
  await settled()
  const committed = store.commitOf('revocation', NOTICE)
  const { mark, seq } = committed
  let reached: readonly ReachedInstance[] | null = null
  void coherence.revoke(committed).then((answer) => {
    reached = answer
  })
  await settled()
  t.equal(reached, null, 'the other instance has said nothing')
  store.rows.set('you', listed('you', 2, seq, { cuts: [{ mark, cut: { ...CUT, streams: 9 } }] }))
  await clock.pass(50)
  t.match(reached, [
    { id: instance.id, name: 'host 1', how: 'acknowledged', cut: CUT, understands: true },
    { id: 'you', name: 'host you', how: 'acknowledged', cut: { ...CUT, streams: 9 } },
  ])
  t.same([...asked], [mark])
})

t.test('it waits for the answer of a frozen primary, and claims nothing without it', async (t) => {
  const { clock, store, channel, coherence, memory } = await setUp()
  coherence.join(memory)
  await settled()
  channel.state.isFrozen = true
  const answers: (readonly ReachedInstance[])[] = []
  void coherence.revoke(store.commitOf('revocation', NOTICE)).then((answer) => answers.push(answer))
  await clock.pass(Math.max(CUT_WITHIN, LEASE + MARGIN))
  t.same(answers, [], 'the primary may still answer with what others have cut')
  await clock.pass(2 * MARGIN)
  const own = { id: 'me', name: 'host 1', how: 'lease_ended', ms: LEASE + MARGIN, cut: null }
  t.same(answers, [[{ ...own, understands: true }]])
  channel.thaw()
  await settled()
  t.equal(answers.length, 1)
})

t.test('the same if the primary has ended', async (t) => {
  const { clock, store, channel, coherence, memory } = await setUp()
  coherence.join(memory)
  await settled()
  channel.worker.end()
  let reached: readonly ReachedInstance[] | null = null
  void coherence.revoke(store.commitOf('revocation', NOTICE)).then((answer) => {
    reached = answer
  })
  await clock.pass(LEASE + MARGIN)
  t.equal(reached, null, 'an earlier lease of another instance may be live')
  await clock.pass(CUT_WITHIN + 2 * MARGIN)
  t.match(reached, [{ id: 'me', how: 'lease_ended', cut: null }])
})
