/** What an upstream tells of its targets, for the log and the metrics. Nothing of it is on the path of a request. */

/** Its functions must not throw. A target is named by its origin. */
export interface UpstreamListener {
  onRetry?(event: Retry): void
  onEjected?(event: Ejected): void
  /** Checks failed, as often in a row as was set. */
  onUnhealthy?(event: Unhealthy): void
  /** The target takes part again. */
  onReturned?(event: TargetEvent): void
}

export interface TargetEvent {
  readonly upstream: string
  readonly target: string
}

export interface Retry extends TargetEvent {
  /** Where it is tried next; may be the same. */
  readonly next: string
  readonly cause: unknown
}

export interface Ejected extends TargetEvent {
  readonly blame: Blame
  /** The last of the failures. */
  readonly cause: unknown
  /** Milliseconds until it is tested. */
  readonly backoff: number
}

export interface Unhealthy extends TargetEvent {
  /** What the last check met. */
  readonly cause: unknown
}

/** No connection could be had, or one ended before an answer began. */
export type Blame = 'unreachable' | 'reset'

export type TargetState = 'in' | 'ejected' | 'unhealthy'

/** For gauges. */
export interface TargetStatus {
  readonly target: string
  readonly state: TargetState
  /** Requests under way and waiting. */
  readonly pending: number
}
