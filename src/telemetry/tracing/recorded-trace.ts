/** What is recorded of a request while it is in progress. */

import type { TraceParent } from './trace-context.ts'

/** How the trace of a request began. */
export interface TraceOrigin {
  readonly traceId: string
  /** The span that the request continues; null if the trace begins here. */
  readonly parent: TraceParent | null
  /** The `tracestate` of the message that named the parent, as received; '' if there is none. */
  readonly traceState: string
  /** The span of an untrusted sender; null if there is none. */
  readonly link: TraceParent | null
  readonly propagates: boolean
}

/** One request to a target. Times are in monotonic ms; 0 before the event. */
export interface Attempt {
  readonly spanId: string
  readonly target: URL
  readonly startedAt: number
  endedAt: number
  status: number
  error: string | null
}

export interface RecordedTrace {
  readonly traceId: string
  readonly spanId: string
  readonly origin: TraceOrigin
}
