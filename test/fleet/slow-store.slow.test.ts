/**
 * A slow, unavailable or late store: a start waits for it and logs this, and decisions continue on the current state.
 * Responses that were 200 ms late used to end the start with exit code 1, so that rolling restarts on a busy database
 * never succeeded.
 */

import t, { type Test } from 'tap'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { SPACE, startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

/** ms: within the timeout of the first reading of the feed, which is 500 ms, and beyond it. A call has 2 s. */
const LATE = [200, 600]

/** The last gateway writes, through a proxy that is never slow. */
const fleet = await startFleet(t, { gateways: LATE.length + 1, redis: 'none', proxies: ['store'] })
const writer = fleet.at(LATE.length)

/** The status of the first decision: the store may be too slow for some. */
async function decided(gateway: FleetGateway, name: string): Promise<number> {
  let status = 503
  await until(
    async () => (status = await statusOf(gateway, name)) !== 503,
    () => `gateway ${gateway.name} decides nothing:\n${gateway.remarks}`,
  )
  return status
}

async function statusOf(gateway: FleetGateway, name: string): Promise<number> {
  const authorization = `Bearer ${await fleet.token([`${SPACE}:${name}`])}`
  return fleet.statusOf(gateway, { authorization, space: SPACE })
}

async function onSlowStore(t: Test, gateway: FleetGateway, late: number): Promise<void> {
  const { id, name } = await fleet.makeSeat(writer, `Viewer by ${late}`)
  await gateway.end()
  gateway.toStore?.delay(late / 2)
  await gateway.start()
  for (const permissions of [[], ['trainings:list'], []]) {
    // A write that a busy machine refuses with 503 may be repeated, as it says the same.
    const written = await served(() => fleet.admin(writer, 'PUT', `/v1/seats/${id}`, { permissions }))
    t.equal(written.status, 200)
    const expected = permissions.length === 0 ? 403 : 200
    t.equal(await decided(gateway, name), expected, `${late} ms delay: as soon as the write is acknowledged`)
  }
  await until(
    async () => (await gateway.ready())['status'] === 'ready',
    () => 'it is not ready',
  )
  t.equal(gateway.crash, null)
  await gateway.toStore?.heal()
}

t.test('late responses: it starts and decides, never on an old state', async (t) => {
  await Promise.all(LATE.map((late, at) => onSlowStore(t, fleet.at(at), late)))
})

const gateway = fleet.first

t.test('a store that is unavailable when the gateway starts', async (t) => {
  const { name } = await fleet.makeSeat(writer, 'Viewer')
  await gateway.end()
  await gateway.toStore?.cut()
  const started = gateway.start()
  await until(
    async () => (await gateway.ready())['status'] === 'not_ready',
    () => '/readyz does not show not_ready',
  )
  const { waiting_for: cause } = await gateway.ready()
  t.match(
    cause,
    /the store (?:has not responded yet|postgres:\/\/127\.0\.0\.1:\d+)/,
    'with the reason and without credentials',
  )
  t.equal((await fetch(`${gateway.ops}/livez`)).status, 200)
  const warnings = () => gateway.log.split('waiting for the store').length
  const before = warnings()
  await until(
    () => warnings() > before + 1,
    () => 'the warning is not repeated',
  )
  await gateway.toStore?.heal()
  await started
  t.equal(await decided(gateway, name), 200)
})

t.test(
  'a store that accepts connections and does not respond, until the timeout and until SIGTERM',
  async (t) => {
    await gateway.end()
    gateway.toStore?.freeze()
    gateway.configure('startup_timeout: 2s')
    await t.rejects(gateway.start(), /gave up after 2 s \(startup_timeout\)/)
    t.equal(await gateway.ended, 1)
    gateway.configure('startup_timeout: 10m')
    const started = t.rejects(gateway.start(), /ended before listening/)
    await until(
      async () => (await gateway.ready())['status'] === 'not_ready',
      () => 'it does not wait',
    )
    await gateway.end()
    await started
    t.equal(await gateway.ended, 0)
    await gateway.toStore?.heal()
  },
)

t.test('a store that refuses the connection ends the start at once', async (t) => {
  await fleet.query('UPDATE seatgate.schema_version SET version = 99', [])
  // Longer than the test waits.
  gateway.configure('startup_timeout: 30m')
  await t.rejects(gateway.start(), /from a newer Seatgate/)
  t.equal(await gateway.ended, 1)
})
