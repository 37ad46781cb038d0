/** What is known of an owner that held the most, while others ask on. */

import t, { type Test } from 'tap'
import { RequestPool } from '../../../src/http/client/request-pool.ts'
import type { RequestOwner } from '../../../src/http/client/upstream-request.ts'
import { serve } from '../../proxy/support.ts'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { until } from '../../support/until.ts'
import { PooledRequest } from './pool-requests.ts'
import { poolSettings } from './pool-settings.ts'

const HEAVY: RequestOwner = ['acme', 'alice']
const BUSY: RequestOwner = ['globex', 'carol']
const SLOTS = 16
/** Milliseconds before an eviction. */
const DELAY = 100

interface Served {
  readonly pool: RequestPool
  /** Ends the responses that have begun and not ended, but for this number. */
  endEvents(left: number): void
}

/** Twice as many short requests as there are slots, at all times. */
class Flood {
  #isStopped = false

  constructor(t: Test, pool: RequestPool, owner: RequestOwner) {
    const ask = () => {
      if (!this.#isStopped) void new PooledRequest(pool, owner, '/short').over.then(() => setImmediate(ask))
    }
    t.teardown(() => {
      this.#isStopped = true
    })
    for (let i = 0; i < 2 * SLOTS; i++) ask()
  }
}

async function poolAt(t: Test): Promise<Served> {
  const open = new Set<{ end(): void }>()
  const port = await serve(t, (request, response) => {
    if (request.url === '/short') return void response.end('short')
    response.flushHeaders()
    open.add(response)
    response.on('close', () => open.delete(response))
  })
  const pool = new RequestPool({ ...poolSettings(port), connections: SLOTS, evictionDelay: DELAY })
  t.teardown(() => pool.destroy())
  return {
    pool,
    endEvents: (left) => {
      for (const each of [...open].slice(left)) each.end()
    },
  }
}

/** Those that stay open of the owner with the most requests that last. */
const LEFT = { none: 0, 'some, of another tenant': 3, 'some, of another caller of the tenant': 3 }

for (const [left, count] of Object.entries(LEFT))
  t.test(
    `an owner gets its turn among short requests of another; of its long ones are left: ${left}`,
    async (t) => {
      const busy: RequestOwner = left.endsWith('caller of the tenant') ? ['acme', 'bob'] : BUSY
      const time = holdTime(t)
      const { pool, endEvents } = await poolAt(t)
      const streams = Array.from({ length: SLOTS }, () => new PooledRequest(pool, HEAVY, '/events'))
      await until(() => streams.every(({ status }) => status === 200), 'all slots in use')
      time.pass(10 * DELAY)
      const first = new PooledRequest(pool, busy, '/short')
      await until(() => first.isOver, 'the first response')
      t.equal(first.status, 200)
      endEvents(count)
      const open = () => streams.filter(({ isOver }) => !isOver).length
      await until(() => open() === count, 'the end of the streams')
      new Flood(t, pool, busy)
      // None of these is evicted, as they are short.
      const asked = new PooledRequest(pool, HEAVY, '/short')
      let steps = 0
      await untilStepped(time, () => asked.isOver || ++steps > 1200)
      t.equal(asked.status, 200)
      t.equal(open(), count)
    },
  )

t.test('requests of the owner that has all slots do not search them one by one', async (t) => {
  const time = holdTime(t)
  const { pool } = await poolAt(t)
  const streams = Array.from({ length: SLOTS }, () => new PooledRequest(pool, HEAVY, '/events'))
  await until(() => streams.every(({ status }) => status === 200), 'all slots in use')
  time.pass(10 * DELAY)
  const searches = t.capture(pool, 'slots', pool.slots.bind(pool))
  for (let i = 0; i < 100; i++) new PooledRequest(pool, HEAVY, '/short')
  t.ok(searches().length <= 2, 'until the next check')
  time.pass(DELAY)
  searches()
  const other = new PooledRequest(pool, BUSY, '/short')
  await until(() => other.isOver, 'the response to another')
  t.equal(other.status, 200)
})
