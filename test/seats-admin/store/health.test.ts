/** What a store's health says after calls that fail and succeed. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Health, type HealthState, type Work } from '../../../seats-admin/store/health.ts'
import { type StoreFault, StoreUnavailable } from '../../../seats-admin/store/store.ts'
import { until } from '../../support/servers/wait.ts'

const WELL: HealthState = { reads: null, lists: null, writes: null }
const unavailable = (fault: StoreFault | null) => new StoreUnavailable('not now', { fault })

function setUp() {
  const health = new Health()
  const told: HealthState[] = []
  health.listen((state) => void told.push(state))
  let asked = 0
  const ask = (work: Work, outcome: () => Promise<unknown>) =>
    health
      .observe(work, () => {
        asked++
        return outcome()
      })
      .catch(() => 'rejected')
  return { health, told, ask, asked: () => asked }
}

t.test('a read that fails again counts until it succeeds, whatever others do', async (t) => {
  const { health, told, ask } = setUp()
  let outcome: () => Promise<unknown> = () => Promise.reject(unavailable('corrupt'))
  t.equal(await ask('reads', () => outcome()), 'rejected', 'the caller has its own answer')
  await until(
    () => health.state.reads !== null,
    () => 'it is not said',
  )
  t.same(health.state, { ...WELL, reads: 'corrupt' })
  t.equal(await ask('reads', async () => 1), 1)
  await sleep(700)
  t.equal(health.state.reads, 'corrupt', 'other pages are another matter')
  outcome = async () => 1
  await until(
    () => health.state.reads === null,
    () => 'it is not well',
  )
  t.same(told, [WELL, { ...WELL, reads: 'corrupt' }, WELL])
  health.close()
})

t.test('one that succeeds when it is tried again was no fault of the store', async (t) => {
  const { health, told, ask, asked } = setUp()
  let first = true
  await ask('reads', async () => {
    if (!first) return 1
    first = false
    throw unavailable('timeout')
  })
  await sleep(50)
  t.same([asked(), told], [2, [WELL]])
  t.same(health.state, WELL)
})

t.test('what a value can bring about says nothing, and is not tried again', async (t) => {
  const { health, ask, asked } = setUp()
  await ask('reads', () => Promise.reject(unavailable(null)))
  await ask('lists', () => Promise.reject(new Error('invalid byte sequence')))
  await sleep(50)
  t.same([asked(), health.state], [2, WELL])
})

t.test('a write is never tried again: the newest one says how it is', async (t) => {
  const { health, told, ask, asked } = setUp()
  await ask('writes', () => Promise.reject(unavailable('disk_full')))
  await sleep(50)
  t.same([asked(), health.state], [1, { ...WELL, writes: 'disk_full' }])
  await ask('writes', () => Promise.reject(unavailable(null)))
  t.equal(health.state.writes, 'disk_full')
  await ask('writes', async () => 1)
  t.same(health.state, WELL)
  t.equal(told.length, 3)
})

t.test('many that fail: eight are tried again, and none after the end', async (t) => {
  const { health, ask, asked } = setUp()
  await Promise.all(
    Array.from({ length: 100 }, () => ask('lists', () => Promise.reject(unavailable('io_error')))),
  )
  // The first that failed is tried alone, at once; with it, seven of those that came meanwhile.
  await until(
    () => asked() === 109,
    () => `${asked()} calls`,
  )
  t.equal(health.state.lists, 'io_error')
  health.close()
  await sleep(700)
  t.equal(asked(), 109)
})
