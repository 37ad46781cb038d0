/** The trace of a request, for the parts of the gateway that report to it. `telemetry/tracing` keeps it. */

import { type Exchange, Slot } from './exchange.ts'

/** The attempts to reach an upstream report to it. */
export interface RequestTrace {
  /** 32 digits of lower-case hex. */
  readonly traceId: string
  /** `traceparent` is the gateway's: one from the client does not pass. */
  readonly propagates: boolean
  /** The trace of a trusted sender continues: its `tracestate` passes. */
  readonly continued: boolean
  /**
   * Begins an attempt.
   *
   * @returns the value of `traceparent` for it, or null if none is sent
   */
  attempt(target: URL): string | null
  /** The attempt has a final response, or a 101. */
  responded(status: number): void
  /** @param error its short name; null if the response is complete */
  attemptEnded(error: string | null): void
  /**
   * Makes the spans. Called once, at the end of the request or with the 101 of a WebSocket.
   *
   * @param at monotonic ms
   */
  end(exchange: Exchange, at: number): void
}

/** Empty without tracing. Owner: `Pipeline.#trace`. */
export const requestTrace = new Slot<RequestTrace>()
