/**
 * Shrinks a failing schedule: removes one part after the other as long as the run still fails in the same way, with any of
 * several random seeds.
 */

import { NO_FAULTS, type Conditions } from './context.ts'
import type { Parts } from './parts.ts'
import { ENOUGH, type Schedule } from './schedule.ts'
import type { Violation } from './checker.ts'
import { World } from './world.ts'

/** Random seeds tried for each smaller schedule. */
const RANDOM_SEEDS = 40

interface Failing {
  readonly schedule: Schedule
  readonly chance: number
}

export interface Shrunk {
  readonly schedule: Schedule
  /** The trace up to the violation. */
  readonly trace: string
}

/** Call it from a macrotask. */
export function shrunk(schedule: Schedule, parts: Parts, kind: Violation['kind']): Shrunk {
  let failing: Failing = { schedule, chance: 0 }
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const smaller of smallerThan(failing.schedule)) {
      const chance = failingChance(smaller, parts, kind)
      if (chance === null) continue
      failing = { schedule: smaller, chance }
      isSmaller = true
      break
    }
  }
  return { schedule: failing.schedule, trace: traceOf(failing, parts, kind) }
}

function* smallerThan(schedule: Schedule): Generator<Schedule> {
  const { actions, conditions, gateways } = schedule
  for (const action of actions) yield { ...schedule, actions: actions.filter((each) => each !== action) }
  for (const name of Object.keys(NO_FAULTS) as (keyof Conditions)[])
    if (conditions[name] !== NO_FAULTS[name])
      yield { ...schedule, conditions: { ...conditions, [name]: NO_FAULTS[name] } }
  if (gateways.length > 1) yield { ...schedule, gateways: gateways.slice(1) }
  if (gateways.some((workers) => workers > 1))
    yield { ...schedule, gateways: gateways.map((n) => Math.min(n, 1)) }
  if (schedule.kept < 10_000) yield { ...schedule, kept: 10_000 }
  if (schedule.refusing !== null) yield { ...schedule, refusing: null }
  if (schedule.tablesInStore) yield { ...schedule, tablesInStore: false }
  if (schedule.hasRedis) yield { ...schedule, hasRedis: false }
  if (schedule.memory < ENOUGH) yield { ...schedule, memory: ENOUGH }
}

function failingChance(schedule: Schedule, parts: Parts, kind: string): number | null {
  for (let chance = 0; chance < RANDOM_SEEDS; chance++) {
    const world = new World(schedule, parts, null, chance)
    world.run()
    if (world.checker.violations.some((each) => each.kind === kind)) return chance
  }
  return null
}

function traceOf({ schedule, chance }: Failing, parts: Parts, kind: string): string {
  const { seed, gateways, hasRedis, kept, memory, conditions } = schedule
  const lines = [JSON.stringify({ seed, chance, gateways, hasRedis, kept, memory, conditions })]
  const world = new World(schedule, parts, (what) => lines.push(what), chance)
  world.run()
  const end = lines.findIndex((line) => line.includes(` ${kind}: `))
  return lines.slice(0, end < 0 ? lines.length : end + 1).join('\n')
}
