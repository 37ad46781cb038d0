/** The checker: puts a fleet under load during a scenario, and passes only without a stale decision. */

import type { Test } from 'tap'
import type { Tally } from './load-state.ts'
import type { Fleet } from './fleet.ts'
import { LEAST_REQUESTS, LEAST_WRITES, Load, type LoadOptions } from './load.ts'
import { otherCauses } from './refusal-causes.ts'

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
