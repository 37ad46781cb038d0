/** Whether a process may decide by its tables of the store, while activations arrive and the store is read. */

import t from 'tap'
import type { NumberedChange } from '../../seats-admin/model/change.ts'
import { CURRENT_WITHIN, CurrentTables, type TablesAsOf } from '../../src/coherence/current-tables.ts'
import { ManualClock, settled } from './support.ts'

const TENANT = 'acme'

/** Version with these files. */
const setOf = (version: number, files = 'first') => ({ version, digest: `${files} ${version}` })
const asOf = (version: number, seq: number, files = 'first') => ({ ...setOf(version, files), seq })

function activation(version: number, seq: number, tenant = TENANT, files = 'first'): NumberedChange {
  const key = JSON.stringify({ ...setOf(version, files), candidate: `${files} ${version}` })
  return { tenant, kind: 'tables', key, seq, mark: (files === 'first' ? 1000 : 2000) + seq }
}

/** A process with version 5 of the tables, which the store has had since change 100. */
function setUp() {
  const lease = {
    isLive: true,
    received: 100,
    live: () => lease.isLive,
    renewed: () => Promise.resolve(),
    readUpTo: (seq: number) =>
      lease.received < seq ? Promise.reject(new Error('the feed does not show it')) : Promise.resolve(),
  }
  const readings: PromiseWithResolvers<TablesAsOf>[] = []
  const reader = {
    checkFiles: () => Promise.resolve(),
    checkTables: () => {
      const reading = Promise.withResolvers<TablesAsOf>()
      readings.push(reading)
      return reading.promise
    },
  }
  const activated: number[] = []
  const clock = new ManualClock()
  const start = { tenant: TENANT, ...setOf(5) }
  const tables = new CurrentTables(start, lease, reader, (mark) => activated.push(mark), clock)
  /** Answers the newest reading of the store. */
  const answer = async (read: TablesAsOf) => {
    readings.at(-1)?.resolve(read)
    await settled()
  }
  return { lease, clock, readings, activated, tables, answer }
}

/** As {@link setUp}, after the first reading of the store. */
async function setUpCurrent() {
  const world = setUp()
  const check = world.tables.check()
  await world.answer(asOf(5, 100))
  await check
  return world
}

/** Whether the promise has resolved by now. */
async function hasResolved(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  await settled()
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending
}

t.test('a process decides once the store has shown its version', async (t) => {
  const { tables, lease } = await setUpCurrent()
  t.ok(tables.areCurrent())
  lease.isLive = false
  t.notOk(tables.areCurrent(), 'without a lease, a request waits')
})

t.test('an activation closes the gate until its version is active', async (t) => {
  const { tables, lease, activated } = await setUpCurrent()
  tables.applyAnnouncement([activation(6, 101)])
  lease.received = 101
  t.notOk(tables.areCurrent())
  t.same(activated, [])
  tables.activate(setOf(6))
  t.ok(tables.areCurrent())
  t.same(activated, [1101])
})

t.test('tables that are active before earlier changes have arrived decide nothing', async (t) => {
  const { tables, lease } = await setUpCurrent()
  tables.activate(setOf(6))
  tables.applyAnnouncement([activation(6, 102)])
  t.notOk(tables.areCurrent())
  lease.received = 102
  t.ok(tables.areCurrent())
})

t.test('another tenant may have tables of its own', async (t) => {
  const { tables } = await setUpCurrent()
  tables.applyAnnouncement([activation(6, 101, 'globex')])
  t.ok(tables.areCurrent())
})

t.test('an activation during the first reading of the store counts, as that one may be older', async (t) => {
  const { tables, lease, readings, answer } = setUp()
  const check = tables.check()
  tables.applyAnnouncement([activation(6, 101)])
  lease.received = 101
  await answer(asOf(5, 100))
  t.notOk(await hasResolved(check))
  t.notOk(tables.areCurrent())
  t.equal(readings.length, 2)
  tables.activate(setOf(6))
  await answer(asOf(6, 101))
  await check
  t.ok(tables.areCurrent())
})

t.test('what was read of an earlier history does not count', async (t) => {
  const { tables, lease, readings, answer } = setUp()
  const check = tables.check()
  // The store was restored while the tables of the former one were compiled.
  tables.applyReading(null)
  lease.received = 50
  await answer(asOf(5, 100))
  t.notOk(await hasResolved(check))
  t.equal(readings.length, 2)
  tables.activate(setOf(3))
  await answer(asOf(3, 50))
  await check
  t.ok(tables.areCurrent())
  tables.applyReading([activation(4, 60)])
  lease.received = 60
  t.notOk(tables.areCurrent(), 'an activation of the restored store has a lower number')
  tables.activate(setOf(4))
  t.ok(tables.areCurrent())
})

t.test('a store that was restored may activate the same number with other files', async (t) => {
  for (const [version, seq] of [
    [5, 101],
    // With a lower number of the change, too: the restored feed has not been read yet.
    [5, 60],
    [3, 60],
  ] as const) {
    const { tables, lease, activated, readings, answer } = await setUpCurrent()
    tables.applyAnnouncement([activation(version, seq, TENANT, 'other')])
    lease.received = Math.max(seq, 100)
    t.notOk(tables.areCurrent(), `version ${version}, change ${seq}`)
    t.same(activated, [], 'nothing was cut by these tables yet')
    const check = tables.check()
    tables.activate(setOf(version, 'other'))
    await settled()
    for (const each of readings.slice(1)) each.resolve(asOf(version, seq, 'other'))
    await answer(asOf(version, seq, 'other'))
    await check
    t.ok(tables.areCurrent())
    t.same(activated, [2000 + seq])
  }
})

t.test('an activation before a reading of another history is reported after the next one', async (t) => {
  const { tables, lease, activated, answer } = await setUpCurrent()
  tables.applyAnnouncement([activation(5, 101, TENANT, 'other')])
  tables.applyReading(null)
  lease.received = 101
  const check = tables.check()
  tables.activate(setOf(5, 'other'))
  await settled()
  t.same(activated, [], 'the newest one is not known')
  await answer(asOf(5, 101, 'other'))
  await check
  t.same(activated, [2101])
})

t.test('an activation that arrives after a later one makes the process read once', async (t) => {
  const { tables, lease, activated, readings, answer } = await setUpCurrent()
  tables.applyAnnouncement([activation(7, 102)])
  tables.activate(setOf(7))
  lease.received = 102
  t.ok(tables.areCurrent())
  for (let times = 0; times < 2; times++) tables.applyAnnouncement([activation(6, 101)])
  t.notOk(tables.areCurrent())
  await settled()
  t.equal(readings.length, 2, 'without a request')
  await answer(asOf(7, 102))
  t.ok(tables.areCurrent())
  t.same(activated, [1102, 1101])
  tables.applyReading([activation(6, 101), activation(7, 102)])
  t.ok(tables.areCurrent())
  t.equal(readings.length, 2)
})

t.test('a request waits for a slow store within one time for all readings', async (t) => {
  const { tables, lease, clock, answer } = await setUpCurrent()
  lease.isLive = false
  // Each step responds within its own bound.
  const slowly = () => new Promise<void>((resolve) => void clock.after(1900, resolve))
  lease.renewed = slowly
  lease.readUpTo = slowly
  tables.applyAnnouncement([activation(6, 101)])
  let failed: unknown = null
  const check = tables.check().catch((cause: unknown) => (failed = cause))
  const answering = async () => {
    for (let times = 0; times < 3; times++) {
      await clock.pass(1900)
      await answer(asOf(5, 100))
    }
  }
  await answering()
  await check
  t.match(failed, { message: 'the store responds too slowly' })
  t.ok(clock.now() >= CURRENT_WITHIN && clock.now() < CURRENT_WITHIN + 1900)
})

t.test('a notice that cannot be read makes a reading count that begins after it', async (t) => {
  const { tables, lease, answer } = await setUpCurrent()
  const other = { ...activation(6, 101), key: '["of a newer version"]' }
  tables.applyReading(null)
  const check = tables.check()
  tables.applyAnnouncement([other])
  lease.received = 101
  await answer(asOf(5, 100))
  t.notOk(await hasResolved(check))
  tables.activate(setOf(6))
  await answer(asOf(6, 101))
  await check
  t.ok(tables.areCurrent())
})

t.test('a decision that waited counts by the tables of its state alone', async (t) => {
  const { tables, lease, answer } = await setUpCurrent()
  lease.isLive = false
  t.notOk(tables.areReplaced(), 'a reading of the feed serves it without a lease')
  tables.applyAnnouncement([activation(6, 102)])
  t.ok(tables.areReplaced(), 'the version is not active yet')
  tables.activate(setOf(6))
  t.ok(tables.areReplaced(), 'an earlier change has not arrived yet')
  lease.received = 102
  t.notOk(tables.areReplaced())
  tables.applyReading(null)
  t.ok(tables.areReplaced())
  const check = tables.check()
  await settled()
  await answer(asOf(6, 102))
  await check
  t.notOk(tables.areReplaced())
})
