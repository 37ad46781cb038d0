/** A store's health after failed and successful calls. */

import t from 'tap'
import { Health, type HealthState, type Work } from '../../../seats-admin/store/health.ts'
import { type StoreFault, StoreUnavailable } from '../../../seats-admin/store/store.ts'

const HEALTHY: HealthState = { reads: null, lists: null, writes: null }
const unavailable = (fault: StoreFault | null) => new StoreUnavailable('not now', { fault })
/** Resolves once all pending promise reactions have run. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** `retries()` ends the pauses between retries. */
function setUp() {
  const pauses: (() => void)[] = []
  const health = new Health((signal) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => resolve())
    pauses.push(resolve)
    return promise
  })
  const retries = async () => {
    await settled()
    for (const end of pauses.splice(0)) end()
    await settled()
  }
  const states: HealthState[] = []
  health.listen((state) => void states.push(state))
  let calls = 0
  const call = (work: Work, outcome: () => Promise<unknown>, hasStored = true) =>
    health
      .observe(
        work,
        () => {
          calls++
          return outcome()
        },
        () => hasStored,
      )
      .catch(() => 'rejected')
  return { health, states, call, retries, calls: () => calls }
}

t.test('a repeated failure of a read counts until that read succeeds, whatever other reads do', async (t) => {
  const { health, states, call, retries, calls } = setUp()
  let outcome: () => Promise<unknown> = () => Promise.reject(unavailable('corrupt'))
  t.equal(await call('reads', () => outcome()), 'rejected', 'the caller gets its own result')
  await settled()
  t.same([calls(), health.state], [2, { ...HEALTHY, reads: 'corrupt' }], 'retried at once')
  t.equal(await call('reads', async () => 1), 1)
  await retries()
  t.same([calls(), health.state.reads], [4, 'corrupt'], 'other pages do not matter')
  outcome = async () => 1
  await retries()
  t.same([calls(), health.state.reads], [5, null])
  await retries()
  t.equal(calls(), 5, 'not retried any more')
  t.same(states, [HEALTHY, { ...HEALTHY, reads: 'corrupt' }, HEALTHY])
  health.close()
})

t.test('a call that succeeds when retried was no fault of the store', async (t) => {
  const { health, states, call, retries, calls } = setUp()
  let first = true
  await call('reads', async () => {
    if (!first) return 1
    first = false
    throw unavailable('timeout')
  })
  await retries()
  t.same([calls(), states], [2, [HEALTHY]])
  t.same(health.state, HEALTHY)
})

t.test('errors that a value can cause do not count, and are not retried', async (t) => {
  const { health, call, retries, calls } = setUp()
  await call('reads', () => Promise.reject(unavailable(null)))
  await call('lists', () => Promise.reject(new Error('invalid byte sequence')))
  await retries()
  t.same([calls(), health.state], [2, HEALTHY])
})

t.test('a write is never retried: the newest write determines the state', async (t) => {
  const { health, states, call, retries, calls } = setUp()
  await call('writes', () => Promise.reject(unavailable('disk_full')))
  await retries()
  t.same([calls(), health.state], [1, { ...HEALTHY, writes: 'disk_full' }])
  await call('writes', () => Promise.reject(unavailable(null)))
  t.equal(health.state.writes, 'disk_full')
  await call('writes', async () => 1)
  t.same(health.state, HEALTHY)
  t.equal(states.length, 3)
})

t.test('a write that stores nothing ends the faults of reaching the store, and no other', async (t) => {
  const { health, call } = setUp()
  for (const fault of ['disk_full', 'io_error', 'corrupt', 'read_only', 'denied'] as const) {
    await call('writes', () => Promise.reject(unavailable(fault)))
    await call('writes', async () => 1, false)
    t.equal(health.state.writes, fault)
    await call('writes', async () => 1)
    t.equal(health.state.writes, null, `${fault}, and a write that stores`)
  }
  for (const fault of ['locked', 'timeout', 'unreachable'] as const) {
    await call('writes', () => Promise.reject(unavailable(fault)))
    await call('writes', async () => 1, false)
    t.equal(health.state.writes, null, fault)
  }
})

t.test('of many failures, eight are retried, and none after the close', async (t) => {
  const { health, call, retries, calls } = setUp()
  await Promise.all(
    Array.from({ length: 100 }, () => call('lists', () => Promise.reject(unavailable('io_error')))),
  )
  // The first failure is retried alone, at once; the next retry includes seven of those that arrived meanwhile.
  await settled()
  t.equal(calls(), 101)
  await retries()
  t.equal(calls(), 109)
  t.equal(health.state.lists, 'io_error')
  health.close()
  await retries()
  t.equal(calls(), 109)
})

t.test('without another pause, calls are retried in real time', async (t) => {
  const health = new Health()
  t.teardown(() => health.close())
  const { promise, resolve } = Promise.withResolvers<void>()
  let calls = 0
  const call = () => {
    calls++
    if (calls === 3) resolve()
    return Promise.reject(unavailable('io_error'))
  }
  await health.observe('reads', call).catch(() => {})
  // The pause keeps no process alive.
  const awake = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(awake))
  await promise
  t.equal(health.state.reads, 'io_error')
})
