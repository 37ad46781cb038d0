/** The exact difference of two route tables, over all requests that there can be. */

import type { Node } from '../decision/router/tree.ts'
import type { Route } from '../model/route.ts'
import { answerOf, equalRests } from './equal-rests.ts'
import { pathClasses } from './path-classes.ts'
import { entryFor, hostClasses, marksOf, methodsAt, type Tables, targetOf } from './tables.ts'

/** A request that the two tables answer differently. */
export interface Witness {
  readonly method: string
  /** Left out: each host that no table names. */
  readonly host?: string
  readonly path: string
}

/** A pair of entries that answer the same requests differently; null: no entry answers. */
export interface Difference {
  readonly before: Route | null
  readonly after: Route | null
  /** No witness has fewer path segments. */
  readonly witness: Witness
}

/** One for each pair of entries whose answers differ, shortest witness first. None: the tables are equal. */
export function differences(before: Tables, after: Tables): Difference[] {
  return [...differenceSteps(before, after)].filter((each) => each !== null)
}

/**
 * The same in small steps, for a process that has other work. Null: a step that found none. What the walk keeps in memory
 * grows by at most one entry a step.
 */
export function* differenceSteps(before: Tables, after: Tables): Generator<Difference | null, void> {
  const sides = [before, after]
  const found = new Set<string>()
  const skip = yield* equalRests(before, after)
  for (const { host, roots } of rootsByHost(sides))
    for (const { path, leaves } of pathClasses(roots, { marks: marksOf(sides), skip })) {
      yield null
      const [old = [], now = []] = leaves
      const target = targetOf(path)
      for (const method of methodsAt([...old, ...now], sides)) {
        const pair = {
          before: entryFor(before, old, method, target),
          after: entryFor(after, now, method, target),
        }
        const key = `${pair.before?.id} ${pair.after?.id}`
        if (isSameAnswer(pair.before, pair.after) || found.has(key)) continue
        found.add(key)
        yield { ...pair, witness: { method, ...(host === null ? {} : { host }), path } }
      }
    }
}

/** Each combination of the tables' trees that some host has, with one such host. */
function rootsByHost(sides: readonly Tables[]): { host: string | null; roots: Node[] }[] {
  const met = new Map<Node | undefined, Set<Node | undefined>>()
  return hostClasses(sides).flatMap((host) => {
    const roots = sides.map(({ table }) => table.rootOf(host))
    const [first, second] = roots
    const others = met.get(first) ?? new Set()
    if (others.has(second)) return []
    met.set(first, others.add(second))
    return [{ host, roots }]
  })
}

/** Whether the two entries require the same, lead to the same place, and have the same limits. */
function isSameAnswer(one: Route | null, other: Route | null): boolean {
  return one === null || other === null ? one === other : answerOf(one) === answerOf(other)
}
