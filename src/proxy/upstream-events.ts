/** Events of the targets of an upstream, for log and metrics. None of them is on the path of a request. */

import type { Validity } from '../config/pem.ts'

/** The functions must not throw. A target is named by its origin. */
export interface UpstreamListener {
  onRetry?(event: Retry): void
  onEjected?(event: Ejected): void
  /** Consecutive health checks failed, up to the configured number. */
  onUnhealthy?(event: Unhealthy): void
  /** The target is available again. */
  onReturned?(event: TargetEvent): void
}

export interface TargetEvent {
  readonly upstream: string
  readonly target: string
}

export interface Retry extends TargetEvent {
  /** The target of the retry; may be the same. */
  readonly next: string
  readonly cause: unknown
}

export interface Ejected extends TargetEvent {
  readonly blame: Blame
  /** The last failure. */
  readonly cause: unknown
  /** Milliseconds until the first probe. */
  readonly backoff: number
}

export interface Unhealthy extends TargetEvent {
  /** The fault of the last check. */
  readonly cause: unknown
}

/** No connection could be opened, or one ended before a response began. */
export type Blame = 'unreachable' | 'reset'

export type TargetState = 'in' | 'ejected' | 'unhealthy'

/** The state of a target, for gauges. */
export interface TargetStatus {
  readonly target: string
  readonly state: TargetState
  /** Requests in flight and waiting. */
  readonly pending: number
  /** The validity of its certificate; null if no connection has verified one. */
  readonly certificate: Validity | null
}
