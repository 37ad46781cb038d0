/** PostgreSQL is unreachable: memory decides until the lease expires, then all requests get 503, and the fleet recovers alone. */

import t from 'tap'
import { Client } from '../support/client.ts'
import { until } from '../support/servers/wait.ts'
import { now } from './load-state.ts'
import { type Load, underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { byClient } from './answer-checker.ts'

const SEAT = { name: 'Known', spaces: ['s1'], permissions: ['trainings:list'] }
/** Milliseconds from the return of the store until a gateway decides again, on a busy machine. */
const RECOVERY = 5000

t.test('PostgreSQL is unreachable', async (t) => {
  const fleet = await startFleet(t, { proxies: ['store', 'redis'] })
  const { gateways, postgres, first: cut } = fleet
  const recovery: number[] = []
  const outage = async (
    load: Load,
    affected: readonly FleetGateway[],
    begin: () => unknown,
    end: () => unknown,
  ) => {
    await begin()
    await Promise.all(affected.map((gateway) => untilRefused(load, gateway)))
    if (affected.length < gateways.length) await load.written(60)
    await end()
    recovery.push(...(await Promise.all(affected.map((gateway) => untilDecided(load, gateway)))))
    await Promise.all(affected.map((gateway) => load.decided(gateway, 50)))
  }

  const others = { unavailable: [cut.name], through: (gateway: FleetGateway) => gateway !== cut }
  await t.test('for one gateway: connections are refused', async (t) => {
    const during = async (load: Load) => {
      for (let round = 0; round < 2; round++) {
        await load.written(40)
        const heal = () => cut.toStore?.heal()
        await outage(load, [cut], () => cut.toStore?.cut(), heal)
      }
    }
    await underLoad(t, 'one gateway cut from PostgreSQL', fleet, during, others)
  })

  await t.test('for one gateway, and Redis too: no responses', async (t) => {
    const proxies = [cut.toStore, cut.toRedis]
    const during = async (load: Load) => {
      for (let round = 0; round < 2; round++) {
        await load.written(40)
        const heal = () => Promise.all(proxies.map((proxy) => proxy?.heal()))
        await outage(load, [cut], () => proxies.map((proxy) => proxy?.freeze()), heal)
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

  await t.test('for all: it is frozen', async (t) => {
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
    'a Seat in memory is decided until the lease expires, then refused, then decided again',
    async (t) => {
      const made = await fleet.admin(cut, 'POST', '/v1/seats', SEAT)
      t.equal(made.status, 200)
      const headers = { authorization: `Bearer ${await fleet.token(['s1:Known'])}`, space: 's1' }
      const client = new Client(cut.port)
      const requester = byClient(client)
      const answersUntil = async (wanted: string) => {
        const answers = [await requester.ask(headers)]
        const isSo = async () => answers.push(await requester.ask(headers)) > 0 && answers.at(-1) === wanted
        await until(isSo, () => `no answer ${wanted}`)
        return answers
      }
      await answersUntil('allow')
      cut.toStore?.freeze()
      const known = await answersUntil('unavailable')
      t.match(
        known.slice(0, 3),
        ['allow', 'allow', 'allow'],
        `decisions without the store: ${known.length - 1}`,
      )
      t.same(new Set(known), new Set(['allow', 'unavailable']), 'and no denial')
      await cut.toStore?.heal()
      await answersUntil('allow')
      client.close()
    },
  )

  t.comment(`deciding again after ${recovery.map((each) => each.toFixed(0)).join(', ')} ms`)
  t.ok(Math.max(...recovery) < RECOVERY, 'it recovers alone, soon after the store is back')
})

/** Resolves when the gateway answers 503. */
async function untilRefused({ tally }: Load, { name }: FleetGateway): Promise<void> {
  const before = tally.unavailable.get(name) ?? 0
  const isSo = () => (tally.unavailable.get(name) ?? 0) > before
  await until(isSo, () => `gateway ${name} still decides`)
}

/** Returns the duration in milliseconds. */
async function untilDecided(load: Load, gateway: FleetGateway): Promise<number> {
  const begun = now()
  await load.decided(gateway, 1)
  return now() - begun
}
