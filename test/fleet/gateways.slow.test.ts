/** Gateways freeze and continue, or die and restart, while others write. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { type Load, underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

t.test('gateways freeze or die', async (t) => {
  const fleet = await startFleet(t)
  /**
   * `late`: messages to the gateway wait until it has answered what was in its sockets. If they come in time, it may read
   * them before the requests, and its lease would not matter.
   */
  const whileFrozen = async (
    load: Load,
    gateway: FleetGateway,
    messages: 'late' | 'in time',
    meanwhile: () => Promise<unknown>,
  ) => {
    if (messages === 'late') gateway.toRedis?.freeze()
    await load.whileStopped(gateway, { stop: () => gateway.freeze(), go: () => gateway.thaw() }, meanwhile)
    await gateway.toRedis?.heal()
  }

  await t.test('frozen for longer than a lease, across writes', async (t) => {
    const during = async (load: Load) => {
      for (let round = 0; round < 2; round++) {
        const gateway = fleet.at(round)
        await load.written(25)
        await load.decided(gateway, 50)
        await whileFrozen(load, gateway, 'late', () => load.written(25))
        await load.decided(gateway, 50)
      }
    }
    await underLoad(t, 'gateway frozen and thawed', fleet, during)
  })

  await t.test('frozen for less than a lease, again and again', async (t) => {
    const during = async (load: Load) => {
      for (let round = 0; round < 6; round++) {
        await load.written(18)
        const messages = round % 2 === 0 ? 'late' : 'in time'
        await whileFrozen(load, fleet.at(round % 3), messages, () => sleep(100 + Math.random() * LEASE))
        await load.decided(fleet.at(round % 3), 20)
      }
    }
    await underLoad(t, 'gateway frozen for moments', fleet, during)
  })

  await t.test('killed across writes, and started again', async (t) => {
    const during = async (load: Load) => {
      await load.written(20)
      await fleet.first.kill()
      await load.written(50)
      await fleet.first.start()
      await load.decided(fleet.first, 50)
      await load.written(30)
    }
    const tally = await underLoad(t, 'gateway killed and restarted', fleet, during, { broken: ['a'] })
    t.ok(tally.quantile(1) < 10 * (LEASE + MARGIN), 'a dead gateway delays no write for ten leases')
  })
})
