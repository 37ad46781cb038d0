/** Revocations in a fleet on PostgreSQL and Redis: quiet, under load, without Redis, and with a frozen instance. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { SPACE, startFleet, type Fleet } from '../../test/fleet/fleet.ts'
import type { FleetGateway } from '../../test/fleet/gateway.ts'
import { until } from '../../test/support/until.ts'
import { Ending, say } from '../harness.ts'
import type { FleetLoad } from './load-client.ts'
import { OPEN_ROUTES, startOpenUpstream } from './open-exchange.ts'
import { Revoker, type Turn } from './turn.ts'

/** Turns that are not measured, in which code is compiled and connections are opened. */
const WARM_UP = 30
/** Requests per second of the load. */
export const LOAD = 1000

export interface FleetTurns {
  readonly instances: number
  readonly scenario: string
  readonly turns: readonly Turn[]
}

interface Parts {
  readonly fleet: Fleet
  readonly revoker: Revoker
}

interface Scenario {
  readonly name: string
  /** The share of the turns that it has; each turn of a frozen instance takes seconds. */
  readonly share: number
  frozen?(fleet: Fleet): FleetGateway
  begin?(ending: Ending, parts: Parts): Promise<void>
}

const scenarios: readonly Scenario[] = [
  { name: 'quiet', share: 1 },
  { name: `${LOAD} requests per second`, share: 1, begin: load },
  { name: 'Redis is gone', share: 0.5, begin: withoutRedis },
  { name: 'one is frozen', share: 0.05, frozen: (fleet) => fleet.at(fleet.gateways.length - 1) },
]

/** @param turns of a quiet fleet */
export async function measureFleet(instances: number, turns: number): Promise<FleetTurns[]> {
  await using ending = new Ending()
  const target = await startOpenUpstream(ending.t)
  const upstream = { target, routes: ['GET /v1/trainings: trainings:list', ...OPEN_ROUTES] }
  const fleet = await startFleet(ending.t, {
    gateways: instances,
    proxies: [],
    postgres: { fsync: true },
    upstream,
  })
  const parts = { fleet, revoker: await Revoker.start(ending, fleet) }
  await turnsOf(parts, { name: '', share: 1 }, WARM_UP)
  const measured: FleetTurns[] = []
  for (const scenario of scenarios) {
    say(`${instances} instances, ${scenario.name}`)
    await using ends = new Ending()
    await scenario.begin?.(ends, parts)
    const count = Math.ceil(turns * scenario.share)
    measured.push({ instances, scenario: scenario.name, turns: await turnsOf(parts, scenario, count) })
  }
  return measured
}

async function turnsOf({ fleet, revoker }: Parts, { frozen }: Scenario, count: number): Promise<Turn[]> {
  const turns: Turn[] = []
  for (let at = 0; at < count; at++)
    turns.push(await revoker.turn({ at, asks: at % 2 === 1, frozen: frozen?.(fleet) ?? null }))
  return turns
}

/** Requests of another user. */
async function load(ending: Ending, { fleet, revoker }: Parts): Promise<void> {
  const token = await fleet.token([`${SPACE}:${revoker.seat}`], 'another user')
  const child = spawn(process.execPath, [join(import.meta.dirname, 'load-client.ts')], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  ending.teardown(() => child.kill())
  const ports = fleet.gateways.map(({ port }) => port)
  const headers = { authorization: `Bearer ${token}`, space: SPACE }
  child.stdin.end(JSON.stringify({ ports, headers, rate: LOAD } satisfies FleetLoad))
  await new Promise((resolve) => setTimeout(resolve, 2000))
}

async function withoutRedis(ending: Ending, { fleet }: Parts): Promise<void> {
  await fleet.redis.kill()
  ending.teardown(async () => {
    await fleet.redis.restart({ empty: true })
    await redisIs(fleet, true)
  })
  await redisIs(fleet, false)
}

/** Resolves once each instance knows whether it has Redis. */
async function redisIs(fleet: Fleet, isThere: boolean): Promise<void> {
  for (const gateway of fleet.gateways)
    await until(async () => ((await gateway.ready())['redis'] === 'ok') === isThere, 'a change of /readyz')
}
