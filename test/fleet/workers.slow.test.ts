/** Several workers in each gateway: one of them dies or freezes. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { LEASE } from '../../src/coherence/lease.ts'
import { until } from '../support/until.ts'
import { type Load, underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

t.test('workers', async (t) => {
  const fleet = await startFleet(t, { gateways: 2, workers: 2 })
  for (const { name, workers } of fleet.gateways)
    t.equal(workers.length, 2, `gateway ${name} has two workers`)
  /** A different worker each round: each of both gateways within four. */
  const worker = (round: number) => {
    const gateway = fleet.at(round % 2)
    const pid = gateway.workers[round % 4 < 2 ? 0 : 1] ?? 0
    const stop = () => void process.kill(pid, 'SIGSTOP')
    return { gateway, pid, stopping: { stop, go: () => void process.kill(pid, 'SIGCONT') } }
  }

  await t.test('no faults', async (t) => {
    await underLoad(t, 'workers, calm', fleet, (load) => load.written(100))
  })

  await t.test('one freezes for moments', async (t) => {
    const during = async (load: Load) => {
      for (let round = 0; round < 6; round++) {
        const { gateway, stopping } = worker(round)
        await load.written(18)
        await load.whileStopped(gateway, stopping, () => sleep(100 + Math.random() * LEASE))
        await load.decided(gateway, 20)
      }
    }
    await underLoad(t, 'worker frozen for moments', fleet, during)
  })

  await t.test('one freezes for longer than a lease', async (t) => {
    const during = async (load: Load) => {
      for (let round = 0; round < 2; round++) {
        const { gateway, stopping } = worker(round)
        await load.written(50)
        await load.whileStopped(gateway, stopping, () => sleep(2.5 * LEASE))
      }
    }
    const unavailable = fleet.gateways.map(({ name }) => name)
    await underLoad(t, 'worker frozen', fleet, during, { unavailable, writes: true })
  })

  await t.test('one is killed and replaced', async (t) => {
    const during = async (load: Load) => {
      const { gateway, pid } = worker(0)
      await load.written(20)
      process.kill(pid, 'SIGKILL')
      await load.written(50)
      await whole(gateway)
      await load.written(30)
    }
    await underLoad(t, 'worker killed', fleet, during, { broken: [fleet.first.name], writes: true })
  })
})

function whole(gateway: FleetGateway): Promise<void> {
  const isDone = async () => (await gateway.ready())['workers'] === 'ok'
  return until(isDone, () => `gateway ${gateway.name} does not replace its worker`, { pause: 20 })
}
