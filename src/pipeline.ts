/**
 * The hot path: one request, its stages as calls in order — guard, judge (match, authenticate, resolve, decide),
 * forward or serve, log. Whatever a stage throws ends in one place, which fails closed.
 */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { readCredentials } from './authn/credentials.ts'
import { heldPermissions } from './authz/decide.ts'
import { Refusal } from './errors.ts'
import { type Ask, Exchange, type Judgement, type OpenReply } from './exchange.ts'
import type { Judge } from './judge.ts'
import { forward } from './proxy/forward.ts'
import { peerAddress, type TrustedProxies } from './proxy/forwarded.ts'
import { serveLocal } from './proxy/local.ts'
import { answerOpen, serveOpen } from './proxy/open.ts'
import type { Upstream } from './proxy/upstream.ts'
import { GOING_AWAY, NO_CLOSE, POLICY_VIOLATION } from './proxy/websocket/close-frame.ts'
import { earlyBytes, isHandshake, strayHandshake } from './proxy/websocket/handshake.ts'
import { openWebSocket } from './proxy/websocket/opening.ts'
import { type Connection, connectionOf } from './server/connection.ts'
import { type GuardLimits, guard } from './server/guard.ts'
import { part } from './server/parting.ts'
import { rawProblem, writeProblem } from './server/problem.ts'
import { responseOn } from './server/upgraded.ts'
import type { AccessLog } from './telemetry/access-log.ts'
import type { Metrics } from './telemetry/metrics.ts'

/** Everything of one configuration that a request meets. Replaced whole by a reload, never changed. */
export interface Running {
  readonly judge: Judge
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly trustedProxies: TrustedProxies
  readonly signIn: SendsToSignIn
  readonly limits: PipelineLimits
}

export interface PipelineLimits extends GuardLimits {
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
) => Promise<OpenReply | Refusal> | null

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
  readonly #open = new Set<Exchange>()
  #draining = false

  constructor(running: Running, log: AccessLog, metrics: Metrics) {
    this.#running = running
    this.#log = log
    this.#metrics = metrics
  }

  /** Requests that start from now on meet this configuration; those under way keep theirs. */
  use(running: Running): void {
    this.#running = running
  }

  /** Requests that have not ended, and WebSockets. */
  get open(): ReadonlySet<Exchange> {
    return this.#open
  }

  handle(request: IncomingMessage, response: ServerResponse, awaited: boolean): boolean {
    const connection = connectionOf(request.socket)
    if (connection.closing) return false
    // TRACE is for finding out about proxies, and refused by this one.
    if (request.headers.upgrade !== undefined || request.method === 'TRACE') endAfter(connection, response)
    const exchange = new Exchange(request, response, this.#requestId(request), performance.now(), awaited)
    this.#begin(exchange, connection)
    return true
  }

  /** A WebSocket handshake as it must be, in its turn: whatever becomes of it, no other request follows. */
  upgrades(request: IncomingMessage): boolean {
    const { closing, answering } = connectionOf(request.socket)
    return !closing && answering === 0 && isHandshake(request)
  }

  /** @param head what came behind it in the same read */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const connection = connectionOf(socket)
    const response = responseOn(socket, request)
    const exchange = new Exchange(request, response, this.#requestId(request), performance.now(), false, true)
    connection.closing = true
    socket.on('data', () => this.#cameEarly(exchange))
    this.#begin(exchange, connection, head.length > 0 ? earlyBytes : null)
  }

  #cameEarly(exchange: Exchange): void {
    if (!exchange.response.headersSent) this.refuse(exchange, earlyBytes, null)
  }

  #begin(exchange: Exchange, connection: Connection, known: Refusal | null = null): void {
    connection.last = exchange
    connection.answering++
    this.#open.add(exchange)
    this.#metrics.started()
    exchange.response.once('close', () => this.#finished(exchange, connection))
    exchange.response.on('error', cutOff)
    try {
      if (known === null) this.#judge(exchange)
      else this.refuse(exchange, known, null)
    } catch (cause) {
      this.#failed(exchange, cause)
    }
  }

  /** The process ends: open WebSockets are told so, and those that are on their way will be. */
  drain(): void {
    this.#draining = true
    for (const { webSocket } of this.#open) webSocket?.close('drain', GOING_AWAY, 'going away')
  }

  readonly #opened = (exchange: Exchange): void => {
    this.#metrics.finished(exchange, performance.now())
    this.#metrics.webSocketOpened()
    if (this.#draining) exchange.webSocket?.close('drain', GOING_AWAY, 'going away')
  }

  judgeAgain(exchange: Exchange): Judgement | Promise<Judgement> {
    return this.#running.judge.judge(askOf(exchange.request))
  }

  decidedAgain({ decision }: Judgement): void {
    this.#metrics.decidedAgain(decision.code)
  }

  /** The answer has become no. */
  cut(exchange: Exchange, refusal: Refusal): void {
    try {
      this.refuse(exchange, refusal, null)
    } catch (cause) {
      exchange.cause = cause
      exchange.response.destroy()
    }
  }

  /** Ours, unless a proxy that is trusted gave the request an id already. */
  #requestId({ headers, socket }: IncomingMessage): string {
    if (!this.#running.trustedProxies.has(peerAddress(socket.remoteAddress))) return randomUUID()
    const told = headers['x-request-id']
    return typeof told === 'string' && REQUEST_ID.test(told) ? told : randomUUID()
  }

  #judge(exchange: Exchange): void {
    const running = this.#running
    const { request, handshake } = exchange
    const refusal = guard(request, running.limits) ?? (handshake ? null : strayHandshake(request))
    if (refusal !== null) return this.refuse(exchange, refusal, null)
    const judgement = running.judge.judge(askOf(request))
    if (judgement instanceof Promise) {
      judgement
        .then((known) => this.#judged(exchange, running, known))
        .catch((cause: unknown) => this.#failed(exchange, cause))
    } else this.#judged(exchange, running, judgement)
  }

  #judged(exchange: Exchange, running: Running, judgement: Judgement): void {
    exchange.judgement = judgement
    // While the store was asked, the client may have left or the rest of its request turned out to be broken.
    if (exchange.refusal !== null || exchange.response.destroyed) return
    if (judgement.refusal !== null) return this.#refused(exchange, running, judgement)
    const target = judgement.decision.route?.target
    if (target?.kind === 'upstream') {
      const upstream = running.upstreams.get(target.name)
      if (upstream !== undefined) return this.#forward(exchange, upstream)
    } else if (target?.kind === 'local') {
      return serveLocal(exchange, {
        judge: async () => this.#running.judge.judge(askOf(exchange.request)),
        heldPermissions,
        refuse: this.refuse,
        failed: this.#failed,
        bodyTimeout: running.limits.bodyTimeout,
      })
    } else if (target?.kind === 'open') {
      const { bodyTimeout } = running.limits
      return serveOpen(exchange, target.handler, { refuse: this.refuse, failed: this.#failed, bodyTimeout })
    }
    throw new Error('the route has no target')
  }

  #forward(exchange: Exchange, upstream: Upstream): void {
    if (!exchange.handshake) return forward(exchange, upstream, this.refuse)
    openWebSocket(exchange, upstream, { refuse: this.refuse, opened: this.#opened })
  }

  #refused(exchange: Exchange, { signIn }: Running, { refusal, decision }: Judgement): void {
    if (refusal === null) return
    const { method = '', url: target = '', rawHeaders } = exchange.request
    const tenant = refusal.status === 401 ? (decision.route?.signIn ?? null) : null
    const sent = tenant === null ? null : signIn(tenant, { method, target, rawHeaders })
    if (sent === null) return this.refuse(exchange, refusal, null)
    answerOpen(exchange, sent, { refuse: this.refuse, failed: this.#failed })
  }

  /** Answers for the gateway itself; where an answer has begun, cuts it, so that it can't be taken for a whole one. */
  readonly refuse = (exchange: Exchange, refusal: Refusal, cause: unknown): void => {
    const { request, response } = exchange
    if (exchange.refusal !== null) return
    exchange.refusal = refusal
    exchange.cause = cause
    if (exchange.webSocket !== null) exchange.webSocket.close('decided_again', POLICY_VIOLATION, refusal.code)
    else if (response.headersSent) cut(exchange)
    else if (!response.destroyed && writeProblem(request, response, refusal, exchange.id, exchange.awaited))
      connectionOf(request.socket).closing = true
  }

  /** The one place for what nobody expected: never an allow, never a stack shown. */
  readonly #failed = (exchange: Exchange, cause: unknown): void => {
    try {
      this.refuse(exchange, isWrite(exchange) ? unknownOutcome : unavailable, cause)
    } catch (again) {
      exchange.cause = again
      exchange.response.destroy()
    }
  }

  /** Bytes that the parser gave up on: of a next request, or half-way through the body of one that is being answered. */
  unreadable(socket: Socket, refusal: Refusal): void {
    const connection = connectionOf(socket)
    const { last } = connection
    connection.closing = true
    if (last === null || (last.request.complete && connection.answering === 0))
      this.#refuseBare(socket, refusal)
    else if (last.request.complete || last.refusal !== null) endWith(socket, last)
    // An answer that has begun must not look whole.
    else if (last.response.headersSent) cut(last)
    else {
      last.response.shouldKeepAlive = false
      this.refuse(last, refusal, null)
      last.response.end()
    }
  }

  /** No request, no response object: the answer is bytes. */
  #refuseBare(socket: Socket, refusal: Refusal): void {
    if (!socket.writable) return void socket.destroy()
    const id = randomUUID()
    this.#metrics.unreadable(refusal)
    this.#log.unreadable(id, refusal, socket.remoteAddress)
    part(socket, rawProblem(refusal, id))
  }

  #finished(exchange: Exchange, connection: Connection): void {
    const now = performance.now()
    const { webSocket, response } = exchange
    this.#open.delete(exchange)
    connection.answering--
    if (webSocket === null) {
      if (!response.writableFinished) exchange.aborted = true
      this.#metrics.finished(exchange, now)
    } else {
      exchange.aborted = webSocket.closeCode === NO_CLOSE
      this.#metrics.webSocketEnded(webSocket.endedBy ?? 'client')
    }
    this.#log.write(exchange, now)
  }
}

function askOf({ method = '', url = '', headers, rawHeaders }: IncomingMessage): Ask {
  return {
    method,
    target: url,
    host: headers.host ?? null,
    credentials: readCredentials(rawHeaders),
    browser: { method, rawHeaders, upgrade: headers.upgrade !== undefined },
  }
}

/** So that the part can't be taken for a whole: to HTTP/1.0 a plain end of the connection may be the end of the body. */
function cut({ request, response }: Exchange): void {
  if (request.httpVersionMinor === 0) request.socket.resetAndDestroy()
  else response.destroy()
}

/** A change of Seats or keys that was allowed: it may have been committed, whatever went wrong after. */
function isWrite({ request, judgement }: Exchange): boolean {
  const kind = judgement?.decision.route?.target.kind
  return (kind === 'local' || kind === 'open') && request.method !== 'GET' && request.method !== 'HEAD'
}

/** Node drops what lies behind a request with Upgrade in the same read, and would take the rest for a request. */
function endAfter(connection: Connection, response: ServerResponse): void {
  response.shouldKeepAlive = false
  connection.closing = true
}

/** Lets the last answer go out, says nothing in the midst of it, and then ends the connection. */
function endWith(socket: Socket, { response, refusal }: Exchange): void {
  if (response.writableFinished || response.destroyed) return part(socket)
  response.shouldKeepAlive = false
  response.once('close', () => part(socket))
  // A refusal is whole, and waits only for the rest of a body that won't come any more.
  if (refusal !== null && response.headersSent) response.end()
}

/** Something was written where nothing could be. Nobody may take what there is for whole; unheard, it would end the process. */
function cutOff(this: ServerResponse): void {
  this.destroy()
}
