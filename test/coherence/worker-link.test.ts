import t from 'tap'
import type { NumberedChange } from '../../seats-admin/model/change.ts'
import type { Reading } from '../../src/coherence/feed-reading.ts'
import { History } from '../../src/coherence/history.ts'
import { Instance } from '../../src/coherence/instance.ts'
import { LEASE, Lease, MARGIN } from '../../src/coherence/lease.ts'
import { RemoteDecider, RemoteInstance, RENEWAL } from '../../src/coherence/worker-link.ts'
import { Channel } from '../../src/runtime/workers/channel.ts'
import { change, ManualClock, FakeStore, position, settled } from './support.ts'

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
