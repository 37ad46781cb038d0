/**
 * What is to happen in one run, all of it from a seed: which gateways there are, how bad things are, and what is done
 * when. A schedule is data, so that a run that went wrong can be tried again with less in it (`shrink.ts`).
 */

import { FAIR, type Weather } from './nature.ts'
import { Random } from './random.ts'
import { THINGS } from './things.ts'

/** `who`, `thing`: numbers to pick from those there are then. Times in milliseconds of true time. */
export type Action = { readonly at: number } & (
  | {
      readonly kind: 'write'
      readonly who: number
      readonly thing: number
      readonly deletes: boolean
      /** Changes of others in the same commit. */
      readonly further: number
    }
  | { readonly kind: 'write from outside'; readonly thing: number }
  | { readonly kind: 'ask'; readonly who: number }
  | { readonly kind: 'freeze'; readonly who: number; readonly lasts: number }
  | { readonly kind: 'kill' | 'kill a worker'; readonly who: number }
  | { readonly kind: 'leave'; readonly who: number }
  | { readonly kind: 'begin'; readonly workers: number }
  | { readonly kind: 'cut'; readonly what: 'store' | 'redis'; readonly who: number; readonly lasts: number }
  | { readonly kind: 'copy Redis' | 'empty Redis' | 'set Redis back' }
  | { readonly kind: 'set the wall clock'; readonly who: number; readonly by: number }
)

export interface Schedule {
  readonly seed: number
  /** The workers of each gateway that is there from the beginning; 0: it decides itself. */
  readonly gateways: readonly number[]
  readonly hasRedis: boolean
  /** Changes that the store keeps. */
  readonly kept: number
  readonly weather: Weather
  readonly actions: readonly Action[]
  /** When all faults are mended. */
  readonly end: number
  /** Whether to look on until everything must be well again. */
  readonly looksOn: boolean
  /** Bytes of what a process remembers: enough, or so few that most of it is pushed out before it changes. */
  readonly memory: number
}

/** Bytes that hold all there is. */
export const ENOUGH = 2 ** 24

/** Who is picked out of how many, at most. */
const ANY = 60

export function scheduleOf(seed: number): Schedule {
  const random = new Random(seed)
  const busy = random.pick([300, 800, 1600])
  const end = busy + random.pick([150, 1450])
  const gateways = Array.from({ length: random.pick([1, 2, 2, 2, 2, 3]) }, () => workersOf(random))
  const hasRedis = random.chance(0.8)
  const kept = random.pick([10_000, 10_000, 10_000, 2, 2 + random.below(8)])
  const weather = weatherOf(random)
  const when = momentsOf(random, busy)
  const actions = [...deedsOf(random, when), ...faultsOf(random, when)]
  for (const { at, kind } of actions)
    if ((kind === 'begin' || kind === 'kill a worker') && random.chance(0.6)) {
      actions.push(...writesOf(random, at + random.between(0, 100)))
    }
  actions.sort((a, b) => a.at - b.at)
  const looksOn = random.chance(0.15)
  const memory = random.pick([ENOUGH, ENOUGH, 4000])
  return { seed, gateways, hasRedis, kept, weather, actions, end, looksOn, memory }
}

function workersOf(random: Random): number {
  return random.chance(0.3) ? random.pick([1, 1, 2]) : 0
}

/** Some things happen at about the same time: by even chance, what goes wrong together would seldom meet. */
function momentsOf(random: Random, end: number): () => number {
  const moments = Array.from({ length: 3 }, () => random.between(30, end))
  return () => (random.chance(0.4) ? random.between(0, end) : random.pick(moments) + random.between(0, 60))
}

function weatherOf(random: Random): Weather {
  const some = (chance: number, most: number) => (random.chance(chance) ? random.between(0, most) : 0)
  return {
    ...FAIR,
    usual: random.pick([0.5, 2, 20]),
    slow: some(0.6, 0.15),
    slowest: random.pick([30, 100, 300, 300, 1500]),
    refused: some(0.25, 0.2),
    unanswered: some(0.25, 0.15),
    lost: random.pick([0, 0, 0, 0.2, 0.5, 1]),
    doubled: some(0.2, 0.5),
  }
}

/** What the protocol must get right when all is well, too. */
function deedsOf(random: Random, when: () => number): Action[] {
  const deeds: Action[] = []
  for (let writes = 2 + random.below(3); writes > 0; writes--) deeds.push(...writesOf(random, 20 + when()))
  for (let asks = random.below(6); asks > 0; asks--)
    deeds.push({ at: when(), kind: 'ask', who: random.below(ANY) })
  if (random.chance(0.1)) deeds.push({ at: when(), kind: 'write from outside', thing: thingOf(random) })
  if (random.chance(0.25)) deeds.push({ at: when(), kind: 'begin', workers: workersOf(random) })
  if (random.chance(0.1)) deeds.push({ at: when(), kind: 'leave', who: random.below(ANY) })
  return deeds
}

/** Often a second one soon after: by somebody else, it may be, of the same thing. */
function writesOf(random: Random, at: number): Action[] {
  const thing = thingOf(random)
  const write = (later: number): Action => ({
    at: at + later,
    kind: 'write',
    who: random.below(ANY),
    thing,
    deletes: random.chance(0.15),
    further: random.chance(0.01) ? 1000 : 0,
  })
  return random.chance(0.4)
    ? [write(0), write(random.pick([random.between(0, 300), random.between(1100, 1700)]))]
    : [write(0)]
}

/** Mostly the same one: writes and requests must meet. */
function thingOf(random: Random): number {
  return random.chance(0.6) ? 0 : random.below(THINGS.length)
}

function faultsOf(random: Random, when: () => number): Action[] {
  const faults: Action[] = []
  const who = () => random.below(ANY)
  const lasts = () =>
    random.pick([random.between(5, 300), random.between(300, 1200), random.between(1200, 2800)])
  const add = (chance: number, make: () => Action) => {
    for (let times = 0; times < 3 && random.chance(chance); times++) faults.push(make())
  }
  add(0.4, () => ({ at: when(), kind: 'freeze', who: who(), lasts: lasts() }))
  add(0.1, () => ({ at: when(), kind: 'kill', who: who() }))
  add(0.35, () => ({ at: when(), kind: 'kill a worker', who: who() }))
  add(0.25, () => ({ at: when(), kind: 'cut', what: 'store', who: who(), lasts: lasts() }))
  add(0.25, () => ({ at: when(), kind: 'cut', what: 'redis', who: who(), lasts: lasts() }))
  add(0.1, () => ({ at: when(), kind: 'empty Redis' }))
  add(0.2, () => ({ at: when(), kind: 'copy Redis' }))
  add(0.2, () => ({ at: when(), kind: 'set Redis back' }))
  add(0.1, () => ({ at: when(), kind: 'set the wall clock', who: who(), by: random.between(-3000, 3000) }))
  return faults
}
