/** PostgreSQL is unreachable: memory decides until the lease expires, then all requests get 503, and the fleet recovers alone. */

import t from 'tap'
import { Client } from '../support/client.ts'
import { until } from '../support/until.ts'
import { type Load, underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { byClient } from './answer-checker.ts'

t.test('PostgreSQL is unreachable', async (t) => {
  const fleet = await startFleet(t, { proxies: ['store', 'redis'] })
  const { gateways, postgres, first: cut } = fleet
  const outage = async (
    load: Load,
    affected: readonly FleetGateway[],
    begin: () => unknown,
    end: () => unknown,
  ) => {
    await begin()
    await Promise.all(affected.map((gateway) => untilRefused(load, gateway)))
    if (affected.length < gateways.length) await load.written(30)
    await end()
    await Promise.all(affected.map((gateway) => load.decided(gateway, 50)))
  }

  const others = { unavailable: [cut.name], through: (gateway: FleetGateway) => gateway !== cut }
  await t.test('for one gateway: connections are refused', async (t) => {
    const during = async (load: Load) => {
      await load.written(30)
      const heal = () => cut.toStore?.heal()
      await outage(load, [cut], () => cut.toStore?.cut(), heal)
      await load.written(40)
    }
    await underLoad(t, 'one gateway cut from PostgreSQL', fleet, during, others)
  })

  await t.test('for one gateway, and Redis too: no responses', async (t) => {
    const proxies = [cut.toStore, cut.toRedis]
    const during = async (load: Load) => {
      await load.written(30)
      const heal = () => Promise.all(proxies.map((proxy) => proxy?.heal()))
      await outage(load, [cut], () => proxies.map((proxy) => proxy?.freeze()), heal)
      await load.written(40)
    }
    await underLoad(t, 'one gateway parted from PostgreSQL and Redis', fleet, during, others)
  })

  const all = { unavailable: gateways.map(({ name }) => name), writes: true }
  await t.test('for all: it crashes', async (t) => {
    const during = async (load: Load) => {
      await load.written(50)
      await outage(
        load,
        gateways,
        () => postgres.kill(),
        () => postgres.restart(),
      )
      await load.written(50)
    }
    await underLoad(t, 'PostgreSQL crashed', fleet, during, all)
  })

  await t.test('for all: it is frozen', async (t) => {
    const during = async (load: Load) => {
      await load.written(50)
      await outage(
        load,
        gateways,
        () => postgres.freeze(),
        () => postgres.thaw(),
      )
      await load.written(50)
    }
    await underLoad(t, 'PostgreSQL frozen', fleet, during, all)
  })

  await t.test(
    'a Seat in memory is decided until the lease expires, then refused, then decided again',
    async (t) => {
      const { name } = await fleet.makeSeat(cut, 'Known')
      const headers = { authorization: `Bearer ${await fleet.token([`s1:${name}`])}`, space: 's1' }
      const client = new Client(cut.port)
      const requester = byClient(client)
      const answersUntil = async (wanted: string) => {
        const answers = [await requester.ask(headers)]
        const isSo = async () => answers.push(await requester.ask(headers)) > 0 && answers.at(-1) === wanted
        await until(isSo, () => `no answer ${wanted}`)
        return answers
      }
      let known: string[] = []
      // A machine that stalls for a lease at this moment leaves nothing to be decided from memory: then once more.
      await until(async () => {
        await answersUntil('allow')
        cut.toStore?.freeze()
        known = await answersUntil('unavailable')
        await cut.toStore?.heal()
        return known.length > 1
      }, 'a decision without the store')
      t.same(new Set(known), new Set(['allow', 'unavailable']), 'and no denial')
      await answersUntil('allow')
      client.close()
    },
  )
})

/** Resolves when the gateway answers 503. */
async function untilRefused({ tally }: Load, { name }: FleetGateway): Promise<void> {
  const before = tally.unavailable.get(name) ?? 0
  const isSo = () => (tally.unavailable.get(name) ?? 0) > before
  await until(isSo, () => `gateway ${name} still decides`)
}
