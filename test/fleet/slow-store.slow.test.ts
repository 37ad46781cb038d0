/**
 * A slow, unavailable or late store: a start waits for it and logs this, and decisions continue on the current state.
 * Responses that were 200 ms late used to end the start with exit code 1, so that rolling restarts on a busy database
 * never succeeded.
 */

import { performance } from 'node:perf_hooks'
import t, { type Test } from 'tap'
import { Client } from '../support/client.ts'
import { until } from '../support/servers/wait.ts'
import { type Fleet, SPACE, startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

const LATE = [200, 500, 900, 1500]

/** The last gateway of the fleet writes, through a proxy that is never slow. */
const startedOn = (t: Test, gateways = 2) => startFleet(t, { gateways, redis: 'none', proxies: ['store'] })

function writer(fleet: Fleet): FleetGateway {
  return fleet.at(fleet.gateways.length - 1)
}

async function viewer(fleet: Fleet, name = 'Viewer'): Promise<string> {
  const seat = { name, spaces: [SPACE], permissions: ['trainings:list'] }
  return (await fleet.admin(writer(fleet), 'POST', '/v1/seats', seat)).json.id
}

/** The status of the first decision: the store may be too slow for some. */
async function decided(fleet: Fleet, gateway: FleetGateway, name: string): Promise<number> {
  for (;;) {
    const status = await statusOf(fleet, gateway, name)
    if (status !== 503) return status
  }
}

async function statusOf(fleet: Fleet, gateway: FleetGateway, name: string): Promise<number> {
  const client = new Client(gateway.port)
  try {
    const authorization = `Bearer ${await fleet.token([`${SPACE}:${name}`])}`
    return (await client.send('GET', '/v1/trainings', { authorization, space: SPACE })).status
  } finally {
    client.close()
  }
}

async function onSlowStore(t: Test, fleet: Fleet, gateway: FleetGateway, late: number): Promise<void> {
  const name = `Viewer by ${late}`
  const id = await viewer(fleet, name)
  await gateway.end()
  gateway.toStore?.delay(late / 2)
  const begun = performance.now()
  await gateway.start(60_000)
  t.comment(`${late} ms delay: started in ${Math.round(performance.now() - begun)} ms`)
  for (const permissions of [[], ['trainings:list'], [], ['trainings:list']]) {
    const path = `/v1/seats/${id}`
    t.equal((await fleet.admin(writer(fleet), 'PUT', path, { permissions })).status, 200)
    const expected = permissions.length === 0 ? 403 : 200
    t.equal(
      await decided(fleet, gateway, name),
      expected,
      `${late} ms delay: as soon as the write is acknowledged`,
    )
  }
  await until(
    async () => (await gateway.ready())['status'] === 'ready',
    () => 'it is not ready',
  )
  t.equal(gateway.crash, null)
}

t.test('late responses: it starts and decides, never on an old state', async (t) => {
  const fleet = await startedOn(t, LATE.length + 1)
  await Promise.all(LATE.map((late, at) => onSlowStore(t, fleet, fleet.at(at), late)))
})

t.test('a store that is unavailable when the gateway starts', async (t) => {
  const fleet = await startedOn(t)
  await viewer(fleet)
  const gateway = fleet.first
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
  t.equal((await fetch(`http://127.0.0.1:${gateway.opsPort}/livez`)).status, 200)
  await until(
    () => gateway.log.split('waiting for the store').length > 2,
    () => 'the warning is not repeated',
  )
  await gateway.toStore?.heal()
  await started
  t.equal(await statusOf(fleet, gateway, 'Viewer'), 200)
})

t.test(
  'a store that accepts connections and does not respond, until the timeout and until SIGTERM',
  async (t) => {
    const fleet = await startedOn(t)
    const gateway = fleet.first
    await gateway.end()
    gateway.toStore?.freeze()
    gateway.configure('startup_timeout: 2s')
    await t.rejects(gateway.start(), /gave up after 2 s \(startup_timeout\)/)
    t.equal(gateway.exitCode, 1)
    gateway.configure('startup_timeout: 10m')
    const started = t.rejects(gateway.start(), /ended before listening/)
    await until(
      async () => (await gateway.ready())['status'] === 'not_ready',
      () => 'it does not wait',
    )
    await gateway.end()
    await started
    t.equal(gateway.exitCode, 0)
  },
)

t.test('a store that refuses the connection ends the start at once', async (t) => {
  const fleet = await startedOn(t)
  const gateway = fleet.first
  await gateway.end()
  const before = Date.now()
  await fleet.query('UPDATE seatgate.schema_version SET version = 99', [])
  await t.rejects(gateway.start(), /from a newer Seatgate/)
  t.equal(gateway.exitCode, 1)
  t.ok(Date.now() - before < 45_000, 'before the timeout')
})
