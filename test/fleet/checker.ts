/** The checker: puts a fleet under load while a scenario does to it what it likes, and passes only if nothing is stale. */

import type { Test } from 'tap'
import type { Tally } from './board.ts'
import type { Fleet } from './fleet.ts'
import { Load, type LoadOptions } from './load.ts'

export { Load } from './load.ts'

/** What may happen in a scenario beside right decisions: nothing, unless it says so. */
export interface Forgiven {
  /** Gateways that may say 503 `unavailable`. */
  readonly unavailable?: readonly string[]
  /** Gateways whose connections may break. */
  readonly broken?: readonly string[]
  /** Writes may remain without a 2xx, though their gateway was neither frozen nor killed. */
  readonly writes?: boolean
}

/** Says what came of it in one line. */
export async function underLoad(
  t: Test,
  title: string,
  fleet: Fleet,
  during: (load: Load) => Promise<void>,
  { unavailable = [], broken = [], writes = false, ...options }: LoadOptions & Forgiven = {},
): Promise<Tally> {
  const tally = await new Load(fleet, options).run(during)
  t.comment(tally.line(title))
  t.same(tally.examples, [], 'nothing stale')
  t.ok(tally.requests >= 1000, `thousands of requests: ${tally.requests}`)
  t.ok(tally.writes.length >= 200, `hundreds of writes: ${tally.writes.length}`)
  t.same(others(tally.unavailable, unavailable), [], 'no 503 but where it may be')
  t.same(others(tally.broken, broken), [], 'no broken connection but where it may be')
  if (!writes) t.same([...tally.failed], [], 'every write is answered 2xx')
  return tally
}

function others(counts: ReadonlyMap<string, number>, forgiven: readonly string[]): string[] {
  return [...counts.keys()].filter((name) => !forgiven.includes(name))
}
