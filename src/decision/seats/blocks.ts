/**
 * Blocks of users, as the store last returned them. The list of a tenant with few blocks is kept as a whole,
 * so that a decision on another user needs no read. The block of a user of a tenant with hundreds is read by
 * itself.
 *
 * A block ends once its end is past by two clocks. One is the store's: a reading has its time, and this
 * process continues it from the receipt by its monotonic clock, never ahead of the store. The other is the
 * wall clock of this process at the decision: a reading may be kept for long, and the clock of the store may
 * have been ahead when it was made.
 */

import { performance } from 'node:perf_hooks'
import type { UserBlock, BlocksReading, UserBlockReading } from '../../../seats-admin/model/block.ts'
import { MAP_BYTES, NUMBER_BYTES, OBJECT_BYTES, SET_ENTRY_BYTES, textsBytes } from '../../lib/heap-size.ts'
import type { Trace } from '../../model/decision.ts'
import { ReadThrough, type ReadThroughOptions, WHOLE, type Question } from './read-through.ts'

/** The blocks of a tenant; null: too many to be kept as a whole. */
type BlockList = {
  /** User → the end, ms since the epoch; Infinity: never. */
  readonly ends: ReadonlyMap<string, number>
  readonly offset: number
} | null

/** The block of one user; null: not blocked. */
type BlockEnd = {
  /** Ms since the epoch; Infinity: never. */
  readonly end: number
  /** What the monotonic clock is ahead of the store. */
  readonly offset: number
} | null

/** The one list of a tenant. */
const LIST = ''

/** The time, in monotonic ms. */
export const monotonic = (): number => performance.now()

export class Blocks {
  readonly #lists: ReadThrough<BlockList>
  /** The blocks of users of tenants with many blocks. */
  readonly #users: ReadThrough<BlockEnd>
  readonly #now: () => number
  readonly #wall: () => number

  /**
   * @param options.now monotonic ms, of the readings' offsets too
   * @param options.wall ms since the epoch
   */
  constructor(options: {
    readonly now: () => number
    readonly wall: () => number
    readonly ofTenant: ReadThroughOptions<BlockList, Question>
    readonly ofUser: ReadThroughOptions<BlockEnd, Question>
  }) {
    this.#now = options.now
    this.#wall = options.wall
    this.#lists = new ReadThrough(options.ofTenant)
    this.#users = new ReadThrough(options.ofUser)
  }

  isBlocked(tenant: string, user: string, trace?: Trace): boolean | Promise<boolean> {
    // The list changes with each block of the tenant. The decision depends on the blocks of this user alone.
    const list = this.#lists.get(tenant, LIST, WHOLE, trace, user)
    if (list instanceof Promise) return list.then((it) => this.#isBlockedBy(it, tenant, user, trace))
    return this.#isBlockedBy(list, tenant, user, trace)
  }

  #isBlockedBy(
    list: BlockList,
    tenant: string,
    user: string,
    trace: Trace | undefined,
  ): boolean | Promise<boolean> {
    if (list !== null) return this.#isAhead(list.ends.get(user), list.offset)
    const block = this.#users.get(tenant, user, WHOLE, trace)
    if (block instanceof Promise) return block.then((it) => this.#isAhead(it?.end, it?.offset))
    return this.#isAhead(block?.end, block?.offset)
  }

  #isAhead(end: number | undefined, offset = 0): boolean {
    return end !== undefined && (this.#now() - offset < end || this.#wall() < end)
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
export function blockListOf({ now, blocks }: BlocksReading, received: number): BlockList {
  if (blocks === null) return null
  return { ends: new Map(blocks.map((block) => [block.user, endOf(block)])), offset: received - now }
}

/** @param received monotonic ms */
export function blockEndOf({ now, block }: UserBlockReading, received: number): BlockEnd {
  return block === null ? null : { end: endOf(block), offset: received - now }
}

function endOf({ until }: UserBlock): number {
  return until ?? Infinity
}

export function blockListBytes(list: BlockList): number {
  if (list === null) return 0
  const { ends } = list
  const entries = textsBytes(ends.keys()) + ends.size * (SET_ENTRY_BYTES + NUMBER_BYTES)
  return OBJECT_BYTES + NUMBER_BYTES + MAP_BYTES + entries
}

export const BLOCK_END_BYTES = OBJECT_BYTES + 2 * NUMBER_BYTES
