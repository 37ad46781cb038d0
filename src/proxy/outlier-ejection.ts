/**
 * Outlier ejection of a target. Consecutive failures eject it; a successful request, or health checks,
 * restore it. Pure: the caller passes events and times.
 */

import type { Blame, TargetState } from './upstream-events.ts'
import type { UpstreamHealth } from '../config/config.ts'
import type { EjectionSettings } from './upstream-options.ts'

/** Receives the state changes of a target. */
export interface OutlierEjectionOwner {
  ejected(blame: Blame, cause: unknown, backoff: number): void
  unhealthy(cause: unknown): void
  returned(): void
}

export class OutlierEjection {
  /** Read for each request. */
  available = true
  /** The cause of the ejection, or of the last failure. */
  cause: unknown = null
  /** Monotonic ms of the latest probe. */
  probedAt = -Infinity
  readonly #ejection: EjectionSettings
  readonly #health: UpstreamHealth | null
  readonly #owner: OutlierEjectionOwner
  /** Incremented at each state change. Results of attempts from before a change are ignored. */
  #epoch = 0
  /** Consecutive failures. */
  #failures = 0
  /** The reason of the ejection; null if the target is not ejected. */
  #blame: Blame | null = null
  #backoff = 0
  /** Monotonic ms: no probe before that. */
  #ejectedUntil = 0
  #probing = false
  #restoredAt = -Infinity
  #unhealthy = false
  /** Consecutive checks with the same result. */
  #passedChecks = 0
  #failedChecks = 0

  constructor(ejection: EjectionSettings, health: UpstreamHealth | null, owner: OutlierEjectionOwner) {
    this.#ejection = ejection
    this.#health = health
    this.#owner = owner
  }

  get state(): TargetState {
    if (this.#unhealthy) return 'unhealthy'
    return this.#blame === null ? 'in' : 'ejected'
  }

  /** Only failed requests made the target unavailable, so a request may probe it. */
  get probeable(): boolean {
    return this.#blame !== null && !this.#unhealthy
  }

  /**
   * The ejection time is over, and no other request is probing.
   *
   * @param repeatable the request can be retried elsewhere if the connection ends. Where that is likely,
   *   other requests probe only after a second back-off, in case all requests are such
   */
  probeDue(now: number, repeatable: boolean): boolean {
    if (!this.probeable || this.#probing) return false
    return now >= this.#ejectedUntil + (repeatable || this.#blame === 'unreachable' ? 0 : this.#backoff)
  }

  /**
   * A request starts.
   *
   * @returns the epoch to pass with its results
   */
  begin(now: number): number {
    if (this.#blame !== null) {
      this.#probing = true
      this.probedAt = now
    }
    return this.#epoch
  }

  /** The request has a connection. That restores a target that was unreachable. */
  connected(epoch: number, now: number): void {
    if (this.#blame === 'unreachable' && epoch === this.#epoch) this.#restore(now)
  }

  /** A response has begun. */
  responseStarted(epoch: number, now: number): void {
    if (epoch !== this.#epoch) return
    this.#failures = 0
    if (this.#blame !== null) this.#restore(now)
  }

  /** @param last no other target is available */
  failed(epoch: number, blame: Blame, cause: unknown, last: boolean, now: number): void {
    if (epoch !== this.#epoch) return
    // A connection of HTTP/2 that ends fails all its requests with one error.
    if (cause !== this.cause) this.#failures++
    this.cause = cause
    const exempt = last && (blame === 'reset' || isRefused(cause))
    if (this.#blame === null && (this.#failures < this.#ejection.failures || exempt)) return
    this.#eject(blame, now)
  }

  /** The request has ended, whatever its result. */
  end(epoch: number): void {
    if (epoch === this.#epoch) this.#probing = false
  }

  /** Another target is back after an outage of all: this one may be back too. */
  probeNow(): void {
    this.#ejectedUntil = 0
  }

  /**
   * The result of a health check.
   *
   * @param cause the fault; null if the check passed
   */
  checked(cause: unknown, now: number): void {
    if (this.#health === null) return
    this.#passedChecks = cause === null ? this.#passedChecks + 1 : 0
    this.#failedChecks = cause === null ? 0 : this.#failedChecks + 1
    if (this.#failedChecks === this.#health.unhealthy && !this.#unhealthy) this.#markUnhealthy(cause)
    if (this.#passedChecks >= this.#health.healthy && !this.available) this.#restore(now)
  }

  #eject(blame: Blame, now: number): void {
    // A probe before the ejection time, as no target was left, says nothing about the time to recovery.
    if (this.#blame !== null && now < this.#ejectedUntil) return this.#setAvailable(false)
    const wasIn = this.#blame === null
    this.#backoff = this.#nextBackoff(wasIn, now)
    // Randomized, so that many gateways do not probe at the same moment.
    const wait = this.#backoff * (0.75 + Math.random() / 2)
    this.#ejectedUntil = now + wait
    this.#blame = blame
    this.#passedChecks = 0
    this.#setAvailable(false)
    if (wasIn) this.#owner.ejected(blame, this.cause, wait)
  }

  /** A target that fails again soon after its return has not recovered. */
  #nextBackoff(wasIn: boolean, now: number): number {
    const { backoff, maxBackoff } = this.#ejection
    const again = !wasIn || now - this.#restoredAt < maxBackoff
    return again && this.#backoff > 0 ? Math.min(this.#backoff * 2, maxBackoff) : backoff
  }

  #markUnhealthy(cause: unknown): void {
    this.cause = cause
    this.#unhealthy = true
    this.#setAvailable(false)
    this.#owner.unhealthy(cause)
  }

  #restore(now: number): void {
    this.#blame = null
    this.#restoredAt = now
    // Requests show that the target is reachable; only its checks show that it is healthy.
    if (this.#unhealthy && this.#passedChecks < (this.#health?.healthy ?? 0)) return
    this.#unhealthy = false
    this.#setAvailable(true)
    this.#owner.returned()
  }

  #setAvailable(into: boolean): void {
    this.available = into
    this.#epoch++
    this.#failures = 0
    this.#probing = false
  }
}

/**
 * Nothing listens on the port. The last target is exempt from ejection for it, as it is for a reset that the
 * request may have caused: an attempt costs next to nothing, and a restarted service is back with its first
 * request.
 */
function isRefused(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}
