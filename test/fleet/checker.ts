/** The checker: puts a fleet under load during a scenario, and passes only without a stale decision. */

import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { Client } from '../support/client.ts'
import { until } from '../support/until.ts'
import type { Tally } from './load-state.ts'
import type { Fleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { LEAST_REQUESTS, LEAST_WRITES, Load, type LoadOptions } from './load.ts'

export { Load } from './load.ts'

/** Failures that a scenario tolerates; none by default but 503 where the store missed a timeout. */
export interface Tolerated {
  /** Gateways that may answer 503 `unavailable` for any cause. */
  readonly unavailable?: readonly string[]
  /** Gateways whose connections may break. */
  readonly broken?: readonly string[]
  /** Writes may lack a 2xx although their gateway was neither frozen nor killed. */
  readonly writes?: boolean
}

/** Reports the result in one line. */
export async function underLoad(
  t: Test,
  title: string,
  fleet: Fleet,
  during: (load: Load) => Promise<void>,
  { unavailable = [], broken = [], writes = false, ...options }: LoadOptions & Tolerated = {},
): Promise<Tally> {
  const logged = fleet.gateways.map((gateway) => [gateway, gateway.log.length] as const)
  const tally = await new Load(fleet, options).run(during)
  t.comment(tally.line(title))
  t.same(tally.examples, [], 'no stale decision')
  t.ok(tally.requests >= LEAST_REQUESTS, `${tally.requests} requests`)
  t.ok(tally.writes.length >= LEAST_WRITES, `${tally.writes.length} writes`)
  for (const [gateway, from] of logged)
    if (!unavailable.includes(gateway.name))
      t.same(
        await otherCauses(gateway, from),
        [],
        `503 of gateway ${gateway.name}: the store missed a timeout`,
      )
  t.same(others(tally.broken, broken), [], 'broken connections only to tolerated gateways')
  if (!writes) t.same(others(tally.failed, ['503']), [], 'every write is answered with 2xx, or with 503')
  return tally
}

function others(counts: ReadonlyMap<string, number>, tolerated: readonly string[]): string[] {
  return [...counts.keys()].filter((name) => !tolerated.includes(name))
}

/**
 * The store, or the gateway itself, was too slow for a timeout of a call, a login, a lock, a statement or an idle
 * transaction. The driver has its own words for a session that the server has ended.
 */
const LATE = [
  /the store did not respond within \d+ ms/,
  /the store responded too late/,
  /the store responds too slowly/,
  /no (?:response|connection) within \d+ ms/,
  /the server does not complete the login|the login to the store took too long/,
  /a read of the store waited more than \d+ ms for its turn/,
  /due to (?:lock|statement|idle-in-transaction) timeout/,
  /Connection terminated|connection error and is not queryable|ECONNRESET/,
  /the primary does not respond/,
]

/** How a command says the same of the store that it opens. */
const OPENED_LATE = /has not responded in time/

/** What a command ended with, run again while the store is too slow for it. The command must be repeatable. */
export function servedCommand<E extends { readonly code: number | null; readonly err: string }>(
  command: () => Promise<E>,
): Promise<E> {
  const look = async () => {
    const ended = await command()
    const isLate = [...LATE, OPENED_LATE].some((late) => late.test(ended.err))
    return (ended.code === 0 || !isLate) && ended
  }
  return until(look, 'an end of the command that is not due to a late store')
}

/**
 * Why a gateway answered 503, by its log: distinct causes other than a late store, each of which is a fault. On a machine of
 * any speed the store may miss a timeout of the gateway: the request is refused then, which is never a decision on an old state.
 * @param from where the log begins, in characters
 */
async function otherCauses(gateway: FleetGateway, from: number): Promise<string[]> {
  if (gateway.awake) await written(gateway)
  // A line may be cut, where the process was killed.
  const lines = gateway.log.slice(from).matchAll(/"code":"unavailable".*"cause":("(?:[^"\\]|\\.)*")/g)
  const causes = new Set([...lines].map(([, cause = '']) => String(JSON.parse(cause))))
  return [...causes].filter((cause) => !LATE.some((late) => late.test(cause)))
}

/** Resolves when all lines of earlier requests are in the log. */
async function written(gateway: FleetGateway): Promise<void> {
  const path = `/last/${randomUUID()}`
  const client = new Client(gateway.port)
  await client.send('GET', path)
  client.close()
  await until(() => gateway.log.includes(path), 'the line of a request', { pause: 50 })
}
