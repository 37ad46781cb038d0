/** Forwards a request to its upstream and streams the response back. A Forwarding exists for one request. */

import { performance } from 'node:perf_hooks'
import { forwardedTarget } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import type { Exchange, ForwardedRequest } from '../http/server/exchange.ts'
import type { ResponseListener } from '../http/server/client-response.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import { isGrpc } from '../http/wire/grpc.ts'
import { nextStage } from '../lib/batched-stages.ts'
import { ResponseRelay, type ResponseRelayOwner } from './response-relay.ts'
import { Deadlines, type Timed } from './deadlines.ts'
import { discardBody } from './discard-body.ts'
import { type BufferedBody, isSmall } from './small-bodies.ts'
import {
  type ResponseHead,
  type RequestControl,
  Unprocessed,
  type UpstreamRequest,
  type RequestOwner,
  type ResponseReceiver,
} from '../http/client/upstream-request.ts'
import { ownerOf } from './client-network.ts'
import { type BodyOwner, bodyTooLarge, RequestBody } from './request-body.ts'
import { requestHeaders } from './request-headers.ts'
import type { Target } from './target.ts'
import type { Upstream } from './upstream.ts'
import {
  blameOf,
  busy,
  faultName,
  abandoned,
  protocolError,
  refusalOf,
  timedOut,
  unavailable,
} from './upstream-faults.ts'

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
}

/** Forwards an allowed exchange to the upstream of its route. Returns at once. */
export function forward(exchange: Exchange, upstream: Upstream, refuse: Refuse): void {
  const limit = exchange.evaluation?.decision.route?.maxBody ?? Infinity
  const { length, method } = exchange.request
  if (length !== Infinity && length > limit) return refuse(exchange, bodyTooLarge, null)
  const repeatable = length === 0 && IDEMPOTENT.has(method)
  nextStage(begin, { exchange, upstream, refuse, limit, repeatable })
}

function begin(task: ForwardTask): void {
  const { exchange, upstream, refuse } = task
  if (exchange.settled) return
  try {
    const { request } = exchange
    if (!request.complete && isSmall(request) && upstream.uploadsFull)
      return new Forwarding(task).bufferBody()
    const now = performance.now()
    const target = choose(task, now)
    if (target instanceof Refusal) return refuse(exchange, target, upstream.cause)
    new Forwarding(task).start(target, now)
  } catch (error) {
    refuse(exchange, unavailable, error)
  }
}

/** Selects a target. If all are busy, a request of an owner with more slots is evicted first. */
function choose({ exchange, upstream, repeatable }: ForwardTask, now: number): Target | Refusal {
  const uploads = !exchange.request.complete
  const target = upstream.choose(now, repeatable, uploads)
  if (target !== busy || !upstream.evictFor(ownerOf(exchange, upstream.proxies), uploads)) return target
  return upstream.choose(now, repeatable, uploads)
}

/** Deadlines of requests that wait for their responses. */
const deadlines = new Deadlines()

class Forwarding
  implements
    ResponseReceiver,
    BodyOwner,
    ResponseListener,
    ResponseRelayOwner,
    Timed,
    BufferedBody,
    ForwardedRequest
{
  readonly #task: ForwardTask
  readonly #exchange: Exchange
  readonly #upstream: Upstream
  readonly #refuse: Refuse
  readonly #body: RequestBody | null
  /** Idempotent and without a body, so that it may be sent twice. */
  readonly #repeatable: boolean
  readonly #relay: ResponseRelay
  readonly #hopRequest: UpstreamRequest
  /** Milliseconds in which the upstream must make progress before its response. */
  readonly #responseTimeout: number
  deadline = 0
  index = -1
  /** The target of the current attempt and of the previous one; null if there is none. */
  #target: Target | null = null
  #previous: Target | null = null
  /** The result of `Target.begin`. */
  #epoch = 0
  #retries = 0
  /** Counted among the uploads of its target. */
  #uploading = false
  /** The body is read before a target is selected. */
  #bufferingBody = false
  #owner: RequestOwner | null = null
  /** null before a connection is available. */
  #control: RequestControl | null = null
  /** The upstream has sent bytes, perhaps an interim or a malformed response. */
  #responseStarted = false
  /** Further events are ignored. */
  #finished = false

  constructor(task: ForwardTask) {
    const { exchange, upstream, refuse, limit, repeatable } = task
    this.#task = task
    const { request, evaluation } = exchange
    const { length } = request
    this.#exchange = exchange
    this.#upstream = upstream
    this.#refuse = refuse
    this.#body = length === 0 ? null : new RequestBody(exchange, limit, upstream.bodyTimeout, this)
    this.#repeatable = repeatable
    this.#relay = new ResponseRelay(exchange, upstream.bodyTimeout, this)
    this.#responseTimeout = evaluation?.decision.route?.responseTimeout ?? upstream.config.responseTimeout
    this.#hopRequest = {
      method: request.method,
      path: evaluation === null ? '' : forwardedTarget(evaluation),
      headers: requestHeaders(exchange, upstream.config, upstream.proxies, upstream.identity),
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
    this.#begin(target, now)
  }

  #listen(): void {
    this.#exchange.response.listen(this)
    this.#exchange.forwarding = this
  }

  #begin(target: Target, now: number): void {
    this.#exchange.forwardedAt = now
    // Each attempt sets its own deadline.
    deadlines.add(this, Infinity)
    this.#send(target, now)
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
      const target = choose(this.#task, now)
      if (target instanceof Refusal) this.#fail(target, this.#upstream.cause)
      else this.#begin(target, now)
    } catch (error) {
      this.#fail(unavailable, error)
    }
  }

  #stopBuffering(): void {
    if (this.#bufferingBody) this.#upstream.smallBodies.done(this)
  }

  #send(target: Target, now: number): void {
    this.#target = target
    this.#exchange.target = target.origin
    // Connecting has its own timeout, which is shorter.
    deadlines.move(this, now + this.#upstream.config.connectTimeout + this.#responseTimeout)
    this.#epoch = target.begin(now)
    if (this.#body?.complete === false) {
      target.uploads++
      this.#uploading = true
    }
    const traceParent = this.#exchange.trace?.attempt(target.url) ?? null
    target.dispatch(traceParent === null ? this.#hopRequest : traced(this.#hopRequest, traceParent), this)
  }

  connected(control: RequestControl): boolean {
    // The request was cancelled while it waited for a connection.
    if (this.#finished) {
      this.#endAttempt()
      return false
    }
    const now = performance.now()
    this.#control = control
    deadlines.move(this, now + this.#responseTimeout)
    this.#target?.ejection.connected(this.#epoch, now)
    return true
  }

  requestProgress(): void {
    deadlines.move(this, performance.now() + this.#responseTimeout)
  }

  responseStarted(): void {
    this.#responseStarted = true
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
      deadlines.remove(this)
      const now = performance.now()
      this.#exchange.respondedAt = now
      this.#exchange.trace?.responded(status)
      this.#target?.ejection.responseStarted(this.#epoch, now)
      this.#relay.begin(head)
    } catch (error) {
      this.#fail(protocolError, error)
    }
  }

  data(chunk: Buffer | string): void {
    if (this.#finished) return
    try {
      if (!this.#relay.write(chunk)) this.#control?.pause()
    } catch (error) {
      this.#fail(protocolError, error)
    }
  }

  ended(trailers: readonly string[]): void {
    this.#endAttempt()
    if (this.#finished) return
    this.#exchange.trace?.attemptEnded(null)
    try {
      this.#relay.end(trailers)
    } catch (error) {
      return this.#fail(protocolError, error)
    }
    this.#finished = true
    // The connection may carry another request by now.
    this.#control = null
    const body = this.#body
    if (body === null || body.complete) return
    // The response came before the end of the request. The rest of the body is discarded: a fault in it must not
    // replace this response.
    this.#relay.flush()
    body.destroy()
    discardBody(this.#exchange.request, this.#exchange.response, body.remaining)
  }

  failed(error: Error): void {
    const target = this.#endAttempt()
    if (target === null) return
    if (!this.#finished) this.#exchange.trace?.attemptEnded(faultName(error))
    const now = performance.now()
    // The upstream closed an idle connection just as it was reused. That is no fault of the target.
    const race = target.isKeepAliveRace(error)
    const blame = race ? null : blameOf(error, this.#control !== null, this.#responseStarted)
    if (blame !== null) this.#upstream.failed(target, this.#epoch, blame, error, now)
    if (this.#finished) return
    const unprocessed = error instanceof Unprocessed ? error : null
    const retriable = race || blame !== null || unprocessed !== null
    const next = retriable ? this.#next(target, race, unprocessed, now) : null
    if (next === null) return this.#fail(refusalOf(error, this.#control !== null), error)
    this.#upstream.retried(target, next, error)
    this.#retries++
    this.#previous = target
    this.#control = null
    this.#send(next, now)
  }

  /**
   * The target of a retry. A request of which nothing was written may always be retried, any other only if it is
   * repeatable, or if the target has not processed it. The first keep-alive race does not count, nor a connection that
   * the target closes in good order: every HTTP client must expect them.
   */
  #next(tried: Target, race: boolean, unprocessed: Unprocessed | null, now: number): Target | null {
    if (this.#responseStarted || this.#retries === this.#upstream.retries) return null
    if (this.#control !== null && !this.#repeatable && unprocessed?.intact !== true) return null
    const free = (race || unprocessed?.goingAway === true) && this.#retries === 0
    return this.#upstream.retryTarget(tried, this.#previous, race || unprocessed !== null, free, now)
  }

  /** Ends the attempt. Each attempt ends once, also an abandoned one. */
  #endAttempt(): Target | null {
    const target = this.#target
    this.#endUpload()
    this.#target = null
    target?.end(this.#epoch)
    return target
  }

  bodyReceived(): void {
    this.#endUpload()
    this.#stopBuffering()
  }

  bodyPaused(): void {
    this.#stopBuffering()
  }

  #endUpload(): void {
    if (this.#uploading && this.#target !== null) this.#target.uploads--
    this.#uploading = false
  }

  /** The streams of a call of gRPC answer each other. Once it has a response, the time of its connection bounds both. */
  mayBeSilent(): boolean {
    const isStream = this.#hopRequest.grpc === true && this.#upstream.config.protocol !== 'http1'
    return isStream && !this.#finished && this.#exchange.respondedAt > 0
  }

  bodyRefused(refusal: Refusal): void {
    if (!this.#finished) this.#fail(refusal, null)
  }

  expired(now: number): void {
    // The client is silent, not the upstream. The body has its own timeout.
    if (this.#body?.awaitsClient) deadlines.move(this, now + this.#responseTimeout)
    else this.#fail(timedOut, null)
  }

  resume(): void {
    this.#control?.resume()
  }

  unwritable(error: unknown): void {
    this.#fail(protocolError, error)
  }

  abandon(): void {
    if (!this.#finished) this.#abandon()
  }

  #fail(refusal: Refusal, cause: unknown): void {
    this.#abandon()
    this.#relay.abort()
    this.#refuse(this.#exchange, refusal, cause)
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
    deadlines.remove(this)
    this.#stopBuffering()
    this.#body?.destroy()
    if (this.#control !== null) this.#control.abort(abandoned)
    // No connection was available yet: the request leaves the queue.
    else if (this.#target?.cancel(this) === true) this.#endAttempt()
  }
}

/** With a field for one attempt only. @param traceParent a valid value */
function traced(request: UpstreamRequest, traceParent: string): UpstreamRequest {
  return {
    ...request,
    headers: [...request.headers, new FieldLines(`traceparent: ${traceParent}\r\n`, null)],
  }
}
