/**
 * Pushes of route tables to a fleet of three, with Redis and without: from the answer on, no instance decides by the
 * former tables, whatever has happened to it.
 */

import t from 'tap'
import { allAnswer, areAnswered, get, sendEach } from '../fleet/rolling.ts'
import { startFleet } from '../fleet/fleet.ts'
import type { FleetGateway } from '../fleet/gateway.ts'
import { until } from '../support/until.ts'
import { Pusher, tableOf } from './pushing.ts'

for (const redis of ['own', 'none'] as const)
  t.test(redis === 'own' ? 'with Redis' : 'without Redis', async (t) => {
    const fleet = await startFleet(t, {
      redis,
      proxies: ['store'],
      tablesFrom: 'store',
      workers: (name) => (name === 'b' ? 2 : 1),
    })
    const { gateways, key } = fleet
    const [a, b, c] = [fleet.at(0), fleet.at(1), fleet.at(2)]
    const at = ({ port }: FleetGateway) => {
      const pusher = new Pusher(port, key)
      t.teardown(() => pusher.close())
      return pusher
    }
    const pushers = new Map(gateways.map((gateway) => [gateway, at(gateway)]))
    const pusher = (gateway: FleetGateway) => pushers.get(gateway) ?? at(gateway)
    /** As from the newest version. A store that is slow for a moment leaves it open whether it was pushed. */
    const pushed = (gateway: FleetGateway, requirement: string) =>
      until(async () => {
        await pusher(gateway).read()
        const answer = await pusher(gateway).push({ 'main.yaml': tableOf(requirement) })
        if (answer.status === 503) return undefined
        if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`)
        return answer.json
      }, 'a push')

    await t.test('each instance decides by the tables that were pushed at any of them', async (t) => {
      for (let round = 0; round < 6; round++) {
        const writer = fleet.at(round % 3)
        const { instances, hash } = await pushed(writer, round % 2 === 0 ? 'public' : 'a:read')
        await allAnswer(t, round % 2 === 0 ? 200 : 401, get('/gate'), gateways)
        t.equal(instances.length, 3)
        for (const { how } of instances) t.equal(how, 'acknowledged')
        for (const gateway of gateways) t.match(await gateway.ready(), { config: { hash } })
      }
    })

    await t.test('a frozen instance decides by them as soon as it goes on', async (t) => {
      for (const frozen of [c, b]) {
        await pushed(a, 'public')
        await frozen.freeze()
        const clients = sendEach(frozen, get('/gate'), 6)
        const { instances } = await pushed(a, 'a:read')
        t.match(instances.filter(({ how }: { how: string }) => how === 'lease_ended').length, 1)
        frozen.thaw()
        await areAnswered(t, 401, clients, `of ${frozen.name}`)
        await allAnswer(t, 401, get('/gate'), gateways)
      }
    })

    await t.test('an instance that is killed between the phases starts with them', async (t) => {
      await pushed(a, 'public')
      const push = pushed(a, 'a:read')
      await c.kill()
      await push
      await c.start()
      await allAnswer(t, 401, get('/gate'), gateways)
    })

    await t.test('an instance without the store decides nothing by the former ones', async (t) => {
      await pushed(a, 'public')
      await allAnswer(t, 200, get('/gate'), [b])
      await b.toStore?.cut()
      await pushed(a, 'a:read')
      const clients = sendEach(b, get('/gate'), 6)
      for (const client of clients) {
        const { all } = await client.responses(1)
        client.close()
        t.equal(all[0]?.status, 503)
      }
      await b.toStore?.heal()
      await until(async () => {
        const [client] = sendEach(b, get('/gate'), 1)
        const { all } = (await client?.responses(1)) ?? { all: [] }
        client?.close()
        return all[0]?.status === 401 || undefined
      }, 'the instance decides again')
      await allAnswer(t, 401, get('/gate'), gateways)
    })

    await t.test('of two pushes at once, one is refused', async (t) => {
      for (let round = 0; round < 5; round++) {
        await pushed(a, 'authenticated')
        await pusher(b).read()
        await pusher(a).read()
        const answers = await Promise.all([
          pusher(a).push({ 'main.yaml': tableOf('public') }),
          pusher(b).push({ 'main.yaml': tableOf('a:read') }),
        ])
        const statuses = answers.map(({ status }) => status).sort()
        t.same(statuses, [200, 412], answers.map(({ body }) => body).join())
        await allAnswer(t, answers[0]?.status === 200 ? 200 : 401, get('/gate'), gateways)
      }
    })

    await t.test('an instance that cannot use them refuses them for all, and is named', async (t) => {
      await pushed(a, 'public')
      const { json: before } = await pusher(a).read()
      c.configure('methods: [LIST]')
      for (const gateway of [a, b]) gateway.configure('methods: [LIST, PURGE]')
      // Only two of the three accept the method by now.
      for (const { pid } of gateways) process.kill(pid, 'SIGHUP')
      const ofC = new RegExp(` ${c.pid}$`)
      const answer = await until(async () => {
        const { json: list } = await fleet.admin(a, 'GET', '/v1/fleet')
        const { id } = list.data.find(({ name }: { name: string }) => ofC.test(name)) ?? {}
        await pusher(a).read()
        const files = { 'main.yaml': `${tableOf('public')}  PURGE /all: a:purge\n` }
        const { status, json } = await pusher(a).push(files)
        const refusing =
          status === 409 ? json.faults.map(({ instance }: { instance: string }) => instance) : []
        return refusing.length === 1 && refusing[0] === id ? json : undefined
      }, 'a refusal by that instance alone')
      t.equal(answer.code, 'tables_refused')
      t.match(answer.faults, [{ file: 'main.yaml', line: 4, column: 3, message: /PURGE/ }])
      t.match((await pusher(a).read()).json, { version: before.version })
      await allAnswer(t, 200, get('/gate'), gateways)
    })

    await t.test('an instance with its tables in files is named', async (t) => {
      const row = `INSERT INTO seatgate.instances (id, name, beat, applied, understands, tables_from, seen_at)
        SELECT 'other', 'other 1', 7, 0, understands, 'files', clock_timestamp() FROM seatgate.instances LIMIT 1`
      await fleet.query(row, [])
      await pusher(a).read()
      const { status, json } = await pusher(a).push({ 'main.yaml': tableOf('authenticated') })
      t.match([status, json.code, json.detail], [409, 'tables_in_files', /other 1/])
      await fleet.query("DELETE FROM seatgate.instances WHERE id = 'other'", [])
    })
  })
