/**
 * Makes a run that went wrong smaller: leaves out one thing after the other as long as it still goes wrong in the same
 * way, in one of several ways that chance may take.
 */

import { FAIR, type Weather } from './nature.ts'
import type { Found } from './hunt.ts'
import type { Parts } from './parts.ts'
import { type Action, ENOUGH, type Schedule } from './schedule.ts'
import { World } from './world.ts'

/** Ways of chance tried for each smaller schedule. */
const WAYS = 40

interface Failing {
  readonly schedule: Schedule
  readonly chance: number
}

export interface Shrunk {
  readonly schedule: Schedule
  /** What happens in it, up to where it goes wrong. */
  readonly story: string
}

/** Call it from a macrotask. */
export function shrunk({ schedule, complaint: { kind } }: Found, parts: Parts): Shrunk {
  let failing: Failing = { schedule, chance: 0 }
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const smaller of smallerThan(failing.schedule)) {
      const chance = wayToFail(smaller, parts, kind)
      if (chance === null) continue
      failing = { schedule: smaller, chance }
      isSmaller = true
      break
    }
  }
  return { schedule: failing.schedule, story: storyOf(failing, parts, kind) }
}

function* smallerThan(schedule: Schedule): Generator<Schedule> {
  const { actions, weather, gateways } = schedule
  for (const action of actions) yield { ...schedule, actions: without(actions, action) }
  for (const name of Object.keys(FAIR) as (keyof Weather)[])
    if (weather[name] !== FAIR[name]) yield { ...schedule, weather: { ...weather, [name]: FAIR[name] } }
  if (gateways.length > 1) yield { ...schedule, gateways: gateways.slice(1) }
  if (gateways.some((workers) => workers > 1))
    yield { ...schedule, gateways: gateways.map((n) => Math.min(n, 1)) }
  if (schedule.kept < 10_000) yield { ...schedule, kept: 10_000 }
  if (schedule.hasRedis) yield { ...schedule, hasRedis: false }
  if (schedule.memory < ENOUGH) yield { ...schedule, memory: ENOUGH }
}

function without(actions: readonly Action[], action: Action): Action[] {
  return actions.filter((each) => each !== action)
}

function wayToFail(schedule: Schedule, parts: Parts, kind: string): number | null {
  for (let chance = 0; chance < WAYS; chance++) {
    const world = new World(schedule, parts, null, chance)
    world.run()
    if (world.witness.complaints.some((each) => each.kind === kind)) return chance
  }
  return null
}

function storyOf({ schedule, chance }: Failing, parts: Parts, kind: string): string {
  const { seed, gateways, hasRedis, kept, memory, weather } = schedule
  const lines = [JSON.stringify({ seed, chance, gateways, hasRedis, kept, memory, weather })]
  const world = new World(schedule, parts, (what) => lines.push(what), chance)
  world.run()
  const end = lines.findIndex((line) => line.includes(` ${kind}: `))
  return lines.slice(0, end < 0 ? lines.length : end + 1).join('\n')
}
