/** What a reload changes, in bounded memory: the number of changes of each kind, and the weightiest of them. */

import { type Change, type ChangeKind, changeOf, KINDS } from './access-change.ts'
import { differenceSteps } from './difference.ts'
import type { Tables } from './tables.ts'

export interface ChangeSummary {
  /** Kinds without a change are left out. By weight. */
  readonly counts: Readonly<Partial<Record<ChangeKind, number>>>
  /** By weight of the kind; within a kind, those with the shortest example first. */
  readonly first: readonly Change[]
  /** False: the comparison was given up, and there may be more changes. */
  readonly complete: boolean
}

export interface SummaryBounds {
  /** Length of `first`. */
  readonly shown: number
  /** Steps after which the comparison is given up: memory and time grow with them. */
  readonly steps: number
}

/** In small steps. Without Seats, so that another permission is `changed`. */
export function* changeSummary(
  before: Tables,
  after: Tables,
  { shown, steps }: SummaryBounds,
): Generator<null, ChangeSummary> {
  const found = new Map<ChangeKind, { count: number; readonly first: Change[] }>(
    KINDS.map((kind) => [kind, { count: 0, first: [] }]),
  )
  let complete = true
  let taken = 0
  for (const difference of differenceSteps(before, after)) {
    if (++taken > steps) {
      complete = false
      break
    }
    yield null
    if (difference === null) continue
    const change = changeOf(difference, null)
    const ofKind = found.get(change.kind)
    if (ofKind === undefined) continue
    ofKind.count++
    if (ofKind.first.length < shown) ofKind.first.push(change)
  }
  const some = [...found].filter(([, { count }]) => count > 0)
  return {
    counts: Object.fromEntries(some.map(([kind, { count }]) => [kind, count])),
    first: some.flatMap(([, { first }]) => first).slice(0, shown),
    complete,
  }
}
