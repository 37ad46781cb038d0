/** Runs schedules until one of them violates the protocol. */

import { add, type Figures, zeroFigures } from './figures.ts'
import { fromMacrotask } from './microtasks.ts'
import type { Parts } from './parts.ts'
import { type Schedule, scheduleOf } from './schedule.ts'
import type { Violation } from './checker.ts'
import { World } from './world.ts'

/** Schedules in one macrotask. */
const BATCH = 250

export interface Search {
  readonly parts: Parts
  readonly from: number
  readonly schedules: number
  /** Left out: any violation. */
  readonly kind?: Violation['kind']
}

export interface Found {
  readonly schedule: Schedule
  readonly violation: Violation
}

export interface SearchResult {
  /** Null: no violation. */
  readonly found: Found | null
  readonly figures: Figures
}

/** @param progress called after each batch */
export async function search(
  wanted: Search,
  progress: (figures: Figures) => void = () => {},
): Promise<SearchResult> {
  const { from, schedules } = wanted
  const figures = zeroFigures()
  let found: Found | null = null
  for (let seed = from; seed < from + schedules && found === null; seed += BATCH) {
    const end = Math.min(seed + BATCH, from + schedules)
    found = await fromMacrotask(() => searchBatch(wanted, seed, end, figures))
    progress(figures)
  }
  return { found, figures }
}

function searchBatch({ parts, kind }: Search, from: number, end: number, figures: Figures): Found | null {
  for (let seed = from; seed < end; seed++) {
    const schedule = scheduleOf(seed)
    const world = new World(schedule, parts)
    world.run()
    add(figures, world.figures)
    const violation = world.checker.violations.find((each) => kind === undefined || each.kind === kind)
    if (violation !== undefined) return { schedule, violation }
  }
  return null
}
