/**
 * The rate limits of one process. A request takes a token of each limit that its route names, or none at all.
 * It never waits while the process has tokens, and otherwise for one exchange with the lender as a rule.
 */

import { createHash } from 'node:crypto'
import type { Principal } from '../../model/principal.ts'
import { type RateLimit, shareOf } from '../../model/rate-limit.ts'
import { type Route, takesTenant } from '../../model/route.ts'
import { ASK, LimitedKeys, type Part, type Surroundings } from './limited-keys.ts'

/**
 * The most exchanges with the lender that one request waits for: others may take the tokens that were lent
 * for it.
 */
const MAX_ROUNDS = 8
/** Milliseconds of `Retry-After` for a request that lost all of these. */
const RETRY = 1000
/** Milliseconds between rounds in which unused tokens go back. */
const GIVE_BACK_EVERY = 250

/** The parts of a request that its limits depend on. */
export interface LimitedRequest {
  /** The routes that decide it. A limit that several of them name counts once for each key. */
  readonly routes: readonly Route[]
  /** Null: the routes are public. */
  readonly principal: Principal | null
  /** The client's IPv4 address or IPv6 network. */
  readonly address: () => string
}

export interface RateLimitVerdict {
  /** The limit that has no token for the request; null: it may pass. */
  readonly exceeded: RateLimit | null
  /** Milliseconds after which the request may come again; 0: it may pass. */
  readonly retryAfter: number
  /** Header lines `RateLimit-Policy` and `RateLimit`, each with its CRLF. */
  readonly lines: string
}

export class RateLimiter {
  readonly #around: Surroundings
  readonly #limits = new Map<string, LimitedKeys>()
  /** Requests refused so far, by limit. */
  readonly refused = new Map<string, number>()
  /** Requests so far that took a token of a share. */
  passedByShare = 0
  #givingBack: NodeJS.Timeout | null = null

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** Takes new limits. The buckets of limits that stay are kept, the others end. */
  configure(limits: readonly RateLimit[]): void {
    const names = new Set(limits.map(({ name }) => name))
    for (const name of this.#limits.keys()) if (!names.has(name)) this.#limits.delete(name)
    for (const limit of limits) {
      if (!this.refused.has(limit.name)) this.refused.set(limit.name, 0)
      const keys = this.#limits.get(limit.name)
      if (keys?.limit.per === limit.per) keys.limit = limit
      else this.#limits.set(limit.name, new LimitedKeys(limit, this.#around))
    }
    if (limits.length > 0 && this.#around.lender !== null)
      this.#givingBack ??= setInterval(() => this.giveBack(), GIVE_BACK_EVERY).unref()
  }

  close(): void {
    clearInterval(this.#givingBack ?? undefined)
  }

  /** The number of limits that this process enforces by its own share now. */
  get shared(): number {
    return [...this.#limits.values()].filter(({ shares }) => shares > 1).length
  }

  /** The number of processes that a limit is divided by if it can't be shared. */
  get processes(): number {
    return this.#around.processes()
  }

  /** The borrowed tokens that are not used yet. */
  get borrowed(): number {
    return this.#sum(({ borrowed }) => borrowed)
  }

  /** Exchanges with the lender that have failed. */
  get failed(): number {
    return this.#sum(({ failed }) => failed)
  }

  /** Keys in memory. */
  get size(): number {
    return this.#sum(({ size }) => size)
  }

  #sum(read: (keys: LimitedKeys) => number): number {
    return [...this.#limits.values()].reduce((sum, keys) => sum + read(keys), 0)
  }

  /**
   * Takes a token of each limit of the routes. Null: they have none. A promise if the lender is asked: it
   * never rejects, and a decision from before it may be out of date after it.
   */
  take(request: LimitedRequest): RateLimitVerdict | null | Promise<RateLimitVerdict> {
    const parts = this.#partsOf(request)
    return parts.length === 0 ? null : this.#attempt(parts, MAX_ROUNDS)
  }

  /** The same verdict for a request that was counted before: takes no token, and counts no refusal. */
  look(request: LimitedRequest): RateLimitVerdict | null | Promise<RateLimitVerdict> {
    const parts = this.#partsOf(request)
    if (parts.length === 0) return null
    const now = this.#around.now()
    const asking = parts.filter(({ keys, key }) => keys.state(key, now) === ASK)
    if (asking.length === 0) return this.#seen(parts)
    return Promise.all(asking.map(({ keys, key }) => keys.inquire(key))).then(() => this.#seen(parts))
  }

  #partsOf(request: LimitedRequest): Part[] {
    const [first, ...others] = request.routes
    if (first === undefined) return []
    if (others.length === 0) return this.#partsOfRoute(first, request)
    const parts = request.routes.flatMap((route) => this.#partsOfRoute(route, request))
    return [...new Map(parts.map((part) => [part.key, part])).values()]
  }

  #partsOfRoute(route: Route, request: LimitedRequest): Part[] {
    const { rateLimits } = route
    if (rateLimits === null) return []
    const isForeign = isOfOtherTenant(route, request)
    return rateLimits.flatMap((limit): Part[] => {
      const keys = this.#limits.get(limit.name)
      // A reload may have removed the limits of a request that was matched before.
      if (keys === undefined || (isForeign && keys.limit.per === 'route')) return []
      return [{ keys, key: keys.find(keyOf(keys.limit, route, request), ownerOf(keys.limit, request)) }]
    })
  }

  giveBack(): void {
    const now = this.#around.now()
    for (const keys of this.#limits.values()) keys.giveBack(now)
  }

  #attempt(parts: readonly Part[], rounds: number): RateLimitVerdict | Promise<RateLimitVerdict> {
    const now = this.#around.now()
    const asking: Part[] = []
    let exceeded: Part | null = null
    let retryAfter = 0
    for (const part of parts) {
      const state = part.keys.state(part.key, now)
      if (state === ASK) asking.push(part)
      else if (state > retryAfter) [exceeded, retryAfter] = [part, state]
    }
    if (exceeded !== null) return this.#refuse(parts, exceeded, retryAfter)
    const [first] = asking
    if (first === undefined) return this.#pass(parts, now)
    if (rounds === 0) return this.#refuse(parts, first, RETRY)
    return Promise.all(asking.map(({ keys, key }) => keys.ask(key))).then(() =>
      this.#attempt(parts, rounds - 1),
    )
  }

  #seen(parts: readonly Part[]): RateLimitVerdict {
    const now = this.#around.now()
    let exceeded: RateLimit | null = null
    let retryAfter = 0
    for (const { keys, key } of parts) {
      const wait = keys.wait(key, now)
      if (wait > retryAfter) [exceeded, retryAfter] = [keys.limit, wait]
    }
    return verdictOf(parts, now, exceeded, retryAfter)
  }

  #refuse(parts: readonly Part[], { keys, key }: Part, retryAfter: number): RateLimitVerdict {
    const { limit } = keys
    key.refused++
    this.refused.set(limit.name, (this.refused.get(limit.name) ?? 0) + 1)
    return verdictOf(parts, this.#around.now(), limit, retryAfter)
  }

  #pass(parts: readonly Part[], now: number): RateLimitVerdict {
    for (const { keys, key } of parts) keys.spend(key, now)
    if (parts.some(({ keys }) => keys.shares > 1)) this.passedByShare++
    return verdictOf(parts, now, null, 0)
  }
}

function verdictOf(
  parts: readonly Part[],
  now: number,
  exceeded: RateLimit | null,
  retryAfter: number,
): RateLimitVerdict {
  return { exceeded, retryAfter, lines: rateLimitLines(parts, now, exceeded, retryAfter) }
}

/** The most characters of a key. Longer ones are hashed: a token's `sub` may be long. */
const MAX_KEY = 64

/**
 * Whether the route refuses the caller for its tenant. Such a caller could otherwise use up the tokens that
 * the callers of the route's tenant share, and lock them out.
 */
function isOfOtherTenant(route: Route, { principal }: LimitedRequest): boolean {
  return principal !== null && !takesTenant(route, principal.tenant)
}

/** The callers of a public route are their addresses. */
function keyOf({ per }: RateLimit, route: Route, { principal, address }: LimitedRequest): string {
  if (per === 'route') return hashed(`r ${route.id}`)
  if (per === 'address' || principal === null) return `a ${address()}`
  const { tenant, user, method } = principal
  if (per === 'tenant') return hashed(`t ${tenant}`)
  return hashed(`${method === 'api-key' ? 'k' : 'u'} ${tenant} ${user}`)
}

/** Addresses and routes belong to no tenant. */
function ownerOf({ per }: RateLimit, { principal }: LimitedRequest): string {
  return per === 'route' || per === 'address' || principal === null ? '' : principal.tenant
}

function hashed(key: string): string {
  if (key.length <= MAX_KEY) return key
  return `h ${createHash('sha256').update(key).digest('base64url')}`
}

/**
 * The header fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11): lists of
 * structured fields (RFC 9651). `q` and `w` are the limit's own. `r` is what the key has, `t` the seconds
 * until it has one more; of several keys of a limit, the one with the fewest tokens counts. If the limit is
 * divided, `q` is the share of this process, and `seatgate-shares` the number of shares.
 *
 * @param exceeded the limit that refuses the request; null: it passes
 * @param retryAfter ms after which it may come again
 */
function rateLimitLines(
  parts: readonly Part[],
  now: number,
  exceeded: RateLimit | null,
  retryAfter: number,
): string {
  let policy = ''
  let state = ''
  for (const { keys, key } of parts.length === 1 ? parts : scarcest(parts, now)) {
    const { limit, shares } = keys
    const separator = policy === '' ? '' : ', '
    policy += `${separator}"${limit.name}";q=${quota(limit, shares)};w=${limit.window / 1000}`
    if (shares > 1) policy += `;seatgate-shares=${shares}`
    const refused = exceeded === limit
    const left = Math.max(0, keys.left(key, now))
    const remaining = refused ? 0 : Math.floor(left)
    const { rate } = shareOf(limit, shares)
    const wait = refused ? retryAfter : (Math.floor(left) + 1 - left) / rate
    state += `${separator}"${limit.name}";r=${remaining};t=${seconds(wait)}`
  }
  return `RateLimit-Policy: ${policy}\r\nRateLimit: ${state}\r\n`
}

/** One part of each limit. */
function scarcest(parts: readonly Part[], now: number): Iterable<Part> {
  const byLimit = new Map<LimitedKeys, Part>()
  for (const part of parts) {
    const { keys, key } = part
    const other = byLimit.get(keys)
    if (other === undefined || keys.left(key, now) < keys.left(other.key, now)) byLimit.set(keys, part)
  }
  return byLimit.values()
}

function quota({ limit }: RateLimit, shares: number): number {
  return Math.max(1, Math.floor(limit / shares))
}

/** Rounded up: a client that comes back then is not early. At least one. */
function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
