/**
 * Sends a request on to its upstream and streams the answer back. One Forwarding lives as long as one request.
 */

import { performance } from 'node:perf_hooks'
import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { ResponseListener } from '../http/server/client-response.ts'
import { nextStage } from '../lib/batched-stages.ts'
import { ResponseRelay, type ResponseRelayOwner } from './response-relay.ts'
import { Deadlines, type Timed } from './deadlines.ts'
import { discardBody } from './discard-body.ts'
import { type BufferedBody, isSmall } from './small-bodies.ts'
import type {
  ResponseHead,
  RequestControl,
  UpstreamRequest,
  RequestOwner,
  ResponseReceiver,
} from '../http/client/upstream-request.ts'
import { ownerOf } from './request-owner.ts'
import { type BodyOwner, bodyTooLarge, RequestBody } from './request-body.ts'
import { requestHeaders } from './request-headers.ts'
import type { Target } from './target.ts'
import type { Upstream } from './upstream.ts'
import {
  blameOf,
  busy,
  abandoned,
  protocolError,
  refusalOf,
  timedOut,
  unavailable,
} from './upstream-faults.ts'

/** Answers for the gateway, or cuts an answer that has begun. Never throws. `cause` is for the log. */
export type Refuse = (exchange: Exchange, refusal: Refusal, cause: unknown) => void

/** RFC 9110, section 9.2.2. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** Their requests say how long their content is, also where there is none (RFC 9110, section 8.6). */
const HAS_CONTENT = new Set(['POST', 'PUT', 'PATCH'])

/** What is to be forwarded, in the next stage. */
interface ForwardTask {
  readonly exchange: Exchange
  readonly upstream: Upstream
  readonly refuse: Refuse
  /** Bytes that the body may have. */
  readonly limit: number
  /** It may reach the upstream twice, and has no body to send again. */
  readonly repeatable: boolean
}

/** The exchange was allowed, for a route of this upstream. Returns at once. */
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

/** Where there is no room, one of a caller that takes more of it gives way. */
function choose({ exchange, upstream, repeatable }: ForwardTask, now: number): Target | Refusal {
  const uploads = !exchange.request.complete
  const target = upstream.choose(now, repeatable, uploads)
  if (target !== busy || !upstream.evictFor(ownerOf(exchange, upstream.proxies), uploads)) return target
  return upstream.choose(now, repeatable, uploads)
}

/** Of requests that wait for their answers. */
const deadlines = new Deadlines()

class Forwarding
  implements ResponseReceiver, BodyOwner, ResponseListener, ResponseRelayOwner, Timed, BufferedBody
{
  readonly #task: ForwardTask
  readonly #exchange: Exchange
  readonly #upstream: Upstream
  readonly #refuse: Refuse
  readonly #body: RequestBody | null
  /** It may reach the upstream twice, and has no body to send again. */
  readonly #repeatable: boolean
  readonly #relay: ResponseRelay
  readonly #hopRequest: UpstreamRequest
  /** Milliseconds that the upstream may be silent before its answer. */
  readonly #responseTimeout: number
  deadline = 0
  index = -1
  /** Where the request is, and where it was before; null where it was nowhere. */
  #target: Target | null = null
  #previous: Target | null = null
  /** What `Target.begin` gave. */
  #epoch = 0
  #retries = 0
  /** Counted among the uploads of its target. */
  #uploading = false
  /** No target is chosen yet: its body is read before. */
  #bufferingBody = false
  #owner: RequestOwner | null = null
  /** null until a connection was had. */
  #control: RequestControl | null = null
  /** The upstream has begun to answer, be it with an interim answer or a broken one. */
  #responseStarted = false
  /** Nothing more is to be done, whatever is still told. */
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
      // The very bytes that were matched.
      path: evaluation === null ? '' : evaluation.decision.path + evaluation.query,
      headers: requestHeaders(exchange, upstream.config, upstream.proxies),
      host: upstream.config.passHost ? request.host : null,
      body: this.#body,
      length: length === 0 && !HAS_CONTENT.has(request.method) ? null : length,
    }
  }

  get owner(): RequestOwner {
    this.#owner ??= ownerOf(this.#exchange, this.#upstream.proxies)
    return this.#owner
  }

  start(target: Target, now: number): void {
    this.#exchange.response.listen(this)
    this.#begin(target, now)
  }

  #begin(target: Target, now: number): void {
    this.#exchange.forwardedAt = now
    // Each attempt sets its own.
    deadlines.add(this, Infinity)
    this.#send(target, now)
  }

  /** Its body is read first: one that is there whole does not wait behind those that are still coming. */
  bufferBody(): void {
    this.#exchange.response.listen(this)
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
    // Connecting has a limit of its own, which comes first.
    deadlines.move(this, now + this.#upstream.config.connectTimeout + this.#responseTimeout)
    this.#epoch = target.begin(now)
    if (this.#body?.complete === false) {
      target.uploads++
      this.#uploading = true
    }
    target.dispatch(this.#hopRequest, this)
  }

  connected(control: RequestControl): boolean {
    // It waited for a connection and no longer wants one.
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
      // The gateway asks nobody for leave to send a body, and has given the client its own (RFC 9110, section 15.2).
      if (status === 100) return
      // Interim answers are no sign of life: an upstream that gives nothing else is as good as silent.
      if (status < 200) return this.#relay.interim(head)
      deadlines.remove(this)
      const now = performance.now()
      this.#exchange.respondedAt = now
      this.#target?.ejection.answered(this.#epoch, now)
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
    try {
      this.#relay.end(trailers)
    } catch (error) {
      return this.#fail(protocolError, error)
    }
    this.#finished = true
    // It may be another request's by now.
    this.#control = null
    const body = this.#body
    if (body === null || body.complete) return
    // The answer came before the request was whole. What is left of it is read, but goes nowhere: whatever turns out to
    // be wrong with it is no answer to take the place of this one.
    this.#relay.flush()
    body.destroy()
    discardBody(this.#exchange.request, this.#exchange.response, body.remaining)
  }

  failed(error: Error): void {
    const target = this.#endAttempt()
    if (target === null) return
    const now = performance.now()
    // A kept connection that the upstream closed just as it was taken up again is nobody's fault.
    const race = target.isKeepAliveRace(error)
    const blame = race ? null : blameOf(error, this.#control !== null, this.#responseStarted)
    if (blame !== null) this.#upstream.failed(target, this.#epoch, blame, error, now)
    if (this.#finished) return
    const next = race || blame !== null ? this.#next(target, race, now) : null
    if (next === null) return this.#fail(refusalOf(error, this.#control !== null), error)
    this.#upstream.retried(target, next, error)
    this.#retries++
    this.#previous = target
    this.#control = null
    this.#send(next, now)
  }

  /**
   * Where it may be tried again: any request of which nothing was written yet, else only what may be repeated. The
   * first race is free: every client of HTTP has to meet it so.
   */
  #next(tried: Target, race: boolean, now: number): Target | null {
    if (this.#responseStarted || this.#retries === this.#upstream.retries) return null
    if (this.#control !== null && !this.#repeatable) return null
    return this.#upstream.retryTarget(tried, this.#previous, race, race && this.#retries === 0, now)
  }

  /** The attempt is over. Each end is told once, also of what was given up. */
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

  bodyRefused(refusal: Refusal): void {
    if (!this.#finished) this.#fail(refusal, null)
  }

  expired(now: number): void {
    // Not the upstream is silent, but the client; that has a limit of its own.
    if (this.#body?.awaitsClient) deadlines.move(this, now + this.#responseTimeout)
    else this.#fail(timedOut, null)
  }

  resume(): void {
    this.#control?.resume()
  }

  unwritable(error: unknown): void {
    this.#fail(protocolError, error)
  }

  #fail(refusal: Refusal, cause: unknown): void {
    this.#abandon()
    this.#relay.abort()
    this.#refuse(this.#exchange, refusal, cause)
  }

  /** The answer is through, or the client has left before. */
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
    // No connection was had yet: its place in the line is another's.
    else if (this.#target?.cancel(this) === true) this.#endAttempt()
  }
}
