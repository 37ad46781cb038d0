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
  for (const { ops } of worlds)
    await until(
      async () => /^seatgate_lease_live 1$/m.test(await (await fetch(`${ops}/metrics`)).text()),
      () => 'a gateway has no lease',
    )
}
