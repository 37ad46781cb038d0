/** PostgreSQL is out of reach: memory decides while its lease lives, then nobody is let in, and all is well again by itself. */

import t from 'tap'
import { Client } from '../support/client.ts'
import { until } from '../support/servers/wait.ts'
import { now } from './board.ts'
import { type Load, underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { byClient } from './judge.ts'

const SEAT = { name: 'Known', spaces: ['s1'], permissions: ['trainings:list'] }
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
    await Promise.all(concerned.map((gateway) => untilRefused(load, gateway)))
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

  await t.test(
    'what is in memory is decided while the lease lives, then refused, then decided',
    async (t) => {
      const made = await fleet.admin(cut, 'POST', '/v1/seats', SEAT)
      t.equal(made.status, 200)
      const headers = { authorization: `Bearer ${await fleet.token(['s1:Known'])}`, space: 's1' }
      const client = new Client(cut.port)
      const asker = byClient(client)
      const says = async (wanted: string) => {
        const answers = [await asker.ask(headers)]
        const isSo = async () => answers.push(await asker.ask(headers)) > 0 && answers.at(-1) === wanted
        await until(isSo, () => `it never says ${wanted}`)
        return answers
      }
      await says('allow')
      cut.toStore?.freeze()
      const known = await says('unavailable')
      t.match(
        known.slice(0, 3),
        ['allow', 'allow', 'allow'],
        `decided without the store: ${known.length - 1}`,
      )
      t.same(new Set(known), new Set(['allow', 'unavailable']), 'and never said no')
      await cut.toStore?.heal()
      await says('allow')
      client.close()
    },
  )

  t.comment(`deciding again after ${back.map((each) => each.toFixed(0)).join(', ')} ms`)
  t.ok(Math.max(...back) < BACK, 'by itself, soon after the store is back')
})

/** Until the gateway says 503. */
async function untilRefused({ tally }: Load, { name }: FleetGateway): Promise<void> {
  const before = tally.unavailable.get(name) ?? 0
  const isSo = () => (tally.unavailable.get(name) ?? 0) > before
  await until(isSo, () => `gateway ${name} goes on deciding`)
}

/** Gives the milliseconds that it took. */
async function untilDecided(load: Load, gateway: FleetGateway): Promise<number> {
  const begun = now()
  await load.decided(gateway, 1)
  return now() - begun
}
