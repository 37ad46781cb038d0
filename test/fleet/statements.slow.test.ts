/** The store's load: a few statements a second in steady state, and no read twice. */

import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { metric } from '../support/operations.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { Load } from './checker.ts'
import { type Fleet, startFleet, TENANT } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

/** The server logs every statement. */
const LOGGED = { settings: ["log_statement = 'all'"] }
/** Text that only the read of a single Seat contains. */
const POINT_READ = 's.permissions'

/** Of tokens with a hundred each. */
const SEATS = 2000
/** Attempts of a machine whose stalls make commands to Redis time out: an instance asks the store then, for a while. */
const ATTEMPTS = 5

/** Of each instance: where each took a statement, the bound would be met by a test of three minutes only. */
const REQUESTS = 1000

t.test('steady state: at most 5 statements a second and instance, at any request rate', async (t) => {
  const fleet = await startFleet(t, { gateways: 2, postgres: LOGGED })
  const load = new Load(fleet, { readers: 12 })
  await load.run(async () => {
    await load.written(60)
    await load.endWrites()
    await Promise.all(fleet.gateways.map((gateway) => load.decided(gateway, 200)))
    const [begun, before] = [performance.now(), statements(fleet).length]
    await Promise.all(fleet.gateways.map((gateway) => load.decided(gateway, REQUESTS)))
    const seconds = (performance.now() - begun) / 1000
    const count = statements(fleet).length - before
    t.comment(`${count} statements of ${fleet.gateways.length} instances in ${seconds.toFixed(1)} s`)
    // A reading may begin at each end of the time.
    t.ok(count <= (5 * seconds + 2) * fleet.gateways.length, 'at most 5')
  })
})

t.test('one gateway', async (t) => {
  const fleet = await startFleet(t, { gateways: 1, postgres: LOGGED })
  await t.test('a new instance reads 2,000 Seats from Redis', (t) => readsFromRedis(t, fleet))
  await t.test('1,000 concurrent requests read one Seat once', (t) => readsOnce(t, fleet))
})

async function readsOnce(t: Test, fleet: Fleet): Promise<void> {
  const client = new Client(fleet.first.port, 1000)
  t.teardown(() => client.close())
  let reads = 0
  // A read of the store that fails, on a machine that stalls, is made again by later requests: then once more.
  const areDecided = async () => {
    const headers = await newlyAllowed(fleet)
    const before = statements(fleet).length
    const asks = Array.from({ length: 1000 }, () => client.send('GET', '/v1/trainings', headers))
    const found = new Set((await Promise.all(asks)).map(({ status }) => status))
    reads = pointReads(fleet, before)
    if (found.has(503)) return false
    t.same(found, new Set([200]))
    return true
  }
  await until(areDecided, '1,000 decisions without a 503')
  t.equal(reads, 1, 'point reads')
}

/**
 * The headers of a Seat that no request has used yet. Its creation drops it from memory twice, at the announcement and at the
 * next reading of the feed: resolves after both.
 */
async function newlyAllowed(fleet: Fleet): Promise<Record<string, string>> {
  const { name } = await fleet.makeSeat(fleet.first, `Wanted ${randomUUID()}`)
  const [newest] = await fleet.postgres.query('SELECT max(seq) AS seq FROM seatgate.changes', [], 'fleet')
  const isRead = async () => (await metric(fleet.first, 'seatgate_feed_seq')) >= Number(newest?.['seq'])
  await until(isRead, 'the reading of the new Seat')
  return { authorization: `Bearer ${await fleet.token([`s1:${name}`])}`, space: 's1' }
}

async function readsFromRedis(t: Test, fleet: Fleet): Promise<void> {
  await makeSeats(fleet, SEATS)
  t.ok(
    (await requestAll(t, fleet, fleet.first)) >= SEATS,
    'the first instance reads each Seat from the store',
  )
  for (let attempt = 0; attempt < ATTEMPTS && (await kept(fleet)) < SEATS; attempt++) {
    await fleet.first.restart()
    await requestAll(t, fleet, fleet.first)
  }
  t.ok((await kept(fleet)) >= SEATS, 'Redis holds all Seats')

  const another = await fleet.another('d')
  const source = (name: string) => metric(another, `seatgate_decisions_by_source_total{source="${name}"}`)
  let [read, fromRedis, fromStore] = [SEATS, 0, SEATS]
  for (let attempt = 0; attempt < ATTEMPTS && fromRedis <= 10 * fromStore; attempt++) {
    await another.restart()
    read = await requestAll(t, fleet, another)
    ;[fromRedis, fromStore] = [await source('redis'), await source('store')]
  }
  t.comment(
    `${read} point reads of the store; decisions from Redis ${fromRedis}, from the store ${fromStore}`,
  )
  t.ok(fromRedis > 10 * fromStore, 'most decisions of a new instance have the source Redis')
  t.ok(read <= SEATS / 10, 'it reads almost no Seat from the store')
}

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
  for (let first = 1; first <= SEATS; first += 100) {
    const names = Array.from({ length: 100 }, (_, index) => `s1:Seat ${first + index}`)
    const headers = { authorization: `Bearer ${await fleet.token(names)}`, space: 's1' }
    const { status, body } = await served(() => client.send('GET', '/v1/trainings', headers))
    if (status !== 200) t.fail(`${status} ${body}`)
  }
  client.close()
  return pointReads(fleet, before)
}
