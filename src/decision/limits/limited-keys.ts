/**
 * The keys of one rate limit in one process. Tokens come from a slice that the process has borrowed from the
 * lender. Without a lender, or while it is away, they come from the process's own share. A request never
 * waits while the process has a token.
 *
 * A borrowed token counts for {@link holdOf} ms, and goes back if it is not used: idle processes keep no
 * tokens.
 */

import {
  type Filling,
  type Lender,
  type LoanRequest,
  type RateLimit,
  shareOf,
  sliceOf,
} from '../../model/rate-limit.ts'
import { BoundedTable } from './bounded-table.ts'
import { Bucket, waitFor } from './bucket.ts'

/** The most keys of one limit in a process, 300 bytes each. */
const MAX_KEYS = 100_000
/** Milliseconds for which a borrowed token counts: a hundredth of the window, within these. */
const MIN_HOLD = 50
const MAX_HOLD = 1000
/** Milliseconds by which Redis' clock, which has whole ones, may be late: a bucket has no token before. */
const CLOCK_STEP = 1

/** The state of a key that must ask the lender. */
export const ASK = -1

export interface Surroundings {
  /** Monotonic ms. */
  readonly now: () => number
  /** Null: this process has the limit to itself, or its share of it. */
  readonly lender: Lender | null
  /** Processes that enforce the limits, this one included. */
  readonly processes: () => number
}

/** One key: what is borrowed, and the process's own share in `Bucket`. */
class LimitedKey extends Bucket {
  /** Null: an entry that several keys share, which borrows nothing. */
  readonly key: string | null
  /** Its tenant; '': none. */
  readonly owner: string
  /** The borrowed tokens, and monotonic ms until which they count. */
  held = 0
  heldUntil = 0
  /** Borrowed tokens to give back. */
  back = 0
  /** Tokens of the next slice. */
  slice = 1
  /** Requests that wait for the loan, and those refused since the last one. */
  waiting = 0
  refused = 0
  /** Tokens for which the lender is asked again: more in a flood. */
  batch = 1
  loan: Promise<void> | null = null
  /** Monotonic ms: the lender has nothing until then. */
  emptyUntil = 0
  /** The tokens in the lender's bucket; null: not known. */
  lent: Bucket | null = null
  /** The share is in use, and so many of its tokens are not reported to the lender. */
  alone = false
  debit = 0

  constructor(key: string | null, owner: string, tokens: number, now: number) {
    super(tokens, now)
    this.key = key
    this.owner = owner
  }
}

export class LimitedKeys {
  readonly #around: Surroundings
  readonly #keys: BoundedTable<LimitedKey>
  /** The keys that may have borrowed tokens. */
  readonly #borrowers = new Set<LimitedKey>()
  /** A reload may change it. Buckets stay as they are, up to the new burst. */
  limit: RateLimit
  /** Exchanges with the lender that have failed: what they lent is lost. */
  failed = 0

  constructor(limit: RateLimit, around: Surroundings, bound = MAX_KEYS) {
    this.limit = limit
    this.#around = around
    this.#keys = new BoundedTable<LimitedKey>({
      bound,
      create: (key, owner, like) => {
        const now = around.now()
        if (like === null) return new LimitedKey(key, owner, this.#share.capacity, now)
        const entry = new LimitedKey(key, owner, this.#own(like, now), now)
        entry.alone = true
        return entry
      },
      isForgettable: (key) => this.#isForgettable(key),
      poorer: (one, other) => this.#poorer(one, other),
    })
  }

  /** Entries in memory. */
  get size(): number {
    return this.#keys.size
  }

  /** The borrowed tokens that are not used yet. */
  get borrowed(): number {
    let sum = 0
    for (const { held } of this.#borrowers) sum += held
    return sum
  }

  /** The current number of parts of the limit; 1: one budget. */
  get shares(): number {
    const { lender, processes } = this.#around
    return lender?.up === true ? lender.shares : processes()
  }

  /** @param owner the tenant of the key; '' for one of none */
  find(key: string, owner: string): LimitedKey {
    return this.#keys.get(key, owner)
  }

  /** 0: there is a token; positive: ms until there may be one; {@link ASK}. */
  state(key: LimitedKey, now: number): number {
    if (this.#holds(key, now)) return 0
    if (this.#isLent(key)) return now < key.emptyUntil ? key.emptyUntil - now : ASK
    return waitFor(this.#own(key, now), this.#share.rate)
  }

  /** Takes a token, after {@link state} was 0. */
  spend(key: LimitedKey, now: number): void {
    if (this.#holds(key, now)) {
      key.held--
      return
    }
    key.tokens--
    if (this.#around.lender !== null) key.debit++
  }

  /** Tokens of the key, a fraction, as far as this process knows. */
  left(key: LimitedKey, now: number): number {
    return key.held + (this.#isLent(key) ? this.#lent(key, now) : this.#own(key, now))
  }

  /** Milliseconds until there is a token, as far as this process knows; 0: there is one. */
  wait(key: LimitedKey, now: number): number {
    const state = this.state(key, now)
    return state === ASK ? waitFor(this.#lent(key, now), this.#whole.rate) : state
  }

  /** Asks the lender what its bucket has, for {@link wait}, and borrows nothing. Never rejects. */
  inquire(key: LimitedKey): Promise<void> {
    return this.#exchange(key)
  }

  /**
   * Asks the lender, together with all others that ask in this turn. Never rejects: {@link state} tells the
   * result.
   */
  ask(key: LimitedKey): Promise<void> {
    key.waiting++
    return this.#exchange(key)
  }

  /** Gives back the borrowed tokens of keys that were not used lately. */
  giveBack(now: number): void {
    for (const key of this.#borrowers) {
      if (this.#holds(key, now)) continue
      this.#borrowers.delete(key)
      if (key.back > 0 && this.#isLent(key)) void this.#exchange(key)
    }
  }

  /** The filling of this process's own share. */
  get #share(): Filling {
    return shareOf(this.limit, this.#around.processes())
  }

  /** The filling of the lender's bucket. */
  get #whole(): Filling {
    return shareOf(this.limit, this.#around.lender?.shares ?? 1)
  }

  #isLent({ key }: LimitedKey): boolean {
    return key !== null && this.#around.lender?.up === true
  }

  /** Whether it has a borrowed token that counts. */
  #holds(key: LimitedKey, now: number): boolean {
    if (key.held === 0) return false
    if (now < key.heldUntil) return true
    key.back += key.held
    key.held = 0
    key.slice = Math.max(1, key.slice >> 1)
    key.batch = Math.max(1, key.batch >> 1)
    return false
  }

  /** The tokens of the lender's bucket: what it said last, and what was added since. */
  #lent(key: LimitedKey, now: number): number {
    return key.lent === null ? this.#whole.capacity : key.lent.refill(this.#whole, now)
  }

  /** The tokens of the share. It begins with its part of what the lender had. */
  #own(key: LimitedKey, now: number): number {
    const share = this.#share
    if (!key.alone && this.#around.lender !== null) {
      key.refill(share, now)
      key.tokens = this.#lent(key, now) / this.#around.processes()
      key.alone = true
    }
    return key.refill(share, now)
  }

  /** If the lender has the bucket, the entry is forgotten with its borrowed tokens, which are lost. */
  #isForgettable(key: LimitedKey): boolean {
    const now = this.#around.now()
    if (key.loan !== null) return false
    if (key.debit === 0 && this.#around.lender !== null) return true
    return this.#own(key, now) >= this.#share.capacity
  }

  #poorer(one: LimitedKey, other: LimitedKey): LimitedKey {
    const now = this.#around.now()
    return this.#own(one, now) <= this.#own(other, now) ? one : other
  }

  #exchange(key: LimitedKey): Promise<void> {
    // Requests that ask in the same turn share the loan.
    key.loan ??= Promise.resolve().then(() => this.#borrow(key))
    return key.loan
  }

  async #borrow(key: LimitedKey): Promise<void> {
    const { lender, now } = this.#around
    try {
      if (lender === null) return
      const request = this.#request(key, now())
      const { debit } = key
      key.back = 0
      const { granted, left } = await lender.exchange(request)
      key.debit = Math.max(0, key.debit - debit)
      key.alone = key.debit > 0
      this.#borrowed(key, granted, left, request.need)
    } catch {
      this.failed++
      // What was to go back is lost. The lender is not up, or else is asked again.
    } finally {
      key.loan = null
      key.waiting = 0
    }
  }

  #request(key: LimitedKey, now: number): LoanRequest {
    const { processes } = this.#around
    const { need, extra } = this.#wanted(key)
    const missing = key.debit === 0 ? 0 : this.#share.capacity - this.#own(key, now)
    return {
      limit: this.limit,
      key: key.key ?? '',
      owner: key.owner,
      need,
      extra,
      back: key.back,
      // What has been added to the share since then is in the lender's bucket too, unless that was full.
      debit: Math.min(key.debit, missing),
      initial: this.#initial(key, now),
      processes: processes(),
    }
  }

  /**
   * The tokens to ask for: in a flood a whole slice, which is used at once, so that none of it goes back.
   */
  #wanted({ waiting, slice, batch }: LimitedKey): Pick<LoanRequest, 'need' | 'extra'> {
    if (waiting === 0) return { need: 0, extra: 0 }
    const need = Math.max(waiting, Math.min(batch, sliceOf(this.limit)))
    return { need, extra: Math.max(0, slice - need) }
  }

  /**
   * The tokens of a new bucket. A lender that was away may have lost one that was not full: this process
   * accounts for its share.
   */
  #initial(key: LimitedKey, now: number): number {
    const { lender, processes } = this.#around
    const { capacity, rate } = this.#whole
    if (now - (lender?.lostAt ?? Number.NEGATIVE_INFINITY) >= capacity / rate) return capacity
    return key.alone ? this.#own(key, now) : this.#lent(key, now) / processes()
  }

  #borrowed(key: LimitedKey, granted: number, left: number, need: number): void {
    const now = this.#around.now()
    key.lent = new Bucket(left, now)
    key.held += granted
    if (key.held > 0) this.#borrowers.add(key)
    key.heldUntil = now + holdOf(this.limit)
    if (need > 0) key.slice = Math.min(sliceOf(this.limit), key.slice * 2)
    if (need === 0) return
    key.batch = this.#batch(key)
    key.refused = 0
    if (left < key.batch) key.emptyUntil = now + this.#pause(key.batch - left, this.#whole.capacity - left)
  }

  /**
   * Doubles while several requests are refused in each pause, up to a slice for each process that asks: a
   * flood costs the lender one exchange a slice. A caller that obeys `Retry-After` is not a flood, and gets
   * the first token. A batch is a slice less than the bucket holds, so that the bucket does not overflow
   * before it is taken.
   */
  #batch({ refused, batch }: LimitedKey): number {
    if (refused <= 1) return refused === 1 ? batch : Math.max(1, batch >> 1)
    const slice = sliceOf(this.limit)
    const most = Math.min(slice * this.#borrowing, this.#whole.capacity - slice)
    return Math.max(1, Math.min(Math.max(2 * batch, refused), Math.floor(most)))
  }

  /**
   * Milliseconds.
   *
   * @param tokens that must come first
   * @param room for tokens in the bucket
   */
  #pause(tokens: number, room: number): number {
    const { rate } = this.#whole
    return Math.min(tokens / rate + CLOCK_STEP, room / rate)
  }

  /** The number of processes that ask the lender. */
  get #borrowing(): number {
    const { lender, processes } = this.#around
    return processes() / (lender?.shares ?? 1)
  }
}

/** One limit that a route names, and the key of the request in it. */
export interface Part {
  readonly keys: LimitedKeys
  readonly key: LimitedKey
}

function holdOf({ window }: RateLimit): number {
  return Math.min(MAX_HOLD, Math.max(MIN_HOLD, window / 100))
}
