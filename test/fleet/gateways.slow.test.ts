/** Gateways freeze and continue, or die and restart, while others write. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { type Load, underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'

/** Milliseconds that a busy machine may add to a write. */
const BUSY = 5000

const ALL = ['a', 'b', 'c']
/** A statement from before a freeze has timed out when the gateway continues. */
const FROZEN = { unavailable: ALL }

t.test('gateways freeze or die', async (t) => {
  const fleet = await startFleet(t)
  const frozen = (index: number) => {
    const gateway = fleet.at(index % 3)
    return [gateway, { stop: () => gateway.freeze(), go: () => gateway.thaw() }] as const
  }

  await t.test('frozen for longer than a lease, across writes', async (t) => {
    const during = async (load: Load) => {
      for (let round = 0; round < 4; round++) {
        const [gateway, stopping] = frozen(round)
        await load.decided(gateway, 100)
        await load.whileStopped(gateway, stopping, () => load.written(50))
        await load.decided(gateway, 200)
      }
    }
    await underLoad(t, 'gateway frozen and thawed', fleet, during, FROZEN)
  })

  await t.test('frozen for less than a lease, again and again', async (t) => {
    const during = async (load: Load) => {
      for (let round = 0; round < 12; round++) {
        await load.written(18)
        await load.whileStopped(...frozen(round), () => sleep(100 + Math.random() * LEASE))
      }
    }
    await underLoad(t, 'gateway frozen for moments', fleet, during, FROZEN)
  })

  await t.test('killed across writes, and started again', async (t) => {
    const during = async (load: Load) => {
      for (let round = 0; round < 2; round++) {
        const gateway = fleet.at(round)
        await load.written(40)
        await gateway.kill()
        await load.written(60)
        await gateway.start()
        await load.decided(gateway, 50)
      }
    }
    const tally = await underLoad(t, 'gateway killed and restarted', fleet, during, { broken: ALL })
    t.ok(
      tally.quantile(1) < LEASE + MARGIN + BUSY,
      'a dead gateway delays no write for much longer than a lease',
    )
  })
})
