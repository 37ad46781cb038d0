/**
 * `npm run bench:scale`: the fleet at scale, measured and drawn. A million Seats in ten thousand tenants on
 * PostgreSQL, with real gateways and a Redis; and fleets of up to fifty instances that write to each other.
 * Prints Markdown, and draws `bench/scale.svg`. `--quick` is a trial: all is smaller, and the drawing goes to
 * the temporary folder, which receives the raw numbers in either case.
 */

import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type FleetCost, measureFleet } from './scale/acknowledgement.ts'
import { measureCosts } from './scale/decision-cost.ts'
import { deploy } from './scale/deployment.ts'
import { drawing } from './scale/drawing.ts'
import { Ending, runBench, say } from './harness.ts'
import { allSeats, SEATS_EACH, someTenants, usedSeatOf } from './scale/population.ts'
import { type Measured, table } from './scale/report.ts'
import { measureInUse } from './scale/seats-in-use.ts'
import { startServers, startUpstream } from './scale/servers.ts'

const FULL = {
  tenants: 10_000,
  small: 100,
  rounds: 9,
  total: 20_000,
  fleets: [3, 10, 50],
  writes: 300,
  rest: 20_000,
}
const QUICK = { tenants: 100, small: 100, rounds: 3, total: 3000, fleets: [3], writes: 100, rest: 3000 }

/** The server's own transactions would be counted with the fleet's. */
const QUIET = ['autovacuum_naptime = 1h']

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const size = values.quick ? QUICK : FULL
const folder = values.quick ? tmpdir() : fileURLToPath(new URL('.', import.meta.url))

await runBench(async () => {
  const before = loadavg()
  const seats = await measureSeats()
  const fleets = await measureFleets()
  const measured: Measured = { ...seats, fleets, load: [before, loadavg()] }
  console.log(table(measured))
  writeFileSync(join(tmpdir(), 'seatgate-scale.json'), JSON.stringify(measured, null, 1))
  writeFileSync(join(folder, 'scale.svg'), drawing(measured))
})

async function measureSeats(): Promise<Omit<Measured, 'fleets' | 'load'>> {
  await using ending = new Ending()
  const servers = await startServers(ending)
  const upstream = await startUpstream(ending)
  const secrets = Array.from({ length: size.tenants }, () => randomBytes(32).toString('hex'))
  const secretOf = (tenant: number) => secrets[tenant] ?? ''
  const tenants = someTenants(size.tenants, size.tenants)
  const few = someTenants(size.tenants, size.small)
  const common = { upstream, secretOf }
  const large = await deploy(ending, servers, {
    ...common,
    name: 'large',
    tenants,
    count: size.tenants * SEATS_EACH,
    seats: allSeats(size.tenants),
  })
  say(`filled ${large.filled.seats} Seats in ${large.filled.seconds.toFixed(0)} s`)
  const small = await deploy(ending, servers, {
    ...common,
    name: 'small',
    tenants: few,
    count: few.length,
    seats: few.map(usedSeatOf),
  })
  const busyGateway = await large.gateway()
  const all = await large.requests(tenants)
  const inUse = await measureInUse(servers, large, busyGateway, all)
  say(`${inUse.seats} Seats in use`)
  const [smallGateway, largeGateway] = [await small.gateway(), await large.gateway()]
  const requests = await large.requests(few)
  const costs = await measureCosts(
    [
      { name: 'small', gateway: smallGateway, requests },
      { name: 'large', gateway: largeGateway, requests },
      { name: 'all', gateway: busyGateway, requests: all },
    ],
    size.rounds,
    size.total,
  )
  const starts = { small: smallGateway.startedIn, large: largeGateway.startedIn }
  return { filled: large.filled, tenants: size.tenants, configLoad: large.configLoad, starts, inUse, costs }
}

async function measureFleets(): Promise<FleetCost[]> {
  await using ending = new Ending()
  const servers = await startServers(ending, QUIET)
  const measured: FleetCost[] = []
  for (const instances of size.fleets) {
    measured.push(await measureFleet(servers, { instances, writes: size.writes, rest: size.rest }))
    say(`${instances} instances`)
  }
  return measured
}
