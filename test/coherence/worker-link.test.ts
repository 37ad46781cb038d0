import t from 'tap'
import type { NumberedChange } from '../../seats-admin/model/change.ts'
import type { Reading } from '../../src/coherence/feed-reading.ts'
import { History } from '../../src/coherence/history.ts'
import { Instance } from '../../src/coherence/instance.ts'
import { LEASE, Lease, MARGIN } from '../../src/coherence/lease.ts'
import { RemoteDecider, RemoteInstance, RENEWAL } from '../../src/coherence/worker-link.ts'
import { Channel } from '../../src/runtime/workers/channel.ts'
import { change, HandClock, HandStore, position, settled } from './support.ts'

/** The two ends of a process channel, as far as one can be without processes: nothing is lost or overtaken. */
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
  const clock = new HandClock()
  const store = new HandStore()
  store.commit('a', 'b')
  const listener = { feed: () => {}, answered: () => {}, acknowledged: () => {} }
  const parts = { id: 'me', name: 'host 1', source: store, list: store, bus: null, clock, listener }
  const instance = new Instance(parts)
  const history = new History()
  instance.join(new Lease(instance, [history], clock))
  await instance.renew()
  const line = channels()
  const decider = new RemoteDecider(line.primary, instance, history)
  const coherence = new RemoteInstance(line.worker, clock)
  const readings: Reading[] = []
  const told: string[] = []
  const memory = {
    applyReading: (reading: Reading) => void readings.push(reading),
    applyAnnouncement: (changes: readonly NumberedChange[]) =>
      void told.push(...changes.map(({ key }) => key)),
  }
  return { clock, store, instance, history, line, decider, coherence, memory, readings, told }
}

t.test('a worker begins with what the primary remembers, and without a lease', async (t) => {
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

t.test('from then on it gets each reading, and is told of changes', async (t) => {
  const { store, instance, coherence, memory, readings, told } = await setUp()
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
  t.same(told, ['d'])
})

t.test('it has been told when it says so; not while it is frozen', async (t) => {
  const { line, decider, coherence, memory, told } = await setUp()
  coherence.join(memory)
  await settled()
  line.state.isFrozen = true
  let isTold = false
  const telling = decider.applyAnnouncement([change('a', 3)]).then(() => {
    isTold = true
  })
  await settled()
  t.equal(isTold, false)
  line.thaw()
  await telling
  t.same(told, ['a'])
})

t.test('the same for a reading', async (t) => {
  const { line, instance, store, coherence, memory } = await setUp()
  coherence.join(memory)
  await settled()
  await instance.renew()
  await settled()
  line.state.isFrozen = true
  store.commit('c')
  await instance.renew()
  await instance.renew()
  t.equal(store.rows.get('me')?.applied, 2)
  line.thaw()
  await settled()
  await instance.renew()
  t.equal(store.rows.get('me')?.applied, 3)
})

t.test('a process that has ended has nothing to forget', async (t) => {
  const { line, decider, coherence, memory } = await setUp()
  coherence.join(memory)
  await settled()
  line.state.isFrozen = true
  const telling = decider.applyAnnouncement([change('a', 3)])
  line.primary.end()
  await t.resolves(telling)
  await t.resolves(decider.applyAnnouncement([change('a', 4)]))
})

t.test('nor is it handed anything any more', async (t) => {
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

t.test('one that fails to forget is not taken for told', async (t) => {
  const { decider, coherence, memory } = await setUp()
  const applyAnnouncement = () => {
    throw new Error('no memory')
  }
  coherence.join({ ...memory, applyAnnouncement })
  await settled()
  await t.rejects(decider.applyAnnouncement([change('a', 3)]), /no memory/)
})

t.test('it renews through the primary, and fails as that does', async (t) => {
  const { store, coherence, memory, readings } = await setUp()
  coherence.join(memory)
  await settled()
  const before = readings.length
  await Promise.all([coherence.renew(), coherence.renew()])
  t.equal(readings.length, before + 1, 'the reading is there when the renewal is done')
  store.isDown = true
  await t.rejects(coherence.renew(), /down/)
})

t.test('it does not wait for a frozen primary for longer than a reading takes', async (t) => {
  const { clock, line, coherence } = await setUp()
  line.state.isFrozen = true
  const renewed = coherence.renew()
  const rejected = t.rejects(renewed, /does not respond/)
  await clock.pass(RENEWAL)
  await rejected
  line.thaw()
  await coherence.renew()
})

t.test('it announces through the primary', async (t) => {
  const { clock, store, line, coherence, memory } = await setUp()
  coherence.join(memory)
  await settled()
  await coherence.announce(store.commit('c'))
  t.equal(clock.now(), 0)
  line.state.isFrozen = true
  let isAnswered = false
  void coherence.announce(store.commit('d')).then(() => {
    isAnswered = true
  })
  await clock.pass(LEASE + MARGIN - 1)
  t.equal(isAnswered, false, 'a frozen one tells nobody')
  await clock.pass(1)
  t.equal(isAnswered, true, 'but time does')
})
