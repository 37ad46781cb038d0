/** Runs one schedule after the other until one of them goes wrong. */

import { add, type Figures, noFigures } from './figures.ts'
import { fromMacrotask } from './microtasks.ts'
import type { Parts } from './parts.ts'
import { type Schedule, scheduleOf } from './schedule.ts'
import type { Complaint } from './witness.ts'
import { World } from './world.ts'

/** Schedules between two breaths of the process that runs them. */
const BATCH = 250

export interface Hunt {
  readonly parts: Parts
  readonly from: number
  readonly schedules: number
  /** Left out: any complaint. */
  readonly kind?: Complaint['kind']
}

export interface Found {
  readonly schedule: Schedule
  readonly complaint: Complaint
}

export interface Outcome {
  /** Null: nothing went wrong. */
  readonly found: Found | null
  readonly figures: Figures
}

/** @param progress told now and then how many schedules have been run */
export async function hunt(wanted: Hunt, progress: (figures: Figures) => void = () => {}): Promise<Outcome> {
  const { from, schedules } = wanted
  const figures = noFigures()
  let found: Found | null = null
  for (let seed = from; seed < from + schedules && found === null; seed += BATCH) {
    const end = Math.min(seed + BATCH, from + schedules)
    found = await fromMacrotask(() => huntBatch(wanted, seed, end, figures))
    progress(figures)
  }
  return { found, figures }
}

function huntBatch({ parts, kind }: Hunt, from: number, end: number, figures: Figures): Found | null {
  for (let seed = from; seed < end; seed++) {
    const schedule = scheduleOf(seed)
    const world = new World(schedule, parts)
    world.run()
    add(figures, world.figures)
    const complaint = world.witness.complaints.find((each) => kind === undefined || each.kind === kind)
    if (complaint !== undefined) return { schedule, complaint }
  }
  return null
}
