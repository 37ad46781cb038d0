/** A configured upstream with its targets, balancer, retry budget and health checks. */

import type { UpstreamConfig } from '../config/config.ts'
import type { Refusal } from '../model/errors.ts'
import { tlsOptions } from '../http/client/connector.ts'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { Suspects } from '../http/client/suspects.ts'
import { ownerOf } from './client-network.ts'
import { TrustedProxies } from './forwarded.ts'
import { HealthCheck } from './health-checks.ts'
import { UpstreamIdentity } from './upstream-identity.ts'
import type { OutlierEjectionOwner } from './outlier-ejection.ts'
import { Balancer, Target } from './target.ts'
import type { Blame, TargetStatus, UpstreamListener } from './upstream-events.ts'
import { busy } from './upstream-faults.ts'
import { EJECTION, RETRIES, type RetrySettings, type UpstreamOptions } from './upstream-options.ts'

export class Upstream {
  readonly config: UpstreamConfig
  readonly proxies: TrustedProxies
  readonly identity: UpstreamIdentity | null
  /** Requests whose small bodies are read before a target is selected. */
  readonly smallBodies: SmallBodies
  /** The limit of retries of one request. */
  readonly retries: number
  readonly #targets: readonly Target[]
  readonly #balancer: Balancer
  readonly #budget: RetryBudget
  readonly #checks: readonly HealthCheck[]
  readonly #listener: UpstreamListener

  /** Throws on unusable certificates. Opens no connection yet. */
  constructor(config: UpstreamConfig, options: UpstreamOptions = {}) {
    const {
      trustedProxies = [],
      identity = null,
      ejection = EJECTION,
      retries = RETRIES,
      listener = {},
    } = options
    const { health } = config
    const tls = tlsOptions(config.tls)
    const suspects = new Suspects()
    this.config = config
    this.proxies = new TrustedProxies(trustedProxies)
    this.identity = identity === null ? null : new UpstreamIdentity(identity, config.name)
    this.smallBodies = new SmallBodies(config.maxPending)
    this.retries = retries.perRequest
    this.#listener = listener
    this.#targets = config.targets.map(
      (url) => new Target(url, config, ejection, tls, suspects, this.#ownerOf(url.origin)),
    )
    this.#balancer = new Balancer(this.#targets, config, ejection)
    this.#budget = new RetryBudget(retries)
    this.#checks =
      health === null ? [] : this.#targets.map((each) => new HealthCheck(each, health, tls, config.protocol))
  }

  /** Starts the health checks, if configured. Called once. */
  start(): void {
    for (const check of this.#checks) check.start()
  }

  /**
   * The target of a new request, or the refusal. If all targets are busy, a request of an owner that holds
   * more is evicted first.
   *
   * @param repeatable idempotent and without a body, so that it may be sent twice
   * @param now monotonic ms
   */
  choose(exchange: Exchange, repeatable: boolean, now: number): Target | Refusal {
    // The body is still arriving, perhaps slowly.
    const uploads = !exchange.request.complete
    let chosen = this.#balancer.choose(now, repeatable, uploads)
    if (chosen === busy && this.#evictFor(exchange, uploads))
      chosen = this.#balancer.choose(now, repeatable, uploads)
    if (chosen instanceof Target) this.#budget.countRequest(now)
    return chosen
  }

  /** No target has a free upload slot. */
  get uploadsFull(): boolean {
    return this.#targets.every((target) => target.pool.uploadsFull)
  }

  #evictFor(exchange: Exchange, uploads: boolean): boolean {
    const owner = ownerOf(exchange, this.proxies)
    return this.#targets.some((target) => target.ejection.available && target.evictFor(owner, uploads))
  }

  /** The fault of an unavailable target, for the log of a refused request. */
  get cause(): unknown {
    return this.#targets.find(({ ejection }) => !ejection.available)?.ejection.cause ?? null
  }

  /** An attempt has found a fault of its target. */
  failed(target: Target, epoch: number, blame: Blame, cause: unknown, now: number): void {
    target.ejection.failed(epoch, blame, cause, this.#balancer.isLast(target), now)
  }

  /**
   * The target of a retry; null for none.
   *
   * @param before the target before `tried`
   * @param again the same target is acceptable if there is no other
   * @param free does not count against the budget
   */
  retryTarget(
    tried: Target,
    before: Target | null,
    again: boolean,
    free: boolean,
    now: number,
  ): Target | null {
    const next =
      this.#balancer.alternative(tried, before) ?? (again && tried.ejection.available ? tried : null)
    return next !== null && (free || this.#budget.takeRetry(now)) ? next : null
  }

  retried(tried: Target, next: Target, cause: unknown): void {
    const { name: upstream } = this.config
    this.#listener.onRetry?.({ upstream, target: tried.url.origin, next: next.url.origin, cause })
  }

  targets(): TargetStatus[] {
    return this.#targets.map(({ origin, ejection, pending, certificate }) => ({
      target: origin,
      state: ejection.state,
      pending,
      certificate,
    }))
  }

  /** Resolves when the requests in flight have ended. */
  async close(): Promise<void> {
    for (const check of this.#checks) check.stop()
    await Promise.all(this.#targets.map((target) => target.close()))
  }

  /** Ends all requests at once. */
  async destroy(): Promise<void> {
    for (const check of this.#checks) check.stop()
    await Promise.all(this.#targets.map((target) => target.destroy()))
  }

  #ownerOf(target: string): OutlierEjectionOwner {
    const listener = this.#listener
    const { name: upstream } = this.config
    return {
      ejected: (blame, cause, backoff) => listener.onEjected?.({ upstream, target, blame, cause, backoff }),
      unhealthy: (cause) => listener.onUnhealthy?.({ upstream, target, cause }),
      returned: () => {
        this.#probeOthersNow()
        listener.onReturned?.({ upstream, target })
      },
    }
  }

  /** The outage of all targets is over. */
  #probeOthersNow(): void {
    const others = this.#targets.filter(({ ejection }) => !ejection.available)
    if (others.length === this.#targets.length - 1) for (const { ejection } of others) ejection.probeNow()
  }
}

/** The largest body in bytes: half the buffer of its stream. */
const MAX_BYTES = 32 * 1024
/** Milliseconds for a body to arrive. */
const MAX_TIME = 2000

export interface BufferedBody {
  /** The body is complete, or the wait for it is over. May come after the end of the request. */
  buffered(): void
}

export function isSmall({ length }: ClientRequest): boolean {
  return length <= MAX_BYTES || length === Infinity
}

/**
 * Requests whose small or chunked bodies are still arriving while all upload slots are taken. Their bodies
 * are read before a target is selected. Most are complete within a round trip and then need no upload slot.
 */
class SmallBodies {
  readonly #limit: number
  /** The bodies with their timers, oldest first. */
  readonly #all = new Map<BufferedBody, NodeJS.Timeout>()

  /** @param limit beyond it, the oldest request goes on with what it has */
  constructor(limit: number) {
    this.#limit = limit
  }

  add(item: BufferedBody): void {
    this.#all.set(item, setTimeout(onTime, MAX_TIME, this, item))
    if (this.#all.size <= this.#limit) return
    for (const oldest of this.#all.keys()) return this.done(oldest)
  }

  /** Does nothing for a request that is not present. */
  done(item: BufferedBody): void {
    const timer = this.#all.get(item)
    if (timer === undefined) return
    clearTimeout(timer)
    this.#all.delete(item)
    item.buffered()
  }
}

function onTime(smallBodies: SmallBodies, item: BufferedBody): void {
  smallBodies.done(item)
}

/** The length of the window. */
const WINDOW_SECONDS = 10

/** The retry budget of an upstream: a share of its requests, so that retries cannot overload it. */
export class RetryBudget {
  readonly #settings: RetrySettings
  /** A ring of seconds: the second of each bucket, and its counts. */
  readonly #second = new Float64Array(WINDOW_SECONDS).fill(-WINDOW_SECONDS)
  readonly #requests = new Float64Array(WINDOW_SECONDS)
  readonly #retries = new Float64Array(WINDOW_SECONDS)

  constructor(settings: RetrySettings) {
    this.#settings = settings
  }

  /**
   * Counts a request.
   *
   * @param now monotonic ms, here and below
   */
  countRequest(now: number): void {
    const bucket = this.#bucket(now)
    this.#requests[bucket] = (this.#requests[bucket] ?? 0) + 1
  }

  /** Takes one retry; false if the budget is used up. */
  takeRetry(now: number): boolean {
    const bucket = this.#bucket(now)
    const { share, perSecond } = this.#settings
    const allowed = Math.max(perSecond * WINDOW_SECONDS, share * this.#sum(this.#requests, now))
    if (this.#sum(this.#retries, now) >= allowed) return false
    this.#retries[bucket] = (this.#retries[bucket] ?? 0) + 1
    return true
  }

  #bucket(now: number): number {
    const second = Math.floor(now / 1000)
    const bucket = second % WINDOW_SECONDS
    if (this.#second[bucket] !== second) {
      this.#second[bucket] = second
      this.#requests[bucket] = 0
      this.#retries[bucket] = 0
    }
    return bucket
  }

  #sum(counts: Float64Array, now: number): number {
    const oldest = Math.floor(now / 1000) - WINDOW_SECONDS
    let sum = 0
    for (let bucket = 0; bucket < WINDOW_SECONDS; bucket++)
      if ((this.#second[bucket] ?? 0) > oldest) sum += counts[bucket] ?? 0
    return sum
  }
}
