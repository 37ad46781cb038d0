/**
 * The attempts of one request at the targets of its upstream: the loop of forwarded requests and of WebSocket
 * handshakes. It counts each attempt at its target, times it, and tells the trace and the outlier ejection of
 * its result. After a failure it begins another attempt, or says what the client is refused with.
 */

import { performance } from 'node:perf_hooks'
import { Deadlines, type Timed } from '../lib/deadlines.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { NextHop, nextHop } from '../http/server/next-hop.ts'
import { requestTrace } from '../http/server/request-trace.ts'
import { ConnectionLost, type ResponseReceiver, Unprocessed } from '../http/client/upstream-request.ts'
import type { Refusal } from '../model/errors.ts'
import type { Target } from './target.ts'
import type { Upstream } from './upstream.ts'
import { blameOf, faultName, upstreamRefusal, timedOut } from './upstream-faults.ts'

/** Sends the attempts. */
export interface AttemptOwner {
  /**
   * Sends the request to this target.
   *
   * @param traceParent the value of `traceparent`, or null if none is sent
   */
  send(target: Target, traceParent: string | null): void
  /** No attempt is left, or the upstream has not responded in time. */
  refused(refusal: Refusal, cause: unknown): void
  /** The client is silent, not the upstream. */
  readonly awaitsClient: boolean
}

/** Deadlines of requests that wait for their responses. */
const deadlines = new Deadlines()

export class Attempts implements Timed {
  deadline = 0
  index = -1
  readonly #exchange: Exchange
  readonly #upstream: Upstream
  readonly #owner: AttemptOwner
  /** The request may be sent again although a target may have processed it. */
  readonly #repeatable: boolean
  /** Milliseconds in which the upstream must make progress before its response. */
  readonly #responseTimeout: number
  /** The hop of the request; null before the first attempt. */
  #hop: NextHop | null = null
  /** The target of the attempt in progress and of the previous one; null if there is none. */
  #target: Target | null = null
  #previous: Target | null = null
  /** The result of `Target.begin`. */
  #epoch = 0
  #retries = 0
  /** The attempt is counted among the uploads of its target. */
  #uploading = false
  #connected = false
  #responseStarted = false
  /** The client does not wait any more. */
  #abandoned = false

  /** @param repeatable idempotent and without a body, so that it may be sent twice */
  constructor(exchange: Exchange, upstream: Upstream, repeatable: boolean, owner: AttemptOwner) {
    this.#exchange = exchange
    this.#upstream = upstream
    this.#repeatable = repeatable
    this.#owner = owner
    const { responseTimeout } = upstream.config
    this.#responseTimeout = exchange.evaluation?.decision.route?.responseTimeout ?? responseTimeout
  }

  /**
   * Begins the first attempt.
   *
   * @param target from `Upstream.choose`
   * @param now monotonic ms
   */
  start(target: Target, now: number): void {
    this.#hop = new NextHop(now)
    nextHop.set(this.#exchange, this.#hop)
    // Each attempt sets its own deadline.
    deadlines.add(this, Infinity)
    this.#begin(target, now)
  }

  #begin(target: Target, now: number): void {
    this.#target = target
    this.#connected = false
    if (this.#hop !== null) this.#hop.target = target.origin
    // Connecting has its own timeout, which is shorter.
    deadlines.move(this, now + this.#upstream.config.connectTimeout + this.#responseTimeout)
    this.#epoch = target.begin(now)
    if (!this.#exchange.request.complete) {
      target.uploads++
      this.#uploading = true
    }
    this.#owner.send(target, requestTrace.get(this.#exchange)?.attempt(target.url) ?? null)
  }

  /** The attempt has a connection, and is written next. */
  connected(): void {
    const now = performance.now()
    this.#connected = true
    deadlines.move(this, now + this.#responseTimeout)
    this.#target?.ejection.connected(this.#epoch, now)
  }

  /** A part of the request was written. */
  progress(): void {
    deadlines.move(this, performance.now() + this.#responseTimeout)
  }

  /** The whole body of the request is received. */
  uploaded(): void {
    if (this.#uploading && this.#target !== null) this.#target.uploads--
    this.#uploading = false
  }

  /** The upstream has sent bytes, perhaps of an interim or a malformed response. */
  responseStarted(): void {
    this.#responseStarted = true
  }

  /** The head of the final response, or a 101. */
  responded(status: number): void {
    deadlines.remove(this)
    const now = performance.now()
    if (this.#hop !== null) this.#hop.respondedAt = now
    requestTrace.get(this.#exchange)?.responded(status)
    this.#target?.ejection.responseStarted(this.#epoch, now)
  }

  get hasResponse(): boolean {
    return this.#hop !== null && this.#hop.respondedAt > 0
  }

  /** The response is complete. */
  succeeded(): void {
    this.end()
    if (!this.#abandoned) requestTrace.get(this.#exchange)?.attemptEnded(null)
  }

  /** The attempt has failed. */
  failed(error: Error): void {
    const target = this.end()
    if (target === null) return
    if (!this.#abandoned) requestTrace.get(this.#exchange)?.attemptEnded(faultName(error))
    const now = performance.now()
    // The upstream closed an idle connection just as it was reused. That is no fault of the target.
    const race = error instanceof ConnectionLost && error.afterUse
    const blame = race ? null : blameOf(error, this.#connected, this.#responseStarted)
    if (blame !== null) this.#upstream.failed(target, this.#epoch, blame, error, now)
    if (this.#abandoned) return
    const unprocessed = error instanceof Unprocessed ? error : null
    const retriable = race || blame !== null || unprocessed !== null
    const next = retriable ? this.#next(target, race, unprocessed, now) : null
    if (next === null) return this.#owner.refused(upstreamRefusal(error, this.#connected), error)
    this.#upstream.retried(target, next, error)
    this.#retries++
    this.#previous = target
    this.#begin(next, now)
  }

  /**
   * The target of a retry. A request may always be retried if nothing of it was written, and otherwise only
   * if it is repeatable, or if the target has not processed it. The first keep-alive race does not count, nor
   * a connection that the target closes in good order: every HTTP client must expect them.
   */
  #next(tried: Target, race: boolean, unprocessed: Unprocessed | null, now: number): Target | null {
    if (this.#responseStarted || this.#retries === this.#upstream.retries) return null
    if (this.#connected && !this.#repeatable && unprocessed?.intact !== true) return null
    const free = (race || unprocessed?.goingAway === true) && this.#retries === 0
    return this.#upstream.retryTarget(tried, this.#previous, race || unprocessed !== null, free, now)
  }

  /**
   * Frees the slot of the attempt at its target. An abandoned attempt ends too.
   *
   * @returns its target, or null if it had ended
   */
  end(): Target | null {
    const target = this.#target
    this.uploaded()
    this.#target = null
    target?.end(this.#epoch)
    return target
  }

  expired(now: number): void {
    // The body has its own timeout.
    if (this.#owner.awaitsClient) deadlines.move(this, now + this.#responseTimeout)
    else this.#owner.refused(timedOut, null)
  }

  /** No further attempt begins. The one in progress counts until it has ended. */
  abandon(): void {
    this.#abandoned = true
    deadlines.remove(this)
  }

  /** Tells the target, if no connection was available for the request yet, that its body is complete. */
  bodyReceived(receiver: ResponseReceiver): void {
    this.#target?.bodyReceived(receiver)
  }

  /** Takes the request out of the queue of its target, if no connection was available for it yet. */
  cancel(receiver: ResponseReceiver): void {
    if (this.#target?.cancel(receiver) === true) this.end()
  }
}
