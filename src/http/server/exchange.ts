/** An exchange: one request and its response (RFC 9110, section 3.4) on its way through the pipeline. */

import type { Evaluation } from '../../model/decision.ts'
import type { Refusal } from '../../model/errors.ts'
import { FieldLines } from '../wire/field-lines.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'

/**
 * The cause of the end of a WebSocket: one of its ends; or the gateway because of a limit, an invalid frame, its
 * shutdown, or a changed decision.
 */
export type WebSocketEnd =
  'client' | 'upstream' | 'idle' | 'lifetime' | 'protocol_error' | 'drain' | 'decided_again'

/** An open WebSocket: bytes pass both ways, and no HTTP response follows. */
export interface OpenWebSocket {
  /** null while it is open. */
  readonly endedBy: WebSocketEnd | null
  /** The status of the first Close frame (RFC 6455, section 7.4); null without a Close frame or status. */
  readonly closeCode: number | null
  /**
   * Sends Close to both ends at a frame boundary and closes both connections soon after. Only the first call takes
   * effect.
   */
  close(by: WebSocketEnd, code: number, reason: string): void
}

/** All fields are initialized in a fixed order: one hidden class. */
export class Exchange {
  readonly request: ClientRequest
  readonly response: ClientResponse
  readonly id: string
  /** Monotonic ms. */
  readonly startedAt: number
  /**
   * The client waits for `100 Continue` before it sends its body (RFC 9110, section 10.1.1), and has not received it
   * yet.
   */
  expectsContinue: boolean
  /** A valid WebSocket handshake: the connection leaves HTTP and carries no further request. */
  readonly handshake: boolean
  evaluation: Evaluation | null = null
  /** The refusal of the gateway; null if an upstream or a handler responds. */
  refusal: Refusal | null = null
  /** The code that candidate tables would have given, where it differs; for the log only. */
  shadow: string | null = null
  /** The internal cause, for the log only. */
  cause: unknown = null
  /** Body bytes received from the client and sent to it. */
  bytesIn = 0
  bytesOut = 0
  /** Monotonic ms: the request to the upstream, and the head of its response. */
  forwardedAt = 0
  respondedAt = 0
  /** The client disconnected before the end of the response. */
  aborted = false
  /** Monotonic ms: the end of the response or of the connection. */
  endedAt = 0
  /** The index in `InFlight`; -1 outside it. */
  index = -1
  /** null before a handshake is answered with 101. */
  webSocket: OpenWebSocket | null = null
  #requestIdLine: FieldLines | null = null

  /** The request id for the upstream, and for the client with the response of the upstream. */
  get requestIdLine(): FieldLines {
    // Ids are validated or generated: `requestIdOf` in pipeline/request-input.ts.
    this.#requestIdLine ??= new FieldLines(`x-request-id: ${this.id}\r\n`, null)
    return this.#requestIdLine
  }

  /** The exchange is refused or the client is gone: the remaining stages do nothing. */
  get settled(): boolean {
    return this.refusal !== null || this.response.destroyed
  }

  constructor(
    request: ClientRequest,
    response: ClientResponse,
    id: string,
    startedAt: number,
    expectsContinue = false,
    handshake = false,
  ) {
    this.request = request
    this.response = response
    this.id = id
    this.startedAt = startedAt
    this.expectsContinue = expectsContinue
    this.handshake = handshake
  }
}
