/** What an exchange of gRPC keeps. */

import { Slot } from './exchange.ts'

/** A call whose response is relayed: trailers with a status may end it at any time. */
export interface RelayedCall {
  /** Ends the request to the upstream. The response to the client is left to the caller. */
  abandon(): void
}

/** Filled once the upstream's response to a client of gRPC is one of gRPC. Owner: `proxy/forward.ts`. */
export const relayedCall = new Slot<RelayedCall>()

/** The status of gRPC, from the upstream or the gateway. */
export const grpcStatus = new Slot<number>()
