/**
 * The buckets of rate limits that a fleet shares, in Redis. A bucket is one key, a text `tokens time`, so
 * that the script runs on one node of a cluster. Its name is a hash: Redis learns no user or address. Full
 * buckets expire.
 *
 * The clock of Redis counts: if a server takes over with an earlier clock, the bucket gains nothing until
 * that has caught up.
 */

import { createHash, randomBytes } from 'node:crypto'
import { type Lender, type Loan, type LoanRequest, shareOf } from '../model/rate-limit.ts'
import { type RedisConnection, isReady } from './redis-connection.ts'
import type { Keys } from './keys.ts'

/** Milliseconds until Redis is asked again after no reply. One exchange tries; others do not wait for it. */
const PAUSE = 500

/** The rule of `grantOf` of `model/rate-limit.ts`. Amounts are decimal texts: Redis truncates numbers. */
const SCRIPT = `
local capacity, rate = tonumber(ARGV[1]), tonumber(ARGV[2])
local need, extra, processes = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local back, debit, initial = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local tokens = math.min(capacity, initial)
local at = now
local state = redis.call('GET', KEYS[1])
if state then
  local left, since = string.match(state, '^(%S+) (%S+)$')
  at = math.max(now, tonumber(since))
  tokens = math.min(capacity, tonumber(left) + (at - tonumber(since)) * rate) - debit
  tokens = math.max(-capacity, math.min(capacity, tokens + back))
end
local needed = math.max(0, math.min(need, math.floor(tokens)))
local spare = math.floor((tokens - needed) / (2 * processes))
local granted = needed + math.max(0, math.min(extra, spare))
tokens = tokens - granted
if tokens >= capacity then
  redis.call('DEL', KEYS[1])
else
  local life = math.ceil((capacity - tokens) / rate) + (at - now) + 1000
  redis.call('SET', KEYS[1], string.format('%.9f %.0f', tokens, at), 'PX', string.format('%.0f', life))
end
return string.format('%.0f %.9f', granted, tokens)
`

/** Both by the same name, so that the reply's guard and Redis' statistics know them. */
type Scripted = RedisConnection & {
  seatgateLend(key: string, ...amounts: readonly string[]): Promise<unknown>
}

export class TokenLender implements Lender {
  readonly shares = 1
  readonly #redis: Scripted
  readonly #keys: Keys
  readonly #now: () => number
  readonly #report: (isUp: boolean) => void
  #lostAt = Number.NEGATIVE_INFINITY
  /** Redis was away, and is not asked yet what it has kept. */
  #mayBeLost = false
  /** The epoch that Redis had at the last check; null before the first. */
  #epoch: string | null = null
  /** The end of the pause after a failed exchange; null if the last exchange succeeded. */
  #pausedUntil: number | null = null
  #probing = false
  #wasReady = false
  /** Limits are in use. */
  #used = false

  /**
   * @param now monotonic ms
   * @param report called when Redis is away, and when it is back; not before the first exchange
   */
  constructor(redis: RedisConnection, keys: Keys, now: () => number, report: (isUp: boolean) => void) {
    redis.defineCommand('seatgateLend', { numberOfKeys: 1, lua: SCRIPT })
    this.#redis = redis as Scripted
    this.#keys = keys
    this.#now = now
    this.#report = report
    redis.on('close', () => this.#closed())
    redis.on('ready', () => (this.#wasReady = true))
  }

  get up(): boolean {
    if (!isReady(this.#redis)) return false
    if (this.#pausedUntil === null) return true
    return !this.#probing && this.#now() >= this.#pausedUntil
  }

  get lostAt(): number {
    return this.#mayBeLost ? this.#now() : this.#lostAt
  }

  async exchange(request: LoanRequest): Promise<Loan> {
    this.#used = true
    this.#probing = this.#pausedUntil !== null
    try {
      if (this.#epoch === null || this.#probing) await this.#checkEpoch()
      const loan = read(await this.#redis.seatgateLend(this.#location(request), ...amountsOf(request)))
      if (this.#pausedUntil !== null) this.#report(true)
      this.#pausedUntil = null
      return loan
    } catch (cause) {
      this.#failed()
      throw cause
    } finally {
      this.#probing = false
    }
  }

  /** Redis has kept its buckets if it has kept the epoch. */
  async #checkEpoch(): Promise<void> {
    const key = this.#keys.bucketEpoch
    await this.#redis.set(key, randomBytes(9).toString('base64url'), 'NX')
    const epoch = String(await this.#redis.get(key))
    if (this.#epoch !== null && this.#epoch !== epoch) this.#lostAt = this.#now()
    this.#epoch = epoch
    this.#mayBeLost = false
  }

  #closed(): void {
    if (this.#wasReady) this.#failed()
    this.#wasReady = false
  }

  #failed(): void {
    if (this.#pausedUntil === null && this.#used) this.#report(false)
    this.#mayBeLost = true
    this.#pausedUntil = this.#now() + PAUSE
  }

  #location({ limit, key }: LoanRequest): string {
    const hash = createHash('sha256').update(`${limit.name} ${key}`).digest('base64url')
    return this.#keys.bucket(hash)
  }
}

function amountsOf({ limit, need, extra, processes, back, debit, initial }: LoanRequest): string[] {
  const { capacity, rate } = shareOf(limit, 1)
  return [capacity, rate, need, extra, processes, back, debit, initial].map(String)
}

/** @param reply `granted left` */
function read(reply: unknown): Loan {
  const [, granted, left] = /^(\d{1,10}) (-?\d{1,10}\.\d{9})$/.exec(String(reply)) ?? []
  if (granted === undefined || left === undefined) throw new Error('unexpected reply to a loan from Redis')
  return { granted: Number(granted), left: Number(left) }
}
