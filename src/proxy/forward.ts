/** Forwards a request to its upstream and streams the response back. A Forwarding exists for one request. */

import { performance } from 'node:perf_hooks'
import { forwardedTarget } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { type RelayedCall, relayedCall } from '../http/server/grpc-exchange.ts'
import type { ResponseListener } from '../http/server/client-response.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import { isGrpc } from '../http/wire/grpc.ts'
import { inBatch } from '../lib/batched-steps.ts'
import { type AttemptOwner, Attempts } from './attempts.ts'
import { ResponseRelay, type ResponseRelayOwner } from './response-relay.ts'
import { discardBody } from '../http/server/discard-body.ts'
import {
  Evicted,
  type ResponseHead,
  type RequestControl,
  type UpstreamRequest,
  type RequestOwner,
  type ResponseReceiver,
} from '../http/client/upstream-request.ts'
import { ownerOf } from './client-network.ts'
import { type BodyOwner, bodyTooLarge, RequestBody } from './request-body.ts'
import { requestHeaders } from './request-headers.ts'
import type { Target } from './target.ts'
import { type BufferedBody, isSmall, type Upstream } from './upstream.ts'
import { abandoned, protocolError, unavailable } from './upstream-faults.ts'

/** Responds with a refusal, or aborts a response that has begun. Never throws. `cause` is for the log. */
export type Refuse = (exchange: Exchange, refusal: Refusal, cause: unknown) => void

/** RFC 9110, section 9.2.2. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** Methods whose requests carry Content-Length even without content (RFC 9110, section 8.6). */
const HAS_CONTENT = new Set(['POST', 'PUT', 'PATCH'])

/** A request to forward in the next stage. */
interface ForwardTask {
  readonly exchange: Exchange
  readonly upstream: Upstream
  readonly refuse: Refuse
  /** The limit of the body in bytes. */
  readonly limit: number
  /** Idempotent and without a body, so that it may be sent twice. */
  readonly repeatable: boolean
  readonly relaying: Relaying
}

/** How a request and its response are relayed. */
export interface Relaying {
  /** The header lines to send, of those of the request. */
  readonly headers: (lines: readonly FieldLines[]) => readonly FieldLines[]
  readonly relay: (
    exchange: Exchange,
    stall: number,
    owner: ResponseRelayOwner & RelayedCall,
  ) => ResponseRelay
}

const UNCHANGED: Relaying = {
  headers: (lines) => lines,
  relay: (exchange, stall, owner) => new ResponseRelay(exchange, stall, owner),
}

/** Forwards an allowed exchange to the upstream of its route. Returns at once. */
export function forward(exchange: Exchange, upstream: Upstream, refuse: Refuse, relaying = UNCHANGED): void {
  const limit = exchange.evaluation?.decision.route?.maxBody ?? Infinity
  const { length, method } = exchange.request
  if (length !== Infinity && length > limit) return refuse(exchange, bodyTooLarge, null)
  const repeatable = length === 0 && IDEMPOTENT.has(method)
  inBatch(begin, { exchange, upstream, refuse, limit, repeatable, relaying })
}

function begin(task: ForwardTask): void {
  const { exchange, upstream, refuse } = task
  if (exchange.settled) return
  try {
    const { request } = exchange
    if (!request.complete && isSmall(request) && upstream.uploadsFull)
      return new Forwarding(task).bufferBody()
    const now = performance.now()
    const target = upstream.choose(exchange, task.repeatable, now)
    if (target instanceof Refusal) return refuse(exchange, target, upstream.cause)
    new Forwarding(task).start(target, now)
  } catch (error) {
    refuse(exchange, unavailable, error)
  }
}

class Forwarding
  implements
    ResponseReceiver,
    BodyOwner,
    ResponseListener,
    ResponseRelayOwner,
    AttemptOwner,
    BufferedBody,
    RelayedCall
{
  readonly #task: ForwardTask
  readonly #exchange: Exchange
  readonly #upstream: Upstream
  readonly #body: RequestBody | null
  readonly #attempts: Attempts
  readonly #relay: ResponseRelay
  readonly #hopRequest: UpstreamRequest
  /** The body is read before a target is selected. */
  #bufferingBody = false
  #owner: RequestOwner | null = null
  /** The control of the request in flight; null before a connection is available. */
  #control: RequestControl | null = null
  /** Further events are ignored. */
  #finished = false

  constructor(task: ForwardTask) {
    const { exchange, upstream, limit, repeatable, relaying } = task
    this.#task = task
    const { request, evaluation } = exchange
    const { length } = request
    this.#exchange = exchange
    this.#upstream = upstream
    this.#body = length === 0 ? null : new RequestBody(exchange, limit, upstream.config.bodyTimeout, this)
    this.#attempts = new Attempts(exchange, upstream, repeatable, this)
    this.#relay = relaying.relay(exchange, upstream.config.bodyTimeout, this)
    this.#hopRequest = {
      method: request.method,
      path: evaluation === null ? '' : forwardedTarget(evaluation),
      headers: relaying.headers(
        requestHeaders(exchange, upstream.config, upstream.proxies, upstream.identity),
      ),
      host: upstream.config.passHost ? request.host : null,
      body: this.#body,
      length: length === 0 && !HAS_CONTENT.has(request.method) ? null : length,
      grpc: isGrpc(request.section.fields),
    }
  }

  get owner(): RequestOwner {
    this.#owner ??= ownerOf(this.#exchange, this.#upstream.proxies)
    return this.#owner
  }

  start(target: Target, now: number): void {
    this.#listen()
    this.#attempts.start(target, now)
  }

  #listen(): void {
    this.#exchange.response.listen(this)
  }

  /** Reads the body first: a complete body needs no upload slot. */
  bufferBody(): void {
    this.#listen()
    this.#bufferingBody = true
    this.#upstream.smallBodies.add(this)
    this.#body?.read(0)
  }

  buffered(): void {
    this.#bufferingBody = false
    if (this.#finished || this.#exchange.settled) return
    try {
      const now = performance.now()
      const target = this.#upstream.choose(this.#exchange, this.#task.repeatable, now)
      if (target instanceof Refusal) this.refused(target, this.#upstream.cause)
      else this.#attempts.start(target, now)
    } catch (error) {
      this.refused(unavailable, error)
    }
  }

  #stopBuffering(): void {
    if (this.#bufferingBody) this.#upstream.smallBodies.done(this)
  }

  send(target: Target, traceParent: string | null): void {
    this.#control = null
    target.dispatch(traceParent === null ? this.#hopRequest : traced(this.#hopRequest, traceParent), this)
  }

  connected(control: RequestControl): boolean {
    // The request was cancelled while it waited for a connection.
    if (this.#finished) {
      this.#attempts.end()
      return false
    }
    this.#control = control
    this.#attempts.connected()
    return true
  }

  requestProgress(): void {
    this.#attempts.progress()
  }

  responseStarted(): void {
    this.#attempts.responseStarted()
  }

  head(head: ResponseHead): void {
    if (this.#finished) return
    const { status } = head
    try {
      if (status < 100 || status === 101) throw new Error(`status ${status}`)
      // The gateway sends no Expect, and has sent the client a 100 of its own (RFC 9110, section 15.2).
      if (status === 100) return
      // Interim responses do not move the deadline: an upstream that sends nothing else is as good as silent.
      if (status < 200) return this.#relay.interim(head)
      this.#attempts.responded(status)
      this.#relay.begin(head)
      if (this.#exchange.request.http2 && isGrpc(head.fields)) relayedCall.set(this.#exchange, this)
    } catch (error) {
      this.refused(protocolError, error)
    }
  }

  data(chunk: Buffer | string): void {
    if (this.#finished) return
    try {
      if (!this.#relay.write(chunk)) this.#control?.pause()
    } catch (error) {
      this.refused(protocolError, error)
    }
  }

  ended(trailers: readonly string[]): void {
    this.#attempts.succeeded()
    if (this.#finished) return
    try {
      this.#relay.end(trailers)
    } catch (error) {
      return this.refused(protocolError, error)
    }
    this.#finished = true
    // The connection may carry another request by now.
    this.#control = null
    const body = this.#body
    if (body === null || body.complete) return
    // The response came before the end of the request. The rest of the body is discarded: a fault in it must
    // not replace this response.
    this.#relay.flush()
    body.destroy()
    discardBody(this.#exchange.request, this.#exchange.response, body.remaining)
  }

  failed(error: Error): void {
    this.#attempts.failed(error)
  }

  bodyReceived(): void {
    this.#attempts.uploaded()
    if (this.#control === null) this.#attempts.bodyReceived(this)
    this.#stopBuffering()
  }

  bodyPaused(): void {
    this.#stopBuffering()
  }

  /**
   * The streams of a call of gRPC answer each other. Once it has a response, the time of its connection
   * bounds both.
   */
  mayBeSilent(): boolean {
    const isStream = this.#hopRequest.grpc === true && this.#upstream.config.protocol !== 'http1'
    return isStream && !this.#finished && this.#attempts.hasResponse
  }

  bodyRefused(refusal: Refusal): void {
    if (!this.#finished) this.refused(refusal, null)
  }

  get awaitsClient(): boolean {
    return this.#body?.awaitsClient === true
  }

  resume(): void {
    this.#control?.resume()
  }

  unwritable(error: unknown): void {
    this.refused(protocolError, error)
  }

  abandon(): void {
    if (!this.#finished) this.#abandon()
  }

  refused(refusal: Refusal, cause: unknown): void {
    this.#abandon()
    if (cause instanceof Evicted) this.#relay.endEvents()
    this.#relay.abort()
    this.#task.refuse(this.#exchange, refusal, cause)
  }

  /** The response is sent, or the client has disconnected. */
  closed(): void {
    this.#relay.close()
    if (this.#finished) return
    this.#exchange.aborted = true
    this.#abandon()
  }

  #abandon(): void {
    this.#finished = true
    this.#attempts.abandon()
    this.#stopBuffering()
    this.#body?.destroy()
    if (this.#control === null) this.#attempts.cancel(this)
    else this.#control.close(abandoned)
  }
}

/**
 * The request with a field for one attempt only.
 *
 * @param traceParent a valid value
 */
function traced(request: UpstreamRequest, traceParent: string): UpstreamRequest {
  return {
    ...request,
    headers: [...request.headers, new FieldLines(`traceparent: ${traceParent}\r\n`, null)],
  }
}
