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
import { Exchange, type Judgement } from './exchange.ts'
import type { Judge } from './judge.ts'
import { forward } from './proxy/forward.ts'
import { peerAddress, type TrustedProxies } from './proxy/forwarded.ts'
import { serveLocal } from './proxy/local.ts'
import type { Upstream } from './proxy/upstream.ts'
import { guard } from './server/guard.ts'
import { rawProblem, writeProblem } from './server/problem.ts'
import type { AccessLog } from './telemetry/access-log.ts'
import type { Metrics } from './telemetry/metrics.ts'

/** Everything of one configuration that a request meets. Replaced whole by a reload, never changed. */
export interface Running {
  readonly judge: Judge
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly trustedProxies: TrustedProxies
}

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
  /** What is being answered on a connection, for when its parser gives up half-way. */
  readonly #open = new WeakMap<Socket, Exchange>()

  constructor(running: Running, log: AccessLog, metrics: Metrics) {
    this.#running = running
    this.#log = log
    this.#metrics = metrics
  }

  /** Requests that start from now on meet this configuration; those under way keep theirs. */
  use(running: Running): void {
    this.#running = running
  }

  handle(request: IncomingMessage, response: ServerResponse, awaited: boolean): void {
    const exchange = new Exchange(request, response, this.#requestId(request), performance.now(), awaited)
    this.#open.set(request.socket, exchange)
    this.#metrics.started()
    response.once('close', () => this.#finished(exchange))
    try {
      this.#judge(exchange)
    } catch (cause) {
      this.#failed(exchange, cause)
    }
  }

  /** Ours, unless a proxy that is trusted gave the request an id already. */
  #requestId({ headers, socket }: IncomingMessage): string {
    if (!this.#running.trustedProxies.has(peerAddress(socket.remoteAddress))) return randomUUID()
    const told = headers['x-request-id']
    return typeof told === 'string' && REQUEST_ID.test(told) ? told : randomUUID()
  }

  #judge(exchange: Exchange): void {
    const { request } = exchange
    const refusal = guard(request)
    if (refusal !== null) return this.refuse(exchange, refusal, null)
    const running = this.#running
    const judgement = running.judge.judge({
      method: request.method ?? '',
      target: request.url ?? '',
      host: request.headers.host ?? null,
      credentials: readCredentials(request.rawHeaders),
    })
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
    if (judgement.refusal !== null) return this.refuse(exchange, judgement.refusal, null)
    const target = judgement.decision.route?.target
    if (target?.kind === 'upstream') {
      const upstream = running.upstreams.get(target.name)
      if (upstream !== undefined) return forward(exchange, upstream, this.refuse)
    } else if (target?.kind === 'local')
      return serveLocal(exchange, target.handler, this.refuse, this.#failed, heldPermissions)
    throw new Error('the route has no target')
  }

  /** Answers for the gateway itself; where an answer has begun, cuts it, so that it can't be taken for a whole one. */
  readonly refuse = (exchange: Exchange, refusal: Refusal, cause: unknown): void => {
    const { request, response } = exchange
    if (exchange.refusal !== null) return
    exchange.refusal = refusal
    exchange.cause = cause
    if (response.headersSent) response.destroy()
    else if (!response.destroyed) writeProblem(request, response, refusal, exchange.id, exchange.awaited)
  }

  /** The one place for what nobody expected: never an allow, never a stack shown. */
  readonly #failed = (exchange: Exchange, cause: unknown): void => {
    try {
      this.refuse(exchange, unavailable, cause)
    } catch (again) {
      exchange.cause = again
      exchange.response.destroy()
    }
  }

  /** A request that the parser gave up on, perhaps half-way through a body. */
  unreadable(socket: Socket, refusal: Refusal): void {
    const exchange = this.#open.get(socket)
    if (exchange === undefined) {
      if (!socket.writable) return void socket.destroy()
      const id = randomUUID()
      this.#metrics.unreadable(refusal)
      this.#log.unreadable(id, refusal, socket.remoteAddress)
      return void socket.end(rawProblem(refusal, id), () => socket.destroy())
    }
    const answered = exchange.refusal !== null && exchange.response.headersSent
    exchange.refusal ??= refusal
    // An answer that has begun must not look whole, and nothing may be written in the midst of it.
    if (answered) socket.destroySoon()
    else if (exchange.response.headersSent || !socket.writable) socket.destroy()
    else socket.end(rawProblem(refusal, exchange.id), () => socket.destroy())
  }

  #finished(exchange: Exchange): void {
    const now = performance.now()
    if (!exchange.response.writableFinished) exchange.aborted = true
    this.#open.delete(exchange.request.socket)
    this.#metrics.finished(exchange, now)
    this.#log.write(exchange, now)
  }
}
