/** Runs schedules until one of them violates the protocol. */

import { add, type Figures, zeroFigures } from './figures.ts'
import { fromMacrotask } from './microtasks.ts'
import { inModel, type ModelTrace } from './model-trace.ts'
import { type Parts, REAL_PARTS } from './parts.ts'
import { RARE } from './rare.ts'
import { type Schedule, scheduleOf } from './schedule.ts'
import { SEEDS } from './seeds.ts'
import { type Shrunk, shrunk } from './shrink.ts'
import type { Violation } from './checker.ts'
import { partsOf, shows } from './variants.ts'
import { World } from './world.ts'

/** Schedules in one macrotask. */
const BATCH = 250

export interface Search {
  /** Null: the real protocol, and any violation. Of a broken variant: the one that shows it. */
  readonly variant: string | null
  /** The first seed; after the last one, the first follows. */
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

/** @param isOver called after each batch: whether to stop */
export async function search(
  { variant, from, schedules, shrinks }: Search,
  isOver: (figures: Figures) => boolean = () => false,
): Promise<SearchResult> {
  const parts = partsOf(variant)
  const isWanted = (violation: Violation) => shows(variant, violation)
  const ofSeed = RARE[variant ?? ''] ?? scheduleOf
  const figures = zeroFigures()
  for (let done = 0; done < schedules && !isOver(figures); done += BATCH) {
    const end = from + Math.min(done + BATCH, schedules)
    const found = await fromMacrotask(() => searchBatch(parts, isWanted, ofSeed, [from + done, end], figures))
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
  ofSeed: (seed: number) => Schedule,
  [from, end]: readonly [from: number, end: number],
  figures: Figures,
): Found | null {
  for (let seed = from; seed < end; seed++) {
    const schedule = ofSeed(seed % SEEDS)
    const world = new World(schedule, parts)
    world.run()
    add(figures, world.figures)
    const violation = world.checker.violations.find(isWanted)
    if (violation !== undefined) return { schedule, violation }
  }
  return null
}

/** The lines of a run of the real protocol. */
export function traceOf(seed: number): Promise<readonly string[]> {
  return fromMacrotask(() => {
    const lines: string[] = []
    new World(scheduleOf(seed), REAL_PARTS, (what) => lines.push(what)).run()
    return lines
  })
}

/** Schedules whose events are told in the words of the model. */
export interface Told {
  /** Null: the real protocol. */
  readonly variant: string | null
  readonly from: number
  readonly schedules: number
}

/** Leaves out the schedules that are larger than the model. */
export function tellForModel({ variant, from, schedules }: Told): Promise<ModelTrace['events'][]> {
  const parts = partsOf(variant)
  return fromMacrotask(() =>
    Array.from({ length: schedules }, (_, at) => {
      const world = new World(inModel(scheduleOf((from + at) % SEEDS)), parts, null, 0, true)
      world.run()
      const { model } = world.context
      return model === null || model.isTooLarge ? [] : model.events
    }).filter(({ length }) => length > 0),
  )
}
