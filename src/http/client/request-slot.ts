/** A request in flight, as eviction and shedding see it: a connection of HTTP/1.1, or a stream of HTTP/2. */

import type { ResponseReceiver } from './upstream-request.ts'

export interface RequestSlot {
  /** null if no request is in flight. */
  readonly receiver: ResponseReceiver | null
  /** The request holds an upload slot. */
  readonly uploads: boolean
  /** Monotonic ms: the start of the request. */
  readonly busySince: number
  /** The request waits for its client to send or to read. */
  readonly waitsForClient: boolean
  /** Body bytes a second of the request, in both directions. @param now monotonic ms */
  rate(now: number): number
  /** Whether the request waits for a client that has moved less than that since the last check. */
  isClientSlow(bytes: number): boolean
  /** Ends the request. Its receiver gets `failed`. */
  close(error: Error): void
}
