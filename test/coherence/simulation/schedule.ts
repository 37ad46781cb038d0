/**
 * The schedule of one run, derived from a seed: the gateways, the network conditions and the timed actions. A schedule is
 * data, so that a failing run can be repeated with fewer actions (`shrink.ts`).
 */

import { NO_FAULTS, type Conditions } from './context.ts'
import type { Revocation } from './database.ts'
import { Random } from '../../support/random.ts'
import { OWNED_KEY, RECORDS } from './records.ts'
import type { Content } from './tables.ts'

/** `target`, `record`: numbers modulo the candidates at that time. Times in milliseconds of simulated time. */
export type Action = { readonly at: number } & (
  | {
      readonly kind: 'write'
      readonly target: number
      readonly record: number
      readonly deletes: boolean
      /** Number of changes by others in the same commit. */
      readonly further: number
    }
  | {
      /** One commit that writes both Seats, as by `seats/apply`. */
      readonly kind: 'apply'
      readonly target: number
      /** The deleted Seats, as bits. */
      readonly deletes: number
      /** Whether the Seats exchange their names. */
      readonly swaps: boolean
    }
  | ({ readonly kind: 'revoke'; readonly target: number } & Revocation)
  | {
      /** The groups of the member, or its grant. */
      readonly kind: 'provision'
      readonly target: number
      readonly record: number
      readonly deletes: boolean
      /** Whether the change names the tenant alone. */
      readonly isWide: boolean
      /** Of a grant: milliseconds until it begins, and that it lasts. */
      readonly begins: number
      readonly lasts: number
    }
  | { readonly kind: 'set the store clock'; readonly by: number }
  /** A new session of the user. */
  | { readonly kind: 'sign in'; readonly target: number }
  | { readonly kind: 'reload'; readonly target: number }
  | {
      /** Tables of the store. */
      readonly kind: 'push'
      readonly target: number
      readonly content: Content
      /** Whether it has the files that were active in the beginning. */
      readonly isFirst: boolean
    }
  | { readonly kind: 'restore the tables' }
  | { readonly kind: 'write from outside'; readonly record: number }
  | { readonly kind: 'ask'; readonly target: number }
  | { readonly kind: 'freeze'; readonly target: number; readonly lasts: number }
  | { readonly kind: 'kill' | 'kill a worker'; readonly target: number }
  | { readonly kind: 'leave'; readonly target: number }
  | { readonly kind: 'begin'; readonly workers: number }
  | {
      readonly kind: 'cut'
      readonly what: 'store' | 'redis'
      readonly target: number
      readonly lasts: number
    }
  | { readonly kind: 'copy Redis' | 'empty Redis' | 'set Redis back' }
  | { readonly kind: 'set the wall clock'; readonly target: number; readonly by: number }
)

export interface Schedule {
  readonly seed: number
  /** The number of workers of each initial gateway; 0: a single process. */
  readonly gateways: readonly number[]
  readonly hasRedis: boolean
  /** Number of changes that the store keeps. */
  readonly kept: number
  readonly conditions: Conditions
  readonly actions: readonly Action[]
  /** Time when all faults end. */
  readonly end: number
  /** Whether to check that the fleet recovers. */
  readonly checksRecovery: boolean
  /** Bytes of a process's memory: enough, or so few that most entries are evicted before they change. */
  readonly memory: number
  /** Whether a process asks about the block of each user alone. */
  readonly hasManyBlocks: boolean
  /** Milliseconds that the clock of the issuers of tokens is ahead of the store's. */
  readonly issuersAhead: number
  /** Whether the route tables are in the store. */
  readonly tablesInStore: boolean
  /** Which of two gateways cannot build some tables: those with an even number, or the others; null: none. */
  readonly refusing: 0 | 1 | null
}

/** Bytes that hold all records. */
export const ENOUGH = 2 ** 24

/** Upper bound of the random numbers that choose a target. */
const ANY = 60

export function scheduleOf(seed: number): Schedule {
  const random = new Random(seed)
  const busy = random.pick([300, 800, 1600])
  const end = busy + random.pick([150, 1450])
  const gateways = Array.from({ length: random.pick([1, 2, 2, 2, 2, 3]) }, () => workersOf(random))
  const hasRedis = random.chance(0.8)
  const kept = random.pick([10_000, 10_000, 10_000, 2, 2 + random.below(8)])
  const conditions = conditionsOf(random)
  const when = momentsOf(random, busy)
  const actions = [...operationsOf(random, when), ...faultsOf(random, when)]
  for (const { at, kind } of actions)
    if ((kind === 'begin' || kind === 'kill a worker') && random.chance(0.6)) {
      actions.push(...writesOf(random, at + random.between(0, 100)))
    }
  const other = new Random(seed ^ REVOCATIONS)
  actions.push(...revocationsOf(other, when))
  actions.sort((a, b) => a.at - b.at)
  const checksRecovery = random.chance(0.15)
  const memory = random.pick([ENOUGH, ENOUGH, 4000])
  const hasManyBlocks = random.chance(0.3)
  const store = { hasRedis, kept, hasManyBlocks }
  const issuersAhead = other.pick([0, 0, other.between(-1500, 1500)])
  actions.push(...provisionsOf(new Random(seed ^ PROVISIONS), when))
  const tables = tablesOf(new Random(seed ^ TABLES), when)
  actions.push(...tables.actions)
  actions.sort((a, b) => a.at - b.at)
  const { tablesInStore, refusing } = tables
  return {
    ...{ seed, gateways, ...store, conditions, actions, end, checksRecovery, memory, issuersAhead },
    ...{ tablesInStore, refusing },
  }
}

/** As {@link REVOCATIONS}. */
const TABLES = 0x7ab1e5

function tablesOf(
  random: Random,
  when: () => number,
): Pick<Schedule, 'tablesInStore' | 'refusing'> & { readonly actions: Action[] } {
  if (random.chance(0.7)) return { tablesInStore: false, refusing: null, actions: [] }
  const push = (at: number): Action => ({
    ...{ at, kind: 'push', target: random.below(ANY), content: random.pick([0, 1, 1, 2]) },
    isFirst: random.chance(0.15),
  })
  const actions = Array.from({ length: 1 + random.below(3) }).flatMap((): Action[] => {
    const at = 20 + when()
    // Two at once, a write of a Seat that waits for the same instances, and a gateway that begins in the middle.
    const other = random.chance(0.3) ? [push(at + random.between(0, 60))] : []
    const writes = random.chance(0.5) ? writesOf(random, at + random.between(0, 150)) : []
    const begins: Action[] = random.chance(0.2)
      ? [{ at: at + random.between(-20, 60), kind: 'begin', workers: workersOf(random) }]
      : []
    const restored: Action[] = random.chance(0.1)
      ? [{ at: at + random.between(0, 400), kind: 'restore the tables' }]
      : []
    return [push(at), ...other, ...writes, ...begins, ...restored]
  })
  return { tablesInStore: true, refusing: random.pick([null, null, 0, 1] as const), actions }
}

function workersOf(random: Random): number {
  return random.chance(0.3) ? random.pick([1, 1, 2]) : 0
}

/** Some actions cluster: with uniform times, faults would rarely coincide. */
function momentsOf(random: Random, end: number): () => number {
  const moments = Array.from({ length: 3 }, () => random.between(30, end))
  return () => (random.chance(0.4) ? random.between(0, end) : random.pick(moments) + random.between(0, 60))
}

function conditionsOf(random: Random): Conditions {
  const some = (chance: number, most: number) => (random.chance(chance) ? random.between(0, most) : 0)
  return {
    ...NO_FAULTS,
    usual: random.pick([0.5, 2, 20]),
    slow: some(0.6, 0.15),
    slowest: random.pick([30, 100, 300, 300, 1500]),
    refused: some(0.25, 0.2),
    unanswered: some(0.25, 0.15),
    lost: random.pick([0, 0, 0, 0.2, 0.5, 1]),
    doubled: some(0.2, 0.5),
  }
}

/** Operations without faults. */
function operationsOf(random: Random, when: () => number): Action[] {
  const operations: Action[] = []
  for (let writes = 2 + random.below(3); writes > 0; writes--)
    operations.push(...writesOf(random, 20 + when()))
  for (let asks = random.below(6); asks > 0; asks--)
    operations.push({ at: when(), kind: 'ask', target: random.below(ANY) })
  if (random.chance(0.1))
    operations.push({ at: when(), kind: 'write from outside', record: recordOf(random) })
  if (random.chance(0.25)) operations.push({ at: when(), kind: 'begin', workers: workersOf(random) })
  for (let reloads = random.below(3); reloads > 0; reloads--)
    operations.push({ at: when(), kind: 'reload', target: random.below(ANY) })
  if (random.chance(0.1)) operations.push({ at: when(), kind: 'leave', target: random.below(ANY) })
  return operations
}

/** As {@link REVOCATIONS}. */
const PROVISIONS = 0x9a0de

function provisionsOf(random: Random, when: () => number): Action[] {
  if (random.chance(0.3)) return []
  // Two of one record often follow each other at once.
  const actions = Array.from({ length: 1 + random.below(3) }).flatMap((): Action[] => {
    const [at, record] = [20 + when(), random.below(2)]
    const later = random.chance(0.6) ? [random.between(0, 80)] : []
    return [0, ...later].map((more) => ({
      ...{ at: at + more, kind: 'provision', target: random.below(ANY), record },
      ...{ deletes: random.chance(0.25), isWide: random.chance(0.3) },
      ...{
        begins: random.pick([0, 0, random.between(0, 500)]),
        lasts: random.pick([random.between(100, 1500), 9000]),
      },
    }))
  })
  const clocks: Action[] = random.chance(0.1)
    ? [{ at: when(), kind: 'set the store clock', by: random.between(-3000, 3000) }]
    : []
  return [...actions, ...clocks]
}

/** Makes other numbers of a seed: the rest of the schedule does not depend on whether it has revocations. */
const REVOCATIONS = 0x5eed

function revocationsOf(random: Random, when: () => number): Action[] {
  if (random.chance(0.6)) return []
  const first = 40 + when()
  // Two of one subject, a sign-in or a new key often coincide.
  const at = () => (random.chance(0.6) ? first + random.between(-40, 40) : 40 + when())
  const signIns = Array.from({ length: random.below(4) }, () => ({
    ...{ at: at(), kind: 'sign in' as const, target: random.below(ANY) },
  }))
  const keys = random.chance(0.3) ? [writeOf(RECORDS.indexOf(OWNED_KEY), at(), random)] : []
  const subject = random.pick(['user', 'user', 'user', 'tenant', 'issuer'] as const)
  const revocations = [first, ...(random.chance(0.4) ? [at()] : [])].map((at) => ({
    ...{ at, kind: 'revoke' as const, target: random.below(ANY) },
    ...{ subject, blocks: random.chance(0.3), lists: random.chance(0.7) },
  }))
  return [...signIns, ...keys, ...revocations]
}

function writeOf(record: number, at: number, random: Random): Action {
  return { at, kind: 'write', target: random.below(ANY), record, deletes: false, further: 0 }
}

/** Often followed by a second write of the same record, perhaps by another process. */
function writesOf(random: Random, at: number): Action[] {
  if (random.chance(0.25)) {
    const deletes = random.chance(0.3) ? random.below(4) : 0
    return [{ at, kind: 'apply', target: random.below(ANY), deletes, swaps: random.chance(0.3) }]
  }
  const record = recordOf(random)
  const write = (later: number): Action => ({
    at: at + later,
    kind: 'write',
    target: random.below(ANY),
    record,
    deletes: random.chance(0.15),
    further: random.chance(0.01) ? 1000 : 0,
  })
  return random.chance(0.4)
    ? [write(0), write(random.pick([random.between(0, 300), random.between(1100, 1700)]))]
    : [write(0)]
}

/** Mostly the same record, so that writes and requests coincide. */
function recordOf(random: Random): number {
  return random.chance(0.5) ? 0 : random.below(RECORDS.length)
}

function faultsOf(random: Random, when: () => number): Action[] {
  const faults: Action[] = []
  const target = () => random.below(ANY)
  const lasts = () =>
    random.pick([random.between(5, 300), random.between(300, 1200), random.between(1200, 2800)])
  const add = (chance: number, make: () => Action) => {
    for (let times = 0; times < 3 && random.chance(chance); times++) faults.push(make())
  }
  add(0.4, () => ({ at: when(), kind: 'freeze', target: target(), lasts: lasts() }))
  add(0.1, () => ({ at: when(), kind: 'kill', target: target() }))
  add(0.35, () => ({ at: when(), kind: 'kill a worker', target: target() }))
  add(0.25, () => ({ at: when(), kind: 'cut', what: 'store', target: target(), lasts: lasts() }))
  add(0.25, () => ({ at: when(), kind: 'cut', what: 'redis', target: target(), lasts: lasts() }))
  add(0.1, () => ({ at: when(), kind: 'empty Redis' }))
  add(0.2, () => ({ at: when(), kind: 'copy Redis' }))
  add(0.2, () => ({ at: when(), kind: 'set Redis back' }))
  add(0.1, () => ({
    at: when(),
    kind: 'set the wall clock',
    target: target(),
    by: random.between(-3000, 3000),
  }))
  return faults
}
