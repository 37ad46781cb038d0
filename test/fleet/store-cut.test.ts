/** PostgreSQL is out of reach: memory decides while its lease lives, then nobody is let in, and all is well again by itself. */

import t from 'tap'
import { until } from '../support/servers/wait.ts'
import { now } from './board.ts'
import { type Load, underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

/** Milliseconds from the return of the store until a gateway decides again, on a machine with much else to do. */
const BACK = 5000

t.test('PostgreSQL is out of reach', async (t) => {
  const fleet = await startFleet(t, { lines: ['store', 'redis'] })
  const { gateways, postgres, first: cut } = fleet
  const back: number[] = []
  const outage = async (
    load: Load,
    concerned: readonly FleetGateway[],
    begin: () => unknown,
    end: () => unknown,
  ) => {
    await begin()
    const byMemory = await Promise.all(concerned.map((gateway) => untilRefused(load, gateway)))
    t.ok(Math.min(...byMemory) > 0, `memory decides while the lease lives: ${byMemory}`)
    if (concerned.length < gateways.length) await load.written(60)
    await end()
    back.push(...(await Promise.all(concerned.map((gateway) => untilDecided(load, gateway)))))
    await Promise.all(concerned.map((gateway) => load.decided(gateway, 50)))
  }

  const others = { unavailable: [cut.name], through: (gateway: FleetGateway) => gateway !== cut }
  await t.test('for one gateway: refused', async (t) => {
    const during = async (load: Load) => {
      for (let round = 0; round < 2; round++) {
        await load.written(40)
        const heal = () => cut.toStore?.heal()
        await outage(load, [cut], () => cut.toStore?.cut(), heal)
      }
    }
    await underLoad(t, 'one gateway cut from PostgreSQL', fleet, during, others)
  })

  await t.test('for one gateway, and Redis too: silence', async (t) => {
    const lines = [cut.toStore, cut.toRedis]
    const during = async (load: Load) => {
      for (let round = 0; round < 2; round++) {
        await load.written(40)
        const heal = () => Promise.all(lines.map((line) => line?.heal()))
        await outage(load, [cut], () => lines.map((line) => line?.freeze()), heal)
      }
    }
    await underLoad(t, 'one gateway parted from PostgreSQL and Redis', fleet, during, others)
  })

  const all = { unavailable: gateways.map(({ name }) => name), writes: true }
  await t.test('for all: it crashes', async (t) => {
    const during = async (load: Load) => {
      await load.written(100)
      await outage(
        load,
        gateways,
        () => postgres.kill(),
        () => postgres.restart(),
      )
      await load.written(100)
    }
    await underLoad(t, 'PostgreSQL crashed', fleet, during, all)
  })

  await t.test('for all: it stands still', async (t) => {
    const during = async (load: Load) => {
      await load.written(100)
      await outage(
        load,
        gateways,
        () => postgres.freeze(),
        () => postgres.thaw(),
      )
      await load.written(100)
    }
    await underLoad(t, 'PostgreSQL frozen', fleet, during, all)
  })

  t.comment(`deciding again after ${back.map((each) => each.toFixed(0)).join(', ')} ms`)
  t.ok(Math.max(...back) < BACK, 'by itself, soon after the store is back')
})

/** Until the gateway says 503. Gives how many it has decided by then. */
async function untilRefused({ tally }: Load, { name }: FleetGateway): Promise<number> {
  const refused = tally.unavailable.get(name) ?? 0
  const decided = tally.decided.get(name) ?? 0
  const isSo = () => (tally.unavailable.get(name) ?? 0) > refused
  await until(isSo, () => `gateway ${name} goes on deciding`, 1)
  return (tally.decided.get(name) ?? 0) - decided
}

/** Gives the milliseconds that it took. */
async function untilDecided(load: Load, gateway: FleetGateway): Promise<number> {
  const begun = now()
  await load.decided(gateway, 1)
  return now() - begun
}
