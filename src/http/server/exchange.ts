/** An exchange: one request and its response (RFC 9110, section 3.4) on the way through the pipeline. */

import type { Evaluation } from '../../model/decision.ts'
import type { Refusal } from '../../model/errors.ts'
import { FieldLines } from '../wire/field-lines.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'

/**
 * Who ended a WebSocket: one of its ends; the gateway because of a limit, of a frame that is none, of its own end, or
 * because the answer has become no.
 */
export type WebSocketEnd =
  'client' | 'upstream' | 'idle' | 'lifetime' | 'protocol_error' | 'drain' | 'decided_again'

/** A WebSocket that was opened: bytes pass both ways, and no HTTP answer is due any more. */
export interface OpenWebSocket {
  /** null while it is open. */
  readonly endedBy: WebSocketEnd | null
  /** The status of the first Close frame (RFC 6455, section 7.4); null when none was said, or one without status. */
  readonly closeCode: number | null
  /** Says Close to both ends between two frames, and cuts them soon after. Once: what is said first counts. */
  close(by: WebSocketEnd, code: number, reason: string): void
}

/** One request on its way through the pipeline. Every field exists from birth, in this order: one hidden class. */
export class Exchange {
  readonly request: ClientRequest
  readonly response: ClientResponse
  readonly id: string
  /** Monotonic, ms. */
  readonly startedAt: number
  /** The client waits for `100 Continue` before it sends its body (RFC 9110, section 10.1.1), and was not given it yet. */
  expectsContinue: boolean
  /** A proper WebSocket handshake: the connection leaves HTTP, and carries nothing after this request. */
  readonly handshake: boolean
  evaluation: Evaluation | null = null
  /** Why the gateway answered by itself; null while an upstream or a handler answers. */
  refusal: Refusal | null = null
  /** The inner cause, for the log only. */
  cause: unknown = null
  /** Body bytes read from the client and sent to it. */
  bytesIn = 0
  bytesOut = 0
  /** Monotonic, ms: when the upstream was asked, and when its answer began. */
  forwardedAt = 0
  respondedAt = 0
  /** The client went away before the answer was whole. */
  aborted = false
  /** Monotonic, ms: when its answer, or its client, was gone. */
  endedAt = 0
  /** Its place among those under way; -1 when it has none. */
  index = -1
  /** null until a handshake was answered 101. */
  webSocket: OpenWebSocket | null = null
  #requestIdLine: FieldLines | null = null

  /** The id, as the upstream is told it, and the client with the upstream's answer. */
  get requestIdLine(): FieldLines {
    this.#requestIdLine ??= new FieldLines(['x-request-id', this.id])
    return this.#requestIdLine
  }

  /** Refused, or its client is gone: the stages that are left have nothing to do. */
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
