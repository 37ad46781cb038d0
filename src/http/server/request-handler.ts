/** What a listener tells of requests. */

import type { Socket } from 'node:net'
import type { Refusal } from '../../model/errors.ts'
import type { Exchange } from './exchange.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'
import type { RespondUnparsed } from './problem.ts'

/** Handles requests. */
export interface Handler {
  /** Returns at once. */
  handle(request: ClientRequest, response: ClientResponse): Exchange
  /** Whether the request is a WebSocket handshake, whose connection then goes to `upgrade`. */
  acceptsUpgrade(request: ClientRequest): boolean
  /** @param rest bytes that arrived in the same read after the handshake */
  upgrade(request: ClientRequest, rest: Buffer): Exchange
  /** The response is sent, or the connection is closed. Not called for upgraded connections. */
  ended(exchange: Exchange): void
  /** No new connections: WebSockets are to end. The remaining ones are closed at the end of the drain. */
  drain(): void
  /** The bytes form no valid request, or not the announced body of this exchange. */
  malformed(socket: Socket, refusal: Refusal, exchange: Exchange | null, respond: RespondUnparsed): void
}
