/** A store's health after failed and successful calls. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Health, type HealthState, type Work } from '../../../seats-admin/store/health.ts'
import { type StoreFault, StoreUnavailable } from '../../../seats-admin/store/store.ts'
import { until } from '../../support/servers/wait.ts'

const HEALTHY: HealthState = { reads: null, lists: null, writes: null }
const unavailable = (fault: StoreFault | null) => new StoreUnavailable('not now', { fault })

function setUp() {
  const health = new Health()
  const states: HealthState[] = []
  health.listen((state) => void states.push(state))
  let calls = 0
  const call = (work: Work, outcome: () => Promise<unknown>) =>
    health
      .observe(work, () => {
        calls++
        return outcome()
      })
      .catch(() => 'rejected')
  return { health, states, call, calls: () => calls }
}

t.test('a repeated failure of a read counts until that read succeeds, whatever other reads do', async (t) => {
  const { health, states, call } = setUp()
  let outcome: () => Promise<unknown> = () => Promise.reject(unavailable('corrupt'))
  t.equal(await call('reads', () => outcome()), 'rejected', 'the caller gets its own result')
  await until(
    () => health.state.reads !== null,
    () => 'no fault is reported',
  )
  t.same(health.state, { ...HEALTHY, reads: 'corrupt' })
  t.equal(await call('reads', async () => 1), 1)
  await sleep(700)
  t.equal(health.state.reads, 'corrupt', 'other pages do not matter')
  outcome = async () => 1
  await until(
    () => health.state.reads === null,
    () => 'the fault is still reported',
  )
  t.same(states, [HEALTHY, { ...HEALTHY, reads: 'corrupt' }, HEALTHY])
  health.close()
})

t.test('a call that succeeds when retried was no fault of the store', async (t) => {
  const { health, states, call, calls } = setUp()
  let first = true
  await call('reads', async () => {
    if (!first) return 1
    first = false
    throw unavailable('timeout')
  })
  await sleep(50)
  t.same([calls(), states], [2, [HEALTHY]])
  t.same(health.state, HEALTHY)
})

t.test('errors that a value can cause do not count, and are not retried', async (t) => {
  const { health, call, calls } = setUp()
  await call('reads', () => Promise.reject(unavailable(null)))
  await call('lists', () => Promise.reject(new Error('invalid byte sequence')))
  await sleep(50)
  t.same([calls(), health.state], [2, HEALTHY])
})

t.test('a write is never retried: the newest write determines the state', async (t) => {
  const { health, states, call, calls } = setUp()
  await call('writes', () => Promise.reject(unavailable('disk_full')))
  await sleep(50)
  t.same([calls(), health.state], [1, { ...HEALTHY, writes: 'disk_full' }])
  await call('writes', () => Promise.reject(unavailable(null)))
  t.equal(health.state.writes, 'disk_full')
  await call('writes', async () => 1)
  t.same(health.state, HEALTHY)
  t.equal(states.length, 3)
})

t.test('of many failures, eight are retried, and none after the close', async (t) => {
  const { health, call, calls } = setUp()
  await Promise.all(
    Array.from({ length: 100 }, () => call('lists', () => Promise.reject(unavailable('io_error')))),
  )
  // The first failure is retried alone, at once; the next retry includes seven of those that arrived meanwhile.
  await until(
    () => calls() === 109,
    () => `${calls()} calls`,
  )
  t.equal(health.state.lists, 'io_error')
  health.close()
  await sleep(700)
  t.equal(calls(), 109)
})
