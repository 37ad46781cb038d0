/** The checker: puts a fleet under load during a scenario, and passes only without a stale decision. */

import type { Test } from 'tap'
import type { Tally } from './load-state.ts'
import type { Fleet } from './fleet.ts'
import { Load, type LoadOptions } from './load.ts'

export { Load } from './load.ts'

/** Failures that a scenario tolerates; none by default. */
export interface Tolerated {
  /** Gateways that may answer 503 `unavailable`. */
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
  const tally = await new Load(fleet, options).run(during)
  t.comment(tally.line(title))
  t.same(tally.examples, [], 'no stale decision')
  t.ok(tally.requests >= 1000, `at least 1,000 requests: ${tally.requests}`)
  t.ok(tally.writes.length >= 200, `at least 200 writes: ${tally.writes.length}`)
  t.same(others(tally.unavailable, unavailable), [], '503 only from tolerated gateways')
  t.same(others(tally.broken, broken), [], 'broken connections only to tolerated gateways')
  if (!writes) t.same([...tally.failed], [], 'every write is answered with 2xx')
  return tally
}

function others(counts: ReadonlyMap<string, number>, tolerated: readonly string[]): string[] {
  return [...counts.keys()].filter((name) => !tolerated.includes(name))
}
