/** An exchange: one request and its response (RFC 9110, section 3.4) on its way through the pipeline. */

import type { UpstreamConfig } from '../../config/config.ts'
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
  | 'client'
  | 'upstream'
  | 'idle'
  | 'lifetime'
  | 'protocol_error'
  | 'drain'
  | 'decided_again'

/** An open WebSocket: bytes pass both ways, and no HTTP response follows. */
export interface OpenWebSocket {
  /** null while it is open. */
  readonly endedBy: WebSocketEnd | null
  /** The status of the first Close frame (RFC 6455, section 7.4); null without a Close frame or status. */
  readonly closeCode: number | null
  /** Memory of what has passed neither end yet. */
  readonly heldBytes: number
  /**
   * Sends Close to both ends at a frame boundary and closes both connections soon after. Only the first call takes
   * effect.
   */
  close(by: WebSocketEnd, code: number, reason: string): void
}

/** A request to an upstream. */
export interface ForwardedRequest {
  /** Ends it. The response to the client is left to the caller. */
  abandon(): void
}

/** Another proxy asks whether it may forward the request of an exchange. It forwards it itself. */
export interface Question {
  /** The dialect, for the log. */
  readonly askedBy: string
  /** The address of the client, as the asking proxy names it; null: unknown. */
  readonly client: string | null
  /** Why no request can be read from the question; null: one can. */
  readonly fault: Refusal | null
  /** The proxy wants the refusal that it has been told of already. */
  readonly refusesOnly: boolean
  /** Name, value, … of a redirect to sign-in, for a browser that loads a page; empty for any other client. */
  signIn: readonly string[]
  /**
   * Answers that the request may be forwarded. Throws if the head can't be sent.
   *
   * @param upstream null: it has none
   * @param signed name and value of the signed identity, '' where the request has none; empty: identity is not signed
   */
  allow(exchange: Exchange, upstream: UpstreamConfig | null, signed: readonly string[]): void
  /** Answers that it must not. Throws if the head can't be sent. */
  refuse(exchange: Exchange, refusal: Refusal): void
}

/** A response of server-sent events in progress. */
export interface OpenEventStream {
  /** Completes the response. */
  end(): void
}

/** The trace of a request (`telemetry/tracing`). The attempts to reach an upstream report to it. */
export interface RequestTrace {
  /** 32 digits of lower-case hex. */
  readonly traceId: string
  /** `traceparent` is the gateway's: one from the client does not pass. */
  readonly propagates: boolean
  /** The trace of a trusted sender continues: its `tracestate` passes. */
  readonly continued: boolean
  /** Begins an attempt. @returns the value of `traceparent` for it; null: none is sent */
  attempt(target: URL): string | null
  /** The attempt has a final response, or a 101. */
  responded(status: number): void
  /** @param error a short name of it; null: the response is complete */
  attemptEnded(error: string | null): void
  /** Makes the spans. Called once, at the end of the request or with the 101 of a WebSocket. @param at monotonic ms */
  end(exchange: Exchange, at: number): void
}

/** All fields are initialized in a fixed order: one hidden class. */
export class Exchange {
  /** Of a question: the request that the other proxy asks about, once it is read. */
  request: ClientRequest
  readonly response: ClientResponse
  /** Of a question over gRPC: that of the asked request, once it is read. */
  id: string
  /** Monotonic ms. */
  readonly startedAt: number
  /**
   * The client waits for `100 Continue` before it sends its body (RFC 9110, section 10.1.1), and has not received it
   * yet.
   */
  expectsContinue: boolean
  /** A valid WebSocket handshake: the connection leaves HTTP and carries no further request. */
  handshake: boolean
  /** null for a request that the gateway forwards or serves itself. */
  readonly question: Question | null
  evaluation: Evaluation | null = null
  /** The CORS lines of the response; see `Evaluation.cors`. Null for a WebSocket, to which CORS does not apply. */
  cors: string | null = null
  /** The lines of the rate limits of the route; '': it has none. */
  rateLimits = ''
  /** The name of the rate limit that refuses the request. */
  limitedBy: string | null = null
  /** The refusal of the gateway; null if an upstream or a handler responds. */
  refusal: Refusal | null = null
  /** The code that candidate tables would have given, where it differs; for the log only. */
  shadow: string | null = null
  /** What a built-in endpoint was asked and answered; for the log only. */
  logged: Readonly<Record<string, unknown>> | null = null
  /** The internal cause, for the log only. */
  cause: unknown = null
  /** Body bytes received from the client and sent to it. */
  bytesIn = 0
  bytesOut = 0
  /** Monotonic ms: the request to the upstream, and the head of its response. */
  forwardedAt = 0
  respondedAt = 0
  /** The origin of the upstream's target of the last attempt; null if no upstream is asked. */
  target: string | null = null
  /** The client disconnected before the end of the response. */
  aborted = false
  /** Monotonic ms: the end of the response or of the connection. */
  endedAt = 0
  /** The index in `InFlight`; -1 outside it. */
  index = -1
  /** null before a handshake is answered with 101. */
  webSocket: OpenWebSocket | null = null
  /** null if the response is no stream of events. */
  events: OpenEventStream | null = null
  /** null if no upstream is asked. */
  forwarding: ForwardedRequest | null = null
  /** The head of the response is one of gRPC to a client of gRPC: trailers with a status may end it at any time. */
  grpcResponse = false
  /** The status of gRPC, from the upstream or the gateway; null without one. */
  grpcStatus: number | null = null
  /** null without tracing. */
  trace: RequestTrace | null = null
  #requestIdLine: FieldLines | null = null

  /** The request id for the upstream, and for the client with the response of the upstream. */
  get requestIdLine(): FieldLines {
    // Ids are validated or generated: `requestIdOf` in pipeline/request-input.ts.
    this.#requestIdLine ??= new FieldLines(`x-request-id: ${this.id}\r\n`, null)
    return this.#requestIdLine
  }

  /** The rate limits of the route have taken a token, or refused. */
  get isLimited(): boolean {
    return this.rateLimits !== ''
  }

  /** Lines of the gateway in a response of the upstream. */
  get responseLines(): FieldLines {
    if (!this.isLimited) return this.requestIdLine
    return new FieldLines(this.requestIdLine.text + this.rateLimits, null)
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
    question: Question | null = null,
  ) {
    this.request = request
    this.response = response
    this.id = id
    this.startedAt = startedAt
    this.expectsContinue = expectsContinue
    this.handshake = handshake
    this.question = question
  }
}
