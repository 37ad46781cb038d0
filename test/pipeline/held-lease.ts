/** The clock of leases, stopped: however slow the machine is, memory may be used once the store was read. */

import { mock } from 'node:test'
import type { Test } from 'tap'
import { systemClock } from '../../src/coherence/clock.ts'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { until } from '../support/servers/wait.ts'
import type { World } from '../support/world.ts'

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
    await until(
      async () => (await metricOf(world, 'seatgate_lease_live')) === 1,
      () => 'a gateway has no lease',
    )
}

/**
 * Makes one change, and resolves when the gateway has read it from the feed as well: it drops then what it has of the record
 * since the announcement, so that the next request would ask the store.
 */
export async function changeRead<T>(world: World, change: () => Promise<T>): Promise<T> {
  const seq = () => metricOf(world, 'seatgate_feed_seq')
  const before = await seq()
  const result = await change()
  await until(
    async () => (await seq()) > before,
    () => 'the gateway has not read the change',
  )
  return result
}

async function metricOf({ ops }: World, name: string): Promise<number> {
  const text = await (await fetch(`${ops}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}
