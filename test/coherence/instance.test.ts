import t from 'tap'
import type { Acknowledgement, Announcement, Bus, BusReceiver } from '../../src/coherence/bus.ts'
import type { NumberedChange } from '../../seats-admin/model/change.ts'
import type { Reading } from '../../src/coherence/feed-reading.ts'
import { type WriteResult, type Decider, Instance } from '../../src/coherence/instance.ts'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { change, HandClock, HandStore, position, settled } from './support.ts'

/** Messages go where the test takes them. */
class HandBus implements Bus {
  up = true
  receiver: BusReceiver | null = null
  readonly announced: Announcement[] = []
  readonly acknowledged: Acknowledgement[] = []
  isClosed = false

  open(_id: string, receiver: BusReceiver): void {
    this.receiver = receiver
  }

  announce(announcement: Announcement): void {
    this.announced.push(announcement)
  }

  acknowledge(acknowledgement: Acknowledgement): void {
    this.acknowledged.push(acknowledgement)
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

/** A decider, which forgets at once unless it is held. */
class HandDecider implements Decider {
  readonly readings: Reading[] = []
  readonly told: string[] = []
  answer: Promise<void> | null = null

  applyReading(reading: Reading): Promise<void> | void {
    this.readings.push(reading)
    return this.answer ?? undefined
  }

  applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> | void {
    this.told.push(...changes.map(({ key, seq }) => `${key} ${seq}`))
    return this.answer ?? undefined
  }
}

/** Instance `me` of a fleet, or alone; with messages, or without. */
function setUp({ isAlone = false, hasBus = true, acknowledgesFrom = 0 } = {}) {
  const clock = new HandClock()
  const store = new HandStore()
  const bus = new HandBus()
  const decider = new HandDecider()
  const heard = { answered: [] as WriteResult[], acknowledged: [] as number[] }
  const instance = new Instance({
    id: 'me',
    name: 'host 1',
    source: store,
    list: isAlone ? null : store,
    bus: hasBus ? bus : null,
    clock,
    acknowledgesFrom,
    listener: {
      feed: () => {},
      answered: (answered) => void heard.answered.push(answered),
      acknowledged: (after) => void heard.acknowledged.push(after),
    },
  })
  instance.join(decider)
  const write = (...keys: string[]) => {
    const state = { isAnswered: false }
    void instance.announce(store.commit(...keys)).then(() => {
      state.isAnswered = true
    })
    return state
  }
  return { clock, store, bus, decider, heard, instance, write }
}

const other = (id: string, beat = 1, applied = 0) => ({ id, beat, applied })

t.test('alone: answered when its own deciders have forgotten', async (t) => {
  const { clock, store, decider, heard, write } = setUp({ isAlone: true, hasBus: false })
  const { promise, resolve } = Promise.withResolvers<void>()
  decider.answer = promise
  const written = write('a')
  await settled()
  t.same(decider.told, ['a 1'])
  t.equal(written.isAnswered, false)
  resolve()
  await settled()
  t.equal(written.isAnswered, true)
  t.same(heard.answered, [{ by: 'acknowledged', after: 0 }])
  t.same(store.asked, [], 'nobody else has to be asked')
  t.equal(clock.timers, 0)
})

t.test('tells all others, and waits for who is on the list', async (t) => {
  const { store, bus, heard, write, clock } = setUp()
  store.rows.set('you', other('you'))
  store.commit('before')
  const written = write('a', 'b')
  await settled()
  const changes = [change('a', 2), change('b', 3)]
  t.match(bus.announced, [{ from: 'me', number: 1, seq: 3 }])
  t.same(
    bus.announced[0]?.changes?.map(({ key, seq }) => [key, seq]),
    changes.map(({ key, seq }) => [key, seq]),
  )
  t.equal(written.isAnswered, false)
  clock.jump(5)
  bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
  await settled()
  t.equal(written.isAnswered, true)
  t.same(heard.answered, [{ by: 'acknowledged', after: 5 }])
  t.same(heard.acknowledged, [5])
})

t.test('an acknowledgement counts once, and for what it is of', async (t) => {
  const { store, bus, heard, write } = setUp()
  store.rows.set('you', other('you')).set('they', other('they'))
  const written = write('a')
  await settled()
  bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
  bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
  bus.receiver?.acknowledged({ to: 'me', from: 'they', number: 2 })
  bus.receiver?.acknowledged({ to: 'somebody', from: 'they', number: 1 })
  await settled()
  t.equal(written.isAnswered, false)
  t.equal(heard.acknowledged.length, 1)
})

t.test('an acknowledgement before the list has been read counts too', async (t) => {
  const { store, bus, write } = setUp()
  store.rows.set('you', other('you'))
  const release = store.hold()
  const written = write('a')
  bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
  await settled()
  t.equal(written.isAnswered, false, 'somebody else may be on it')
  release()
  await settled()
  t.equal(written.isAnswered, true)
})

t.test('without messages, it sees on the list who has heard', async (t) => {
  const { clock, store, write } = setUp({ hasBus: false })
  store.rows.set('you', other('you'))
  const written = write('a')
  await clock.pass(100)
  t.equal(written.isAnswered, false)
  store.rows.set('you', other('you', 2, 1))
  await clock.pass(50)
  t.equal(written.isAnswered, true)
})

t.test('who leaves the list is waited for no more', async (t) => {
  const { clock, store, write } = setUp()
  store.rows.set('you', other('you'))
  const written = write('a')
  await clock.pass(100)
  store.rows.delete('you')
  await clock.pass(50)
  t.equal(written.isAnswered, true)
})

t.test('who does not answer is waited for as long as a lease may last, and no longer', async (t) => {
  const { clock, store, heard, write } = setUp()
  store.rows.set('you', other('you'))
  const written = write('a')
  await clock.pass(LEASE + MARGIN - 1)
  t.equal(written.isAnswered, false)
  await clock.pass(1)
  t.equal(written.isAnswered, true)
  t.same(heard.answered, [{ by: 'waited', after: LEASE + MARGIN }])
})

t.test(
  'alone, where a process of the gateway before may hold a lease: not before that has run out',
  async (t) => {
    const { clock, heard, write } = setUp({ isAlone: true, hasBus: false, acknowledgesFrom: 800 })
    await clock.pass(300)
    const written = write('a')
    await clock.pass(499)
    t.equal(written.isAnswered, false)
    await clock.pass(1)
    t.equal(written.isAnswered, true)
    t.match(heard.answered, [{ after: 500 }])
    const next = write('b')
    await settled()
    t.equal(next.isAnswered, true, 'afterwards at once')
  },
)

t.test('so is an own decider that does not answer, or fails to forget', async (t) => {
  for (const isStuck of [true, false]) {
    const { clock, decider, write } = setUp({ isAlone: true, hasBus: false })
    decider.answer = isStuck ? new Promise(() => {}) : Promise.reject(new Error('no memory'))
    decider.answer.catch(() => {})
    const written = write('a')
    await clock.pass(LEASE + MARGIN - 1)
    t.equal(written.isAnswered, false)
    await clock.pass(1)
    t.equal(written.isAnswered, true)
  }
})

t.test('where the list can not be read, it waits, and never rejects', async (t) => {
  const { clock, store, instance } = setUp()
  const committed = store.commit('a')
  store.isDown = true
  const answered = instance.announce(committed)
  await clock.pass(LEASE + MARGIN)
  await answered
  t.equal(store.asked.filter((each) => each === 'list').length, (LEASE + MARGIN) / 50)
})

t.test('takes the silent off the list, as long after reading it as a lease may last', async (t) => {
  const { clock, store, write } = setUp()
  store.rows.set('you', other('you', 7))
  const release = store.hold()
  write('a')
  await clock.pass(300)
  release()
  await clock.pass(LEASE + MARGIN - 1)
  t.notOk(
    store.asked.some((each) => each.startsWith('forget')),
    'the write is answered, and it may still decide',
  )
  await clock.pass(1)
  t.equal(store.asked.at(-1), 'forget you 7')
  t.notOk(store.rows.has('you'))
})

t.test('and not who has given a sign of life since', async (t) => {
  const { clock, store, write } = setUp()
  store.rows.set('you', other('you', 7))
  write('a')
  await clock.pass(LEASE + MARGIN - 1)
  store.rows.set('you', other('you', 8))
  await clock.pass(1)
  t.equal(store.asked.at(-1), 'forget you 7', 'by the beat that was seen first')
  t.ok(store.rows.has('you'))
})

t.test('told by another, it acknowledges when its deciders have forgotten', async (t) => {
  const { bus, decider } = setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  decider.answer = promise
  bus.receiver?.announced({ from: 'you', number: 4, seq: 9, changes: [change('a', 9)] })
  await settled()
  t.same(decider.told, ['a 9'])
  t.same(bus.acknowledged, [])
  resolve()
  await settled()
  t.same(bus.acknowledged, [{ to: 'you', from: 'me', number: 4 }])
})

t.test('where one of them fails to, it does not', async (t) => {
  const { bus, decider } = setUp()
  decider.answer = Promise.reject(new Error('no memory'))
  bus.receiver?.announced({ from: 'you', number: 4, seq: 9, changes: [change('a', 9)] })
  await settled()
  t.same(bus.acknowledged, [])
})

t.test('its own announcements are nothing to it', async (t) => {
  const { bus, decider } = setUp()
  bus.receiver?.announced({ from: 'me', number: 4, seq: 9, changes: [change('a', 9)] })
  await settled()
  t.same([decider.told, bus.acknowledged], [[], []])
})

t.test('more changes than go into a message are for the others to read', async (t) => {
  const { bus, write } = setUp()
  write(...Array.from({ length: 1000 }, (_, index) => `k${index}`))
  write(...Array.from({ length: 1001 }, (_, index) => `k${index}`))
  t.equal(bus.announced[0]?.changes?.length, 1000)
  t.same(bus.announced[1], { from: 'me', number: 2, seq: 2001, changes: null })
})

t.test(
  'told only where to read, it acknowledges when a reading shows it and all have taken that',
  async (t) => {
    const { store, bus, decider, instance } = setUp()
    await instance.start()
    const { promise, resolve } = Promise.withResolvers<void>()
    decider.answer = promise
    const { seq } = store.commit('a')
    bus.receiver?.announced({ from: 'you', number: 4, seq, changes: null })
    await settled()
    t.equal(decider.readings.at(-1)?.head.seq, seq)
    t.same(bus.acknowledged, [])
    resolve()
    await settled()
    t.same(bus.acknowledged, [{ to: 'you', from: 'me', number: 4 }])
    await instance.close()
  },
)

t.test('a reading that was under way before is not enough for that', async (t) => {
  const { store, bus, decider, instance } = setUp()
  await instance.start()
  const release = store.hold()
  void instance.renew()
  const { seq } = store.commit('a')
  bus.receiver?.announced({ from: 'you', number: 4, seq, changes: null })
  release()
  await settled()
  t.same(
    decider.readings.map(({ head }) => head.seq),
    [0, 0, seq],
  )
  t.same(bus.acknowledged, [{ to: 'you', from: 'me', number: 4 }])
  await instance.close()
})

t.test('nor is a feed that can not be read, or does not show it', async (t) => {
  const { store, bus, instance } = setUp()
  await instance.start()
  bus.receiver?.announced({ from: 'you', number: 4, seq: 99, changes: null })
  await settled()
  store.isDown = true
  bus.receiver?.announced({ from: 'you', number: 5, seq: 1, changes: null })
  await settled()
  t.same(bus.acknowledged, [])
  await instance.close()
})

t.test('each decider gets each reading, and no lease from one that began before it joined', async (t) => {
  const { clock, store, decider, instance } = setUp()
  await instance.start()
  clock.jump(100)
  const release = store.hold()
  const renewed = instance.renew()
  clock.jump(100)
  const late = new HandDecider()
  instance.join(late)
  release()
  await renewed
  const noted = () => [decider, late].map(({ readings }) => readings.at(-1)?.noted)
  t.same(noted(), [100, Number.NEGATIVE_INFINITY])
  await instance.renew()
  t.same(noted(), [200, 200])
  instance.leave(late)
  clock.jump(100)
  await instance.renew()
  t.same(noted(), [300, 200])
  await instance.close()
})

t.test('its beat says what all its deciders have taken', async (t) => {
  const { store, decider, instance } = setUp()
  const applied = () => store.rows.get('me')?.applied
  store.commit('a')
  await instance.start()
  await instance.renew()
  t.equal(applied(), 1)
  const { promise, resolve } = Promise.withResolvers<void>()
  decider.answer = promise
  store.commit('b')
  await instance.renew()
  await instance.renew()
  t.equal(applied(), 1, 'it has been handed 2, and has not said that it has it')
  resolve()
  await settled()
  await instance.renew()
  t.equal(applied(), 2)
  const late = new HandDecider()
  instance.join(late)
  await instance.renew()
  t.equal(applied(), 0, 'of who has joined nothing is known')
  await instance.renew()
  t.equal(applied(), 2)
  await instance.close()
})

t.test('what it had applied of a history that may be another counts for nothing', async (t) => {
  const { store, decider, instance } = setUp()
  store.commit('a')
  await instance.start()
  await instance.renew()
  decider.answer = new Promise(() => {})
  store.isPruned = true
  await instance.renew()
  await instance.renew()
  t.equal(store.rows.get('me')?.applied, 0)
  await instance.close()
})

t.test('a decider that fails to take a reading has not taken it', async (t) => {
  const { store, decider, instance } = setUp()
  await instance.start()
  store.commit('a')
  decider.answer = Promise.reject(new Error('no memory'))
  await instance.renew()
  await instance.renew()
  t.equal(store.rows.get('me')?.applied, 0)
  await instance.close()
})

t.test('without messages, it says at once that it has heard; with them, in its own time', async (t) => {
  for (const up of [false, true]) {
    const { clock, store, bus, instance } = setUp()
    bus.up = up
    await instance.start()
    store.commit('a')
    await instance.renew()
    const asked = store.asked.length
    await clock.pass(10)
    t.equal(store.asked.length - asked, up ? 0 : 1)
    t.equal(store.rows.get('me')?.applied, up ? 0 : 1)
    await instance.close()
  }
})

t.test('as soon as all its deciders have', async (t) => {
  const { clock, store, decider, instance } = setUp({ hasBus: false })
  await instance.start()
  store.commit('a')
  const { promise, resolve } = Promise.withResolvers<void>()
  decider.answer = promise
  await instance.renew()
  await clock.pass(10)
  resolve()
  await clock.pass(10)
  t.equal(store.rows.get('me')?.applied, 1)
  await instance.close()
})

t.test('closed, it follows no more, leaves the list, and then the bus', async (t) => {
  for (const isDown of [false, true]) {
    const { clock, store, bus, instance } = setUp()
    await instance.start()
    store.isDown = isDown
    await instance.close()
    t.equal(store.asked.at(-1), 'leave me')
    t.equal(store.rows.has('me'), isDown)
    t.equal(bus.isClosed, true)
    await clock.pass(1000)
    t.equal(store.asked.at(-1), 'leave me')
  }
})

t.test('does not start where the store can not be read', async (t) => {
  const { store, instance } = setUp()
  store.isDown = true
  await t.rejects(instance.start(), { message: 'down' })
  t.same(instance.follower.position, null)
  store.isDown = false
  await instance.renew()
  t.same(instance.follower.position, position(0, 0))
})
