/** Rate limits, as tables name them, and the tokens that the processes of a fleet borrow. */

/** Who has a budget of its own. A caller is a tenant and a user, or a tenant and an API key. */
type RateLimitBy = 'caller' | 'tenant' | 'address' | 'route'

/** A token bucket of each key: at most `burst` + `limit` × time / `window` requests pass. */
export interface RateLimit {
  /**
   * Lower-case letters, digits, `_` and `-`: a label of metrics, and a String of structured fields (RFC
   * 9651).
   */
  readonly name: string
  /** Tokens that are added in a window. */
  readonly limit: number
  /** Milliseconds: a second, a minute or an hour. */
  readonly window: number
  /** Tokens that a bucket holds at most. */
  readonly burst: number
  readonly per: RateLimitBy
}

/** `writes 1000/h burst 50 per caller`: for lists and comparisons. */
export function rateLimitText({ name, limit, window, burst, per }: RateLimit): string {
  const [unit = `${window}ms`] = [...WINDOWS].find(([, milliseconds]) => milliseconds === window) ?? []
  return `${name} ${limit}/${unit} burst ${burst} per ${per}`
}

/** Milliseconds by unit. */
export const WINDOWS: ReadonlyMap<string, number> = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])

/** What fills a bucket: tokens at most, and tokens in a millisecond. */
export interface Filling {
  readonly capacity: number
  readonly rate: number
}

/**
 * The filling of one of several equal shares of a limit. A share holds at least one token, as nothing would
 * ever pass otherwise.
 */
export function shareOf({ limit, window, burst }: RateLimit, shares: number): Filling {
  return { capacity: Math.max(1, burst / shares), rate: limit / window / shares }
}

/**
 * A process asks for tokens of one bucket that a fleet shares, and settles what it owes. Tokens are whole
 * unless a field says otherwise.
 */
export interface LoanRequest {
  readonly limit: RateLimit
  readonly key: string
  /** The tenant of the key; '': none. */
  readonly owner: string
  /** Tokens for requests that wait. */
  readonly need: number
  /** Tokens for later requests. Fewer are given while the bucket runs low. */
  readonly extra: number
  /** Borrowed tokens that were not used. */
  readonly back: number
  /** Tokens that requests took while the bucket could not be reached; a fraction. */
  readonly debit: number
  /** Tokens of a bucket that does not exist; a fraction. */
  readonly initial: number
  /** Processes that share the bucket. */
  readonly processes: number
}

export interface Loan {
  readonly granted: number
  /** Tokens that are left in the bucket; a fraction, negative if debits exceed it. */
  readonly left: number
}

/** Keeps the buckets that a fleet shares. */
export interface Lender {
  /** False: it can't be asked at the moment. */
  readonly up: boolean
  /**
   * The number of parts of each limit: each lender has one. 1: its buckets hold the limits of the whole
   * fleet.
   */
  readonly shares: number
  /** Monotonic ms of the last time that it may have lost its buckets; -Infinity: it has never been away. */
  readonly lostAt: number
  /** One atomic step. Rejects soon if the lender can't be reached. */
  exchange(request: LoanRequest): Promise<Loan>
}

/**
 * The largest slice that a process borrows at once: 1 % of the limit and 10 % of the burst at most, and at
 * least one.
 */
export function sliceOf({ limit, burst }: RateLimit): number {
  return Math.max(1, Math.floor(Math.min(limit / 100, burst / 10)))
}

/**
 * What a loan request is granted of so many tokens: what is needed, and of the rest a share that leaves as
 * much for each of the other processes. `redis/token-lender.ts` has the same as a script.
 */
export function grantOf(tokens: number, { need, extra, processes }: LoanRequest): number {
  const needed = Math.max(0, Math.min(need, Math.floor(tokens)))
  const spare = Math.floor((tokens - needed) / (2 * processes))
  return needed + Math.max(0, Math.min(extra, spare))
}
