/**
 * Blocks of users, as the store last returned them. The few blocks of a tenant are kept as a whole, so that a decision on
 * another user needs no read; of a tenant with hundreds each user is asked about alone.
 *
 * A block ends by the time of the store. A reading has that time, and this process counts on from its receipt by its
 * monotonic clock: never ahead of the store, so that no block ends early.
 */

import { performance } from 'node:perf_hooks'
import type { ActiveBlock, BlocksReading, UserBlockReading } from '../../../seats-admin/model/block.ts'
import type { Trace } from '../../model/decision.ts'
import { ReadThrough, type ReadThroughOptions, WHOLE, type Question } from './read-through.ts'

/** Monotonic ms at which the block of each user ends, Infinity: never; null: too many to be kept as a whole. */
export type BlockEnds = ReadonlyMap<string, number> | null

/** The one list of a tenant. */
const LIST = ''

/** Monotonic ms. */
export const monotonic = (): number => performance.now()

export class Blocks {
  readonly #lists: ReadThrough<BlockEnds>
  /** Of tenants with many blocks: monotonic ms at which the block of a user ends; null: not blocked. */
  readonly #users: ReadThrough<number | null>
  readonly #now: () => number

  /** @param options.now monotonic ms, of the readings' ends too */
  constructor(options: {
    readonly now: () => number
    readonly ofTenant: ReadThroughOptions<BlockEnds, Question>
    readonly ofUser: ReadThroughOptions<number | null, Question>
  }) {
    this.#now = options.now
    this.#lists = new ReadThrough(options.ofTenant)
    this.#users = new ReadThrough(options.ofUser)
  }

  isBlocked(tenant: string, user: string, trace?: Trace): boolean | Promise<boolean> {
    const ends = this.#lists.get(tenant, LIST, WHOLE, trace)
    if (ends instanceof Promise) return ends.then((it) => this.#isBlockedBy(it, tenant, user, trace))
    return this.#isBlockedBy(ends, tenant, user, trace)
  }

  #isBlockedBy(
    ends: BlockEnds,
    tenant: string,
    user: string,
    trace: Trace | undefined,
  ): boolean | Promise<boolean> {
    if (ends !== null) return this.#isAhead(ends.get(user) ?? null)
    const end = this.#users.get(tenant, user, WHOLE, trace)
    return end instanceof Promise ? end.then((it) => this.#isAhead(it)) : this.#isAhead(end)
  }

  #isAhead(end: number | null): boolean {
    return end !== null && this.#now() < end
  }

  invalidate(tenant: string, user: string, seq: number): void {
    this.#lists.invalidate(tenant, LIST, seq)
    this.#users.invalidate(tenant, user, seq)
  }

  clear(): void {
    this.#lists.clear()
    this.#users.clear()
  }

  get size(): number {
    return this.#lists.size + this.#users.size
  }
}

/** @param received monotonic ms */
export function blocksByUser({ now, blocks }: BlocksReading, received: number): BlockEnds {
  return blocks === null ? null : new Map(blocks.map((block) => [block.user, endAt(block, now, received)]))
}

/** @param received monotonic ms */
export function endOf({ now, block }: UserBlockReading, received: number): number | null {
  return block === null ? null : endAt(block, now, received)
}

function endAt({ until }: ActiveBlock, now: number, received: number): number {
  return until === null ? Infinity : received + until - now
}
