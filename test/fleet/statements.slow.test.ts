/** The store's load: a few statements a second in steady state, and no read twice. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { Load } from './checker.ts'
import { type Fleet, startFleet, TENANT } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

/** The server logs every statement. */
const LOGGED = { settings: ["log_statement = 'all'"] }
/** Text that only the read of a single Seat contains. */
const POINT_READ = 's.permissions'

t.test('steady state: at most 5 statements a second and instance, at any request rate', async (t) => {
  const fleet = await startFleet(t, { postgres: LOGGED })
  for (const readers of [1, 12]) {
    const load = new Load(fleet, { readers })
    await load.run(async () => {
      await load.written(60)
      load.endWrites()
      await load.decided(fleet.first, 50 * readers)
      const [begun, before, asked] = [performance.now(), statements(fleet).length, load.tally.requests]
      await sleep(5000)
      const seconds = (performance.now() - begun) / 1000
      const each = (statements(fleet).length - before) / seconds / fleet.gateways.length
      const requests = (load.tally.requests - asked) / seconds
      t.comment(`${requests.toFixed(0)} requests/s: ${each.toFixed(2)} statements a second and instance`)
      t.ok(each <= 5, 'at most 5')
      t.ok(requests / fleet.gateways.length > 10 * each, 'for many more requests')
    })
  }
})

t.test('1,000 concurrent requests read one Seat once', async (t) => {
  const fleet = await startFleet(t, { gateways: 1, postgres: LOGGED })
  const made = await fleet.admin(fleet.first, 'POST', '/v1/seats', {
    name: 'Wanted',
    spaces: ['s1'],
    permissions: ['trainings:list'],
  })
  t.equal(made.status, 200)
  const headers = { authorization: `Bearer ${await fleet.token(['s1:Wanted'])}`, space: 's1' }
  const before = statements(fleet).length
  const client = new Client(fleet.first.port, 1000)
  t.teardown(() => client.close())
  const asks = Array.from({ length: 1000 }, () => client.send('GET', '/v1/trainings', headers))
  t.same(new Set((await Promise.all(asks)).map(({ status }) => status)), new Set([200]))
  t.equal(pointReads(fleet, before), 1, 'point reads')
})

t.test('a new instance reads 10,000 Seats from Redis', async (t) => {
  const fleet = await startFleet(t, { gateways: 1, postgres: LOGGED })
  await makeSeats(fleet, 10_000)
  t.ok(
    (await requestAll(t, fleet, fleet.first)) >= 10_000,
    'the first instance reads each Seat from the store',
  )
  // After a timeout of Redis, an instance writes nothing to it for a while: another instance reads the missing Seats.
  for (let rounds = 0; rounds < 5 && (await kept(fleet)) < 10_000; rounds++) {
    await fleet.first.restart()
    await requestAll(t, fleet, fleet.first)
  }
  t.ok((await kept(fleet)) >= 10_000, 'Redis holds all Seats')

  const another = await fleet.another('d')
  await another.start()
  const read = await requestAll(t, fleet, another)
  const sources = async (source: string) => another.metric('seatgate_decisions_by_source_total', { source })
  const [fromRedis, fromStore] = [await sources('redis'), await sources('store')]
  t.comment(
    `the new instance: ${read} point reads of the store; decisions from Redis ${fromRedis}, store ${fromStore}`,
  )
  t.ok(read <= 1000, 'the new instance reads almost none from the store, also after a timeout of Redis')
  t.ok(fromRedis > 10 * fromStore, 'most of its decisions have the source Redis')
})

/** The statements that the server has logged, one a line. */
function statements({ postgres }: Fleet): string[] {
  return postgres.log.split('\n').filter((line) => /LOG: {2}(statement|execute)/.test(line))
}

/** Number of point reads after the first `before` statements. */
function pointReads(fleet: Fleet, before: number): number {
  const asked = statements(fleet).slice(before)
  return asked.filter((statement) => statement.includes(POINT_READ)).length
}

/** Inserts into the table directly: no gateway has cached these Seats, so no announcement is needed. */
async function makeSeats(fleet: Fleet, count: number): Promise<void> {
  await fleet.query(
    `INSERT INTO seatgate.seats (tenant, id, name, spaces, permissions, created_by, created_at)
     SELECT $1, lpad(number::text, 26, '0'), 'Seat ' || number, '["s1"]', '["trainings:list"]', 'test', 0
     FROM generate_series(1, $2::int) AS numbers (number)`,
    [TENANT, count],
  )
}

async function kept({ redis }: Fleet): Promise<number> {
  return Number(await redis.command('DBSIZE'))
}

/** Sends requests with 100 Seats a token. Returns the number of point reads in the store. */
async function requestAll(t: Test, fleet: Fleet, gateway: FleetGateway): Promise<number> {
  const before = statements(fleet).length
  const client = new Client(gateway.port)
  for (let first = 1; first <= 10_000; first += 100) {
    const names = Array.from({ length: 100 }, (_, index) => `s1:Seat ${first + index}`)
    const headers = { authorization: `Bearer ${await fleet.token(names)}`, space: 's1' }
    const { status, body } = await client.send('GET', '/v1/trainings', headers)
    if (status !== 200) t.fail(`${status} ${body}`)
  }
  client.close()
  return pointReads(fleet, before)
}
