/**
 * The clock of leases, stopped, and the readings of the feed, held: memory may be used once the store was
 * read.
 */

import { mock } from 'node:test'
import type { Test } from 'tap'
import { systemClock } from '../../src/coherence/clock.ts'
import { Follower } from '../../src/coherence/follower.ts'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { until } from './until.ts'
import type { World } from './world.ts'
import { metric } from './operations.ts'

/** Resolves when the gateways, which have started before, have a lease; they keep it until the test ends. */
export async function holdLease(t: Test, ...worlds: readonly World[]): Promise<void> {
  // By then no former owner of the store has a lease, so that writes are acknowledged at once.
  const now = systemClock.now() + LEASE + MARGIN
  const wall = systemClock.wall()
  const clocks = [mock.method(systemClock, 'now', () => now), mock.method(systemClock, 'wall', () => wall)]
  t.teardown(() => {
    for (const clock of clocks) clock.mock.restore()
  })
  for (const world of worlds)
    await until(async () => (await metric(world, 'seatgate_lease_live')) === 1, 'the lease of a gateway')
}

/**
 * Until the test ends, gateways read the feed of the store only if a request needs it. Resolves once the
 * reading that was due has ended: a slow one would still find what the test writes next.
 */
export async function holdReadings(t: Test): Promise<void> {
  const readings = mock.method(Follower.prototype, 'renew')
  const timers = mock.method(systemClock, 'after', () => () => {})
  t.teardown(() => {
    timers.mock.restore()
    readings.mock.restore()
  })
  await until(() => timers.mock.callCount() > 0, 'the reading that was due')
  await Promise.allSettled(readings.mock.calls.map(({ result }) => result))
}

/**
 * Makes one change, and resolves when the gateway has read it from the feed too. The gateway then drops what
 * it has read of the record since the announcement, so that the next request would ask the store.
 */
export async function changeRead<T>(world: World, change: () => Promise<T>): Promise<T> {
  const seq = () => metric(world, 'seatgate_feed_seq')
  const before = await seq()
  const result = await change()
  await until(async () => (await seq()) > before, 'the reading of the change')
  return result
}
