/**
 * Whether a target takes part. It goes out after failures in a row and comes back when a request, or its checks, found
 * it answering again. Knows no sockets and no clock: times are told.
 */

import type { Blame, TargetState } from './upstream-events.ts'
import type { EjectionSettings, HealthSettings } from './upstream-options.ts'

/** Who is told when a target goes out or comes back. */
export interface OutlierEjectionOwner {
  ejected(blame: Blame, cause: unknown, backoff: number): void
  unhealthy(cause: unknown): void
  returned(): void
}

export class OutlierEjection {
  /** Read for each request; changed here only. */
  available = true
  /** Why it went out, or failed last. */
  cause: unknown = null
  /** Monotonic ms of the latest request that tested it. */
  probedAt = -Infinity
  readonly #ejection: EjectionSettings
  readonly #health: HealthSettings | null
  readonly #owner: OutlierEjectionOwner
  /** Moves when it goes out or comes back: what an attempt begun before that finds out is no news. */
  #epoch = 0
  /** Failures in a row. */
  #failures = 0
  /** null: not ejected. */
  #blame: Blame | null = null
  #backoff = 0
  /** Until then it is left alone. */
  #ejectedUntil = 0
  #probing = false
  #restoredAt = -Infinity
  #unhealthy = false
  /** Checks in a row with the same outcome. */
  #passedChecks = 0
  #failedChecks = 0

  constructor(ejection: EjectionSettings, health: HealthSettings | null, owner: OutlierEjectionOwner) {
    this.#ejection = ejection
    this.#health = health
    this.#owner = owner
  }

  get state(): TargetState {
    if (this.#unhealthy) return 'unhealthy'
    return this.#blame === null ? 'in' : 'ejected'
  }

  /** It is out only because requests failed: a request may find out whether that is over. */
  get probeable(): boolean {
    return this.#blame !== null && !this.#unhealthy
  }

  /**
   * Its time has come, and no other request is testing it.
   *
   * @param repeatable the request can be tried elsewhere if the connection ends; where that is likely, the others come
   *   later, in case there are only such
   */
  probeDue(now: number, repeatable: boolean): boolean {
    if (!this.probeable || this.#probing) return false
    return now >= this.#ejectedUntil + (repeatable || this.#blame === 'unreachable' ? 0 : this.#backoff)
  }

  /** A request goes to it. The number that is returned comes back with all that the request finds out. */
  begin(now: number): number {
    if (this.#blame !== null) {
      this.#probing = true
      this.probedAt = now
    }
    return this.#epoch
  }

  /** The request got a connection: all the proof it takes, where there was none to be had. */
  connected(epoch: number, now: number): void {
    if (this.#blame === 'unreachable' && epoch === this.#epoch) this.#restore(now)
  }

  /** An answer began. */
  answered(epoch: number, now: number): void {
    if (epoch !== this.#epoch) return
    this.#failures = 0
    if (this.#blame !== null) this.#restore(now)
  }

  /** @param last no other target is in */
  failed(epoch: number, blame: Blame, cause: unknown, last: boolean, now: number): void {
    if (epoch !== this.#epoch) return
    this.cause = cause
    this.#failures++
    const exempt = last && (blame === 'reset' || isRefused(cause))
    if (this.#blame === null && (this.#failures < this.#ejection.failures || exempt)) return
    this.#eject(blame, now)
  }

  /** The request is over, whatever came of it. */
  end(epoch: number): void {
    if (epoch === this.#epoch) this.#probing = false
  }

  /** Another target has just come back after none was left: this one may have, too. */
  probeNow(): void {
    this.#ejectedUntil = 0
  }

  /** A check was made. `cause`: what was wrong; null when it is well. */
  checked(cause: unknown, now: number): void {
    if (this.#health === null) return
    this.#passedChecks = cause === null ? this.#passedChecks + 1 : 0
    this.#failedChecks = cause === null ? 0 : this.#failedChecks + 1
    if (this.#failedChecks === this.#health.unhealthy && !this.#unhealthy) this.#markUnhealthy(cause)
    if (this.#passedChecks >= this.#health.healthy && !this.available) this.#restore(now)
  }

  #eject(blame: Blame, now: number): void {
    // Tested before its time, as no other was left: that says nothing about how long it will take.
    if (this.#blame !== null && now < this.#ejectedUntil) return this.#setAvailable(false)
    const wasIn = this.#blame === null
    this.#backoff = this.#nextBackoff(wasIn, now)
    // Spread, so that many gateways don't come back in one moment.
    const wait = this.#backoff * (0.75 + Math.random() / 2)
    this.#ejectedUntil = now + wait
    this.#blame = blame
    this.#passedChecks = 0
    this.#setAvailable(false)
    if (wasIn) this.#owner.ejected(blame, this.cause, wait)
  }

  /** What goes out again soon after it came back has not really come back. */
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
    // Requests say that it can be reached; only its checks say that it is well.
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
 * Nobody listens there, and that was heard at once. The last target stays in for it, as for an ending that the request
 * itself may have caused: to ask costs next to nothing, and a service that restarts is back with its first request.
 */
function isRefused(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}
