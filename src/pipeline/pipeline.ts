/**
 * The hot path: one request, its stages in order — guard, judge (match, authenticate, resolve, decide), forward or serve,
 * log. From one to the next it goes by `lib/batched-stages.ts`. Whatever a stage throws ends in one place, which fails closed.
 */

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { readCredentials } from '../decision/authn/credentials.ts'
import { Refusal } from '../model/errors.ts'
import { Exchange } from '../http/server/exchange.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { Evaluation } from '../model/decision.ts'
import type { PublicResponse } from '../model/route.ts'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { ClientResponse } from '../http/server/client-response.ts'
import type { HeaderSection } from '../http/wire/header-section.ts'
import { MadeOf } from '../lib/made-of.ts'
import { nextStage } from '../lib/batched-stages.ts'
import type { DecisionEngine } from '../decision/engine.ts'
import { forward } from '../proxy/forward.ts'
import { clientNetwork, forwardedNetwork } from '../proxy/client-network.ts'
import { peerAddress, type TrustedProxies } from '../proxy/forwarded.ts'
import { serveLocal } from './local-handler.ts'
import { respondPublic, servePublic } from './public-handler.ts'
import type { Upstream } from '../proxy/upstream.ts'
import { GOING_AWAY, NO_CLOSE, POLICY_VIOLATION } from '../proxy/websocket/close-frame.ts'
import { earlyBytes, isHandshake, strayHandshake } from '../proxy/websocket/handshake.ts'
import { openWebSocket } from '../proxy/websocket/opening.ts'
import { type ValidationLimits, validateRequest } from '../http/server/request-validation.ts'
import type { CloseWith } from '../http/server/listener.ts'
import { rawProblem, writeProblem } from '../http/server/problem.ts'
import { type RequestShareLimits, RequestShares } from '../http/server/request-shares.ts'
import { handshakeResponse } from '../http/server/handshake-response.ts'
import { type WebSocketLimits, WebSocketShares } from '../http/server/web-socket-shares.ts'
import type { AccessLog } from '../telemetry/access-log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { InFlight } from '../lib/in-flight.ts'

/** Everything of one configuration that a request meets. Replaced whole by a reload, never changed. */
export interface Running {
  readonly engine: DecisionEngine
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly trustedProxies: TrustedProxies
  readonly signIn: SendsToSignIn
  readonly limits: PipelineLimits
}

export interface PipelineLimits extends ValidationLimits, RequestShareLimits, WebSocketLimits {
  /** Milliseconds for the body of a request to a built-in endpoint. */
  readonly bodyTimeout: number
}

/**
 * Where a browser without credentials is sent, as a route wants it. Null for what is no browser going to a page:
 * programs get the 401.
 */
export type SendsToSignIn = (
  tenant: string,
  request: { readonly method: string; readonly target: string; readonly rawHeaders: readonly string[] },
) => Promise<PublicResponse | Refusal> | null

const unknownOutcome = new Refusal(
  'unavailable',
  'The store did not answer. The change may have taken effect or not: look before you repeat it.',
)
const unavailable = new Refusal(
  'unavailable',
  'The gateway cannot decide at the moment. Nothing was forwarded.',
)

/** What may stand in logs, headers and problem documents as it is. */
const REQUEST_ID = /^[A-Za-z0-9._~-]{1,128}$/

export class Pipeline {
  #running: Running
  readonly #log: AccessLog
  readonly #metrics: Metrics
  readonly #open = new InFlight<Exchange>()
  /** Not counted and logged yet. They have a list of their own, as the end of the process may come before the stage. */
  readonly #ended: Exchange[] = []
  readonly #shares: RequestShares
  readonly #webSockets: WebSocketShares
  #draining = false

  constructor(running: Running, log: AccessLog, metrics: Metrics) {
    this.#running = running
    this.#log = log
    this.#metrics = metrics
    const clientOf = ({ request }: Exchange) => forwardedNetwork(request, this.#running.trustedProxies)
    this.#shares = new RequestShares(this.#open, clientOf, (of) => metrics.overShare(of))
    this.#shares.configure(running.limits)
    this.#webSockets = new WebSocketShares((by) => metrics.webSocketRefused(by))
  }

  /** Requests that start from now on meet this configuration; those under way keep theirs. */
  use(running: Running): void {
    this.#running = running
    this.#shares.configure(running.limits)
  }

  /** Requests that have not ended, and WebSockets. */
  get open(): InFlight<Exchange> {
    return this.#open
  }

  handle(request: ClientRequest, response: ClientResponse): Exchange {
    // TRACE is for finding out about proxies, and refused by this one; behind an Upgrade nobody knows what comes.
    if (request.upgrade !== null || request.method === 'TRACE') response.shouldKeepAlive = false
    const expectsContinue = request.expect !== null && request.minor === 1
    const exchange = new Exchange(
      request,
      response,
      this.#requestId(request),
      performance.now(),
      expectsContinue,
    )
    this.#begin(exchange, null)
    return exchange
  }

  /** A WebSocket handshake as it must be: whatever becomes of it, no other request follows. */
  acceptsUpgrade(request: ClientRequest): boolean {
    return isHandshake(request)
  }

  upgrade(request: ClientRequest, rest: Buffer): Exchange {
    const response = handshakeResponse(request)
    const exchange = new Exchange(request, response, this.#requestId(request), performance.now(), false, true)
    request.socket.on('data', () => this.#cameEarly(exchange))
    response.listen({ closed: () => this.ended(exchange) })
    this.#begin(exchange, rest.length > 0 ? earlyBytes : null)
    return exchange
  }

  #cameEarly(exchange: Exchange): void {
    if (!exchange.response.headersSent) this.refuse(exchange, earlyBytes, null)
  }

  #begin(exchange: Exchange, known: Refusal | null): void {
    this.#open.add(exchange)
    this.#metrics.started()
    if (known === null) nextStage(this.#engine, exchange)
    else this.cut(exchange, known)
  }

  /** The process ends: open WebSockets are told so, and those that are on their way will be. */
  drain(): void {
    this.#draining = true
    for (const { webSocket } of [...this.#open]) webSocket?.close('drain', GOING_AWAY, 'going away')
  }

  readonly #opened = (exchange: Exchange): void => {
    this.#metrics.ended()
    this.#metrics.answered(exchange, performance.now())
    this.#metrics.webSocketOpened()
    if (this.#draining) exchange.webSocket?.close('drain', GOING_AWAY, 'going away')
  }

  reevaluate(exchange: Exchange): Evaluation | Promise<Evaluation> {
    return this.#running.engine.evaluate(askOf(exchange.request))
  }

  reevaluated({ decision }: Evaluation): void {
    this.#metrics.reevaluated(decision.code)
  }

  /** The answer has become no. */
  cut(exchange: Exchange, refusal: Refusal): void {
    this.refuse(exchange, refusal, null)
  }

  /** Ours, unless a proxy that is trusted gave the request an id already. */
  #requestId({ rawHeaders, socket }: ClientRequest): string {
    if (!this.#running.trustedProxies.has(peerAddress(socket.remoteAddress))) return randomUUID()
    const told = onlyValue(rawHeaders, 'x-request-id')
    return told !== null && REQUEST_ID.test(told) ? told : randomUUID()
  }

  readonly #engine = (exchange: Exchange): void => {
    // What came behind its head may have turned out to be broken, or its client has left.
    if (exchange.settled) return
    try {
      this.#authorizationRequest(exchange)
    } catch (cause) {
      this.#failed(exchange, cause)
    }
  }

  #authorizationRequest(exchange: Exchange): void {
    const running = this.#running
    const { request, handshake } = exchange
    const refusal = validateRequest(request, running.limits) ?? (handshake ? null : strayHandshake(request))
    if (refusal !== null) return this.refuse(exchange, refusal, null)
    const evaluation = running.engine.evaluate(askOf(request))
    if (evaluation instanceof Promise) {
      evaluation
        .then((known) => this.#evaluated(exchange, running, known))
        .catch((cause: unknown) => this.#failed(exchange, cause))
    } else this.#evaluated(exchange, running, evaluation)
  }

  #evaluated(exchange: Exchange, running: Running, evaluation: Evaluation): void {
    exchange.evaluation = evaluation
    // While the store was asked, the client may have left or the rest of its request turned out to be broken.
    if (exchange.settled) return
    if (evaluation.refusal !== null) return this.#refused(exchange, running, evaluation)
    const noShare = this.#shares.admit(exchange)
    if (noShare !== null) return this.refuse(exchange, noShare, null)
    const target = evaluation.decision.route?.target
    if (target?.kind === 'upstream') {
      const upstream = running.upstreams.get(target.name)
      if (upstream !== undefined) return this.#forward(exchange, upstream)
    } else if (target?.kind === 'local') {
      return serveLocal(exchange, {
        engine: async () => this.#running.engine.evaluate(askOf(exchange.request)),
        held: (known) => running.engine.held(known),
        refuse: this.refuse,
        failed: this.#failed,
        bodyTimeout: running.limits.bodyTimeout,
      })
    } else if (target?.kind === 'public' && target.handler !== null) {
      const { bodyTimeout } = running.limits
      return servePublic(exchange, target.handler, { refuse: this.refuse, failed: this.#failed, bodyTimeout })
    }
    throw new Error('the route has no target')
  }

  #forward(exchange: Exchange, upstream: Upstream): void {
    if (!exchange.handshake) return forward(exchange, upstream, this.refuse)
    const { trustedProxies, limits } = this.#running
    const { request } = exchange
    const address =
      clientNetwork(request.socket.remoteAddress, trustedProxies) ?? forwardedNetwork(request, trustedProxies)
    const refusal = this.#webSockets.admit(exchange, address, limits)
    if (refusal !== null) return this.refuse(exchange, refusal, null)
    openWebSocket(exchange, upstream, { refuse: this.refuse, opened: this.#opened })
  }

  #refused(exchange: Exchange, { signIn }: Running, { refusal, decision }: Evaluation): void {
    if (refusal === null) return
    const { method, url: target, rawHeaders } = exchange.request
    const tenant = refusal.status === 401 ? (decision.route?.signIn ?? null) : null
    const sent = tenant === null ? null : signIn(tenant, { method, target, rawHeaders })
    if (sent === null) return this.refuse(exchange, refusal, null)
    respondPublic(exchange, sent, { refuse: this.refuse, failed: this.#failed })
  }

  /**
   * Answers for the gateway itself; where an answer has begun, cuts it, so that it can't be taken for a whole one. Where
   * even that fails, the connection ends: it never throws.
   */
  readonly refuse = (exchange: Exchange, refusal: Refusal, cause: unknown): void => {
    if (exchange.refusal !== null) return
    exchange.refusal = refusal
    exchange.cause = cause
    exchange.response.refused = true
    try {
      this.#say(exchange, refusal)
    } catch (again) {
      exchange.cause = again
      exchange.response.destroy()
    }
  }

  #say(exchange: Exchange, refusal: Refusal): void {
    const { request, response } = exchange
    if (exchange.webSocket !== null) exchange.webSocket.close('decided_again', POLICY_VIOLATION, refusal.code)
    else if (response.headersSent) cut(exchange)
    else if (!response.destroyed)
      writeProblem(
        request,
        response,
        refusal,
        exchange.id,
        exchange.expectsContinue || expectsInVain(request),
      )
  }

  /** The one place for what nobody expected: never an allow, never a stack shown. */
  readonly #failed = (exchange: Exchange, cause: unknown): void => {
    this.refuse(exchange, isWrite(exchange) ? unknownOutcome : unavailable, cause)
  }

  /** Bytes that are no request, or not the body of the one that is being answered. */
  malformed(socket: Socket, refusal: Refusal, exchange: Exchange | null, part: CloseWith): void {
    if (exchange === null) return this.#refuseBare(socket, refusal, part)
    const { response } = exchange
    if (response.headersSent) {
      // A refusal is whole, and waits only for the rest of a body that won't come any more.
      if (exchange.refusal !== null) return response.end()
      // An answer that has begun must not look whole.
      if (!response.ended) cut(exchange)
      return
    }
    response.shouldKeepAlive = false
    this.refuse(exchange, refusal, null)
    response.end()
  }

  /** No request, no response object: the answer is bytes. */
  #refuseBare(socket: Socket, refusal: Refusal, part: CloseWith): void {
    if (!socket.writable) return void socket.destroy()
    const id = randomUUID()
    this.#metrics.unreadable(refusal)
    this.#log.unreadable(id, refusal, socket.remoteAddress)
    part(rawProblem(refusal, id))
  }

  /** Its answer is out, or its connection is gone. */
  ended(exchange: Exchange): void {
    const { webSocket, response } = exchange
    exchange.endedAt = performance.now()
    exchange.aborted = webSocket === null ? !response.writableFinished : webSocket.closeCode === NO_CLOSE
    this.#open.remove(exchange)
    this.#shares.ended(exchange)
    if (exchange.handshake) this.#webSockets.ended(exchange)
    if (webSocket === null) this.#metrics.ended()
    else this.#metrics.webSocketEnded(webSocket.endedBy ?? 'client')
    if (this.#ended.push(exchange) === 1) nextStage(account, this)
  }

  /** Counts and logs what has ended. */
  account(): void {
    for (const exchange of this.#ended) {
      if (exchange.webSocket === null) this.#metrics.answered(exchange, exchange.endedAt)
      this.#log.write(exchange)
    }
    this.#ended.length = 0
  }
}

function account(pipeline: Pipeline): void {
  pipeline.account()
}

const credentialsOf = new MadeOf(({ fields, made }: HeaderSection) => readCredentials(fields, made !== null))

function askOf({ method, url, host, upgrade, section, rawHeaders }: ClientRequest): AuthorizationRequest {
  return {
    method,
    target: url,
    host,
    credentials: credentialsOf.of(section),
    browser: { method, rawHeaders, upgrade: upgrade !== null },
  }
}

/** Null without one, and where there are several. @param wanted in lower case */
function onlyValue(rawHeaders: readonly string[], wanted: string): string | null {
  let found: string | null = null
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() !== wanted) continue
    if (found !== null) return null
    found = rawHeaders[i + 1] ?? ''
  }
  return found
}

/** HTTP/1.0 has no such answer to wait for (RFC 9110, section 10.1.1): nobody knows what its sender does then. */
function expectsInVain({ expect, minor }: ClientRequest): boolean {
  return expect !== null && minor === 0
}

/** So that the part can't be taken for a whole: to HTTP/1.0 a plain end of the connection may be the end of the body. */
function cut({ request, response }: Exchange): void {
  if (request.minor === 0 && !request.socket.writableEnded) request.socket.resetAndDestroy()
  else response.destroy()
}

/** A change of Seats or keys that was allowed: it may have been committed, whatever went wrong after. */
function isWrite({ request, evaluation }: Exchange): boolean {
  const kind = evaluation?.decision.route?.target.kind
  return (kind === 'local' || kind === 'public') && request.method !== 'GET' && request.method !== 'HEAD'
}
