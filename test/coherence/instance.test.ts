import t from 'tap'
import { FILES_WITHIN } from '../../src/coherence/instance.ts'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { FakeDecider, setUp } from './fake-instance.ts'
import { change, listed, position, settled } from './support.ts'

t.test('alone: a write is acknowledged when its own deciders have dropped the changes', async (t) => {
  const { clock, store, decider, events, write } = setUp({ isAlone: true, hasBus: false })
  const { promise, resolve } = Promise.withResolvers<void>()
  decider.answer = promise
  const written = write('a')
  await settled()
  t.same(decider.announced, ['a 1'])
  t.equal(written.isAnswered, false)
  resolve()
  await settled()
  t.equal(written.isAnswered, true)
  t.same(events.answered, [{ by: 'acknowledged', after: 0 }])
  t.same(store.calls, [], 'the store is not asked')
  t.equal(clock.timers, 0)
})

t.test('announces to all instances, and waits for those on the list', async (t) => {
  const { store, bus, events, write, clock } = setUp()
  store.rows.set('you', listed('you'))
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
  t.same(events.answered, [{ by: 'acknowledged', after: 5 }])
  t.same(events.acknowledged, [5])
})

t.test('an acknowledgement counts once, and only for its own announcement', async (t) => {
  const { store, bus, events, write } = setUp()
  store.rows.set('you', listed('you')).set('they', listed('they'))
  const written = write('a')
  await settled()
  bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
  bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
  bus.receiver?.acknowledged({ to: 'me', from: 'they', number: 2 })
  bus.receiver?.acknowledged({ to: 'somebody', from: 'they', number: 1 })
  await settled()
  t.equal(written.isAnswered, false)
  t.equal(events.acknowledged.length, 1)
})

t.test('an acknowledgement from before the list has been read counts', async (t) => {
  const { store, bus, write } = setUp()
  store.rows.set('you', listed('you'))
  const release = store.hold()
  const written = write('a')
  bus.receiver?.acknowledged({ to: 'me', from: 'you', number: 1 })
  await settled()
  t.equal(written.isAnswered, false, 'other instances may be listed')
  release()
  await settled()
  t.equal(written.isAnswered, true)
})

t.test('without a bus, the list shows which instances have applied the write', async (t) => {
  const { clock, store, write } = setUp({ hasBus: false })
  store.rows.set('you', listed('you'))
  const written = write('a')
  await clock.pass(100)
  t.equal(written.isAnswered, false)
  store.rows.set('you', listed('you', 2, 1))
  await clock.pass(50)
  t.equal(written.isAnswered, true)
})

t.test('does not wait for an instance that has left the list', async (t) => {
  const { clock, store, write } = setUp()
  store.rows.set('you', listed('you'))
  const written = write('a')
  await clock.pass(100)
  store.rows.delete('you')
  await clock.pass(50)
  t.equal(written.isAnswered, true)
})

t.test('waits for a silent instance for LEASE + MARGIN, and no longer', async (t) => {
  const { clock, store, events, write } = setUp()
  store.rows.set('you', listed('you'))
  const written = write('a')
  await clock.pass(LEASE + MARGIN - 1)
  t.equal(written.isAnswered, false)
  await clock.pass(1)
  t.equal(written.isAnswered, true)
  t.same(events.answered, [{ by: 'waited', after: LEASE + MARGIN }])
})

t.test('alone: no write is acknowledged before a lease of the previous gateway has expired', async (t) => {
  const { clock, events, write } = setUp({ isAlone: true, hasBus: false, acknowledgesFrom: 800 })
  await clock.pass(300)
  const written = write('a')
  await clock.pass(499)
  t.equal(written.isAnswered, false)
  await clock.pass(1)
  t.equal(written.isAnswered, true)
  t.match(events.answered, [{ after: 500 }])
  const next = write('b')
  await settled()
  t.equal(next.isAnswered, true, 'afterwards at once')
})

t.test('waits as long for an own decider that is silent or fails', async (t) => {
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

t.test('when the list can not be read, it waits, and never rejects', async (t) => {
  const { clock, store, instance } = setUp()
  const committed = store.commit('a')
  store.isDown = true
  const answered = instance.announce(committed)
  await clock.pass(LEASE + MARGIN)
  await answered
  t.equal(store.calls.filter((each) => each === 'list').length, (LEASE + MARGIN) / 50)
})

t.test('removes a silent instance LEASE + MARGIN after it has read the list', async (t) => {
  const { clock, store, write } = setUp()
  store.rows.set('you', listed('you', 7))
  const release = store.hold()
  write('a')
  await clock.pass(300)
  release()
  await clock.pass(LEASE + MARGIN - 1)
  t.notOk(
    store.calls.some((each) => each.startsWith('forget')),
    'the write is acknowledged, and the instance may still decide',
  )
  await clock.pass(1)
  t.equal(store.calls.at(-1), 'forget you 7')
  t.notOk(store.rows.has('you'))
})

t.test('does not remove an instance with a sign of life since then', async (t) => {
  const { clock, store, write } = setUp()
  store.rows.set('you', listed('you', 7))
  write('a')
  await clock.pass(LEASE + MARGIN - 1)
  store.rows.set('you', listed('you', 8))
  await clock.pass(1)
  t.equal(store.calls.at(-1), 'forget you 7', 'conditional on the beat that was read first')
  t.ok(store.rows.has('you'))
})

t.test('acknowledges an announcement when its deciders have dropped the changes', async (t) => {
  const { bus, decider } = setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  decider.answer = promise
  bus.receiver?.announced({ from: 'you', number: 4, seq: 9, changes: [change('a', 9)] })
  await settled()
  t.same(decider.announced, ['a 9'])
  t.same(bus.acknowledged, [])
  resolve()
  await settled()
  t.same(bus.acknowledged, [{ to: 'you', from: 'me', number: 4 }])
})

t.test('does not acknowledge when a decider fails to drop them', async (t) => {
  const { bus, decider } = setUp()
  decider.answer = Promise.reject(new Error('no memory'))
  bus.receiver?.announced({ from: 'you', number: 4, seq: 9, changes: [change('a', 9)] })
  await settled()
  t.same(bus.acknowledged, [])
})

t.test('ignores its own announcements', async (t) => {
  const { bus, decider } = setUp()
  bus.receiver?.announced({ from: 'me', number: 4, seq: 9, changes: [change('a', 9)] })
  await settled()
  t.same([decider.announced, bus.acknowledged], [[], []])
})

t.test('an announcement of too many changes has none: receivers read the feed', async (t) => {
  const { bus, write } = setUp()
  write(...Array.from({ length: 1000 }, (_, index) => `k${index}`))
  write(...Array.from({ length: 1001 }, (_, index) => `k${index}`))
  t.equal(bus.announced[0]?.changes?.length, 1000)
  t.same(bus.announced[1], { from: 'me', number: 2, seq: 2001, changes: null })
})

t.test(
  'an announcement without changes is acknowledged once all deciders have applied a reading that shows it',
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

t.test('a write that found nothing to do waits until every decider has read the feed up to it', async (t) => {
  const { store, bus, decider, instance, write } = setUp()
  await instance.start()
  // Its instance has not announced it.
  const { seq } = store.commit('a')
  const { promise, resolve } = Promise.withResolvers<void>()
  decider.answer = promise
  const written = write()
  bus.receiver?.announced({ from: 'you', number: 4, seq, changes: [] })
  await settled()
  t.equal(decider.readings.at(-1)?.head.seq, seq)
  t.same(bus.announced, [{ from: 'me', number: 1, seq, changes: null }])
  t.same([written.isAnswered, bus.acknowledged], [false, []])
  resolve()
  await settled()
  t.equal(written.isAnswered, true)
  t.same(bus.acknowledged, [{ to: 'you', from: 'me', number: 4 }])
  await instance.close()
})

t.test('a reading in flight at the announcement is not enough', async (t) => {
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

t.test('a failed reading, or one that does not show the change, is not enough', async (t) => {
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
  const late = new FakeDecider()
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

t.test('its beat reports what all deciders have applied', async (t) => {
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
  t.equal(applied(), 1, 'it has received 2 and not confirmed it')
  resolve()
  await settled()
  await instance.renew()
  t.equal(applied(), 2)
  const late = new FakeDecider()
  instance.join(late)
  await instance.renew()
  t.equal(applied(), 0, 'the state of a new decider is unknown')
  await instance.renew()
  t.equal(applied(), 2)
  await instance.close()
})

t.test('changes applied in a history that may be another do not count', async (t) => {
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

t.test('a reading that a decider fails to apply does not count as applied', async (t) => {
  const { store, decider, instance } = setUp()
  await instance.start()
  store.commit('a')
  decider.answer = Promise.reject(new Error('no memory'))
  await instance.renew()
  await instance.renew()
  t.equal(store.rows.get('me')?.applied, 0)
  await instance.close()
})

t.test('without a bus, it reports at once what it has applied; with a bus, at the next beat', async (t) => {
  for (const up of [false, true]) {
    const { clock, store, bus, instance } = setUp()
    bus.up = up
    await instance.start()
    store.commit('a')
    await instance.renew()
    const calls = store.calls.length
    await clock.pass(10)
    t.equal(store.calls.length - calls, up ? 0 : 1)
    t.equal(store.rows.get('me')?.applied, up ? 0 : 1)
    await instance.close()
  }
})

t.test('as soon as all its deciders have applied it', async (t) => {
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

t.test('when closed, it stops following, leaves the list and closes the bus', async (t) => {
  for (const isDown of [false, true]) {
    const { clock, store, bus, instance } = setUp()
    await instance.start()
    store.isDown = isDown
    await instance.close()
    t.equal(store.calls.at(-1), 'leave me')
    t.equal(store.rows.has('me'), isDown)
    t.equal(bus.isClosed, true)
    await clock.pass(1000)
    t.equal(store.calls.at(-1), 'leave me')
  }
})

t.test('does not start when the store can not be read', async (t) => {
  const { store, instance } = setUp()
  store.isDown = true
  await t.rejects(instance.start(), { message: 'down' })
  t.same(instance.follower.position, null)
  store.isDown = false
  await instance.renew()
  t.same(instance.follower.position, position(0, 0))
})

t.test('files that are not read hold up neither requests nor readings for ever', async (t) => {
  let reading: Promise<void> = Promise.resolve()
  const { clock, instance, decider } = setUp({ checkFiles: () => reading })
  await instance.renew()
  const { promise, resolve } = Promise.withResolvers<void>()
  reading = promise
  clock.jump(LEASE)
  const failure = { message: 'the files of the configuration were not read in time' }
  const [request, renewed] = [t.rejects(instance.checkFiles(), failure), t.rejects(instance.renew(), failure)]
  await clock.pass(FILES_WITHIN)
  await Promise.all([request, renewed])
  t.equal(decider.readings.length, 1, 'the reading does not count')
  resolve()
  await instance.renew()
  t.equal(decider.readings.length, 2)
})

t.test('the first reading waits for the files as long as the start does', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { clock, instance, decider } = setUp({ checkFiles: () => promise })
  const renewed = instance.renew()
  await clock.pass(2 * FILES_WITHIN)
  t.equal(decider.readings.length, 0)
  resolve()
  await renewed
  t.equal(decider.readings.length, 1)
})
