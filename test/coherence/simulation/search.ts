/** Runs schedules until one of them violates the protocol. */

import { add, type Figures, zeroFigures } from './figures.ts'
import { fromMacrotask } from './microtasks.ts'
import type { Parts } from './parts.ts'
import { type Schedule, scheduleOf } from './schedule.ts'
import { type Shrunk, shrunk } from './shrink.ts'
import type { Violation } from './checker.ts'
import { partsOf } from './variants.ts'
import { World } from './world.ts'

/** Schedules in one macrotask. */
const BATCH = 250

export interface Search {
  /** Null: the real protocol, and any violation. Of a broken variant: a stale decision. */
  readonly variant: string | null
  /** The first seed. */
  readonly from: number
  readonly schedules: number
  /** Whether to shrink a failing schedule. */
  readonly shrinks: boolean
}

interface Found {
  readonly schedule: Schedule
  readonly violation: Violation
}

export interface SearchResult {
  /** Null: no violation. */
  readonly found: Found | null
  readonly figures: Figures
  readonly shrunk: Shrunk | null
}

/** @param progress called after each batch */
export async function search(
  { variant, from, schedules, shrinks }: Search,
  progress: (figures: Figures) => void = () => {},
): Promise<SearchResult> {
  const parts = partsOf(variant)
  const isWanted = ({ kind }: Violation) => variant === null || kind === 'stale'
  const figures = zeroFigures()
  for (let seed = from; seed < from + schedules; seed += BATCH) {
    const end = Math.min(seed + BATCH, from + schedules)
    const found = await fromMacrotask(() => searchBatch(parts, isWanted, seed, end, figures))
    progress(figures)
    if (found === null) continue
    const { schedule, violation } = found
    const smaller = shrinks ? await fromMacrotask(() => shrunk(schedule, parts, violation.kind)) : null
    return { found, figures, shrunk: smaller }
  }
  return { found: null, figures, shrunk: null }
}

function searchBatch(
  parts: Parts,
  isWanted: (violation: Violation) => boolean,
  from: number,
  end: number,
  figures: Figures,
): Found | null {
  for (let seed = from; seed < end; seed++) {
    const schedule = scheduleOf(seed)
    const world = new World(schedule, parts)
    world.run()
    add(figures, world.figures)
    const violation = world.checker.violations.find(isWanted)
    if (violation !== undefined) return { schedule, violation }
  }
  return null
}
