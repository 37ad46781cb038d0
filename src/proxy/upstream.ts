/** One configured upstream: its targets, and what its requests need that is known at load. */

import type { UpstreamConfig } from '../config/config.ts'
import type { Refusal } from '../model/errors.ts'
import { Balancer } from './balancer.ts'
import { tlsOptions } from '../http/client/connector.ts'
import { TrustedProxies } from './forwarded.ts'
import { SmallBodies } from './small-bodies.ts'
import { HealthCheck } from './health.ts'
import type { RequestOwner } from '../http/client/upstream-request.ts'
import { RetryBudget } from './retry-budget.ts'
import type { OutlierEjectionOwner } from './outlier-ejection.ts'
import { Target } from './target.ts'
import type { Blame, TargetStatus, UpstreamListener } from './upstream-events.ts'
import { settingsOf, type UpstreamOptions } from './upstream-options.ts'

export type { UpstreamOptions } from './upstream-options.ts'

export class Upstream {
  readonly config: UpstreamConfig
  readonly proxies: TrustedProxies
  readonly bodyTimeout: number
  /** Requests with small bodies that are read before a target is chosen for them. */
  readonly smallBodies: SmallBodies
  /** Of one request, at most. */
  readonly retries: number
  readonly #targets: readonly Target[]
  readonly #balancer: Balancer
  readonly #budget: RetryBudget
  readonly #checks: readonly HealthCheck[]
  readonly #listener: UpstreamListener

  /** Throws on settings that can't be meant. Opens nothing yet. */
  constructor(config: UpstreamConfig, options: UpstreamOptions = {}) {
    const settings = settingsOf(config, options)
    const { health } = settings
    const tls = tlsOptions(settings.tls)
    this.config = config
    this.proxies = new TrustedProxies(settings.trustedProxies)
    this.bodyTimeout = settings.bodyTimeout
    this.smallBodies = new SmallBodies(settings.maxPending)
    this.retries = settings.retries.perRequest
    this.#listener = settings.listener
    this.#targets = config.targets.map(
      (url) => new Target(url, config.connectTimeout, settings, tls, this.#ownerOf(url.origin)),
    )
    this.#balancer = new Balancer(this.#targets, settings)
    this.#budget = new RetryBudget(settings.retries)
    this.#checks = health === null ? [] : this.#targets.map((each) => new HealthCheck(each, health, tls))
  }

  /** Begins the checks of the targets, where any are configured. Once. */
  start(): void {
    for (const check of this.#checks) check.start()
  }

  /**
   * The target of a new request, or why there is none.
   *
   * @param now monotonic ms
   * @param repeatable it may reach an upstream twice, and has no body to send again
   * @param uploads its body is still coming, and may take its time
   */
  choose(now: number, repeatable: boolean, uploads = false): Target | Refusal {
    const chosen = this.#balancer.choose(now, repeatable, uploads)
    if (chosen instanceof Target) this.#budget.countRequest(now)
    return chosen
  }

  /** A body that is still coming would have to wait for a place, wherever it goes. */
  get uploadsFull(): boolean {
    return this.#targets.every((target) => target.uploadsFull)
  }

  /** Ends a request of a caller that has more of them here than the party has. @returns whether there was one */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    return this.#targets.some((target) => target.ejection.available && target.evictFor(owner, uploads))
  }

  /** What the targets that are out were found to be, for the log of a request that was refused for it. */
  get cause(): unknown {
    return this.#targets.find(({ ejection }) => !ejection.available)?.ejection.cause ?? null
  }

  /** An attempt says that something is wrong with its target. */
  failed(target: Target, epoch: number, blame: Blame, cause: unknown, now: number): void {
    target.ejection.failed(epoch, blame, cause, this.#balancer.isLast(target), now)
  }

  /**
   * Where a request goes that failed at `tried`, and before that at `before`; null: nowhere.
   *
   * @param again the same target will do, if there is no other
   * @param free not drawn from the budget
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

  /** Resolves when requests under way are done. */
  async close(): Promise<void> {
    for (const check of this.#checks) check.stop()
    await Promise.all(this.#targets.map((target) => target.close()))
  }

  /** At once, whatever is under way. */
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

  /** What took all of them away is over. */
  #probeOthersNow(): void {
    const others = this.#targets.filter(({ ejection }) => !ejection.available)
    if (others.length === this.#targets.length - 1) for (const { ejection } of others) ejection.probeNow()
  }
}
