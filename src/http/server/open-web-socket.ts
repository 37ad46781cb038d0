/** An open WebSocket, as the parts of the gateway see it that did not open it. */

import { Slot } from './exchange.ts'

/**
 * The cause of the end of a WebSocket: one of its ends; or the gateway because of a limit, an invalid frame,
 * its shutdown, or a changed decision.
 */
export type WebSocketEnd =
  | 'client'
  | 'upstream'
  | 'idle'
  | 'lifetime'
  | 'protocol_error'
  | 'drain'
  | 'decided_again'

/** Bytes pass both ways, and no HTTP response follows. */
export interface OpenWebSocket {
  /** Who has ended it; null while it is open. */
  readonly endedBy: WebSocketEnd | null
  /** The status of the first Close frame (RFC 6455, section 7.4); null without a Close frame or status. */
  readonly closeCode: number | null
  /** Memory of what has passed neither end yet. */
  readonly heldBytes: number
  /**
   * Sends Close to both ends at a frame boundary and closes both connections soon after. Only the first call
   * takes effect.
   */
  close(by: WebSocketEnd, code: number, reason: string): void
}

/** Filled once a handshake is answered with 101. Owner: `proxy/websocket/opening.ts`. */
export const openedWebSocket = new Slot<OpenWebSocket>()
