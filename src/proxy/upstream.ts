/** A configured upstream with its targets, balancer, retry budget and health checks. */

import type { UpstreamConfig } from '../config/config.ts'
import type { Refusal } from '../model/errors.ts'
import { Balancer } from './balancer.ts'
import { tlsOptions } from '../http/client/connector.ts'
import { TrustedProxies } from './forwarded.ts'
import { SmallBodies } from './small-bodies.ts'
import { HealthCheck } from './health-checks.ts'
import type { RequestOwner } from '../http/client/upstream-request.ts'
import { RetryBudget } from './retry-budget.ts'
import { UpstreamIdentity } from './upstream-identity.ts'
import type { OutlierEjectionOwner } from './outlier-ejection.ts'
import { Target } from './target.ts'
import type { Blame, TargetStatus, UpstreamListener } from './upstream-events.ts'
import { EJECTION, RETRIES, type UpstreamOptions } from './upstream-options.ts'

export type { UpstreamOptions } from './upstream-options.ts'

export class Upstream {
  readonly config: UpstreamConfig
  readonly proxies: TrustedProxies
  readonly identity: UpstreamIdentity | null
  readonly bodyTimeout: number
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
    this.config = config
    this.proxies = new TrustedProxies(trustedProxies)
    this.identity = identity === null ? null : new UpstreamIdentity(identity, config.name)
    this.bodyTimeout = config.bodyTimeout
    this.smallBodies = new SmallBodies(config.maxPending)
    this.retries = retries.perRequest
    this.#listener = listener
    this.#targets = config.targets.map(
      (url) => new Target(url, config, ejection, tls, this.#ownerOf(url.origin)),
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
   * The target of a new request, or the refusal.
   *
   * @param now monotonic ms
   * @param repeatable idempotent and without a body, so that it may be sent twice
   * @param uploads the body is still arriving, perhaps slowly
   */
  choose(now: number, repeatable: boolean, uploads = false): Target | Refusal {
    const chosen = this.#balancer.choose(now, repeatable, uploads)
    if (chosen instanceof Target) this.#budget.countRequest(now)
    return chosen
  }

  /** No target has a free upload slot. */
  get uploadsFull(): boolean {
    return this.#targets.every((target) => target.uploadsFull)
  }

  /** Evicts a request of an owner that has more requests here than `owner`. @returns whether there was one */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
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
    return this.#targets.map((target) => target.status)
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
