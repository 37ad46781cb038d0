/**
 * The pipeline. The stages of a request, in order: validate, evaluate, take tokens of rate limits, forward or serve, log.
 *
 * `lib/batched-stages.ts` runs a stage for all requests of one turn of the event loop. An exception of any stage ends in
 * `Refusals.failed`, which refuses the request: the pipeline fails closed.
 */

import { performance } from 'node:perf_hooks'
import type { Socket } from 'node:net'
import type { RateLimiter, RateLimitVerdict } from '../decision/limits/rate-limiter.ts'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { ClientResponse } from '../http/server/client-response.ts'
import { Exchange, type Question } from '../http/server/exchange.ts'
import { handshakeResponse } from '../http/server/http1-response.ts'
import type { RespondUnparsed } from '../http/server/problem.ts'
import { RequestShares } from '../http/server/request-shares.ts'
import { validateRequest } from '../http/server/request-validation.ts'
import { nextStage } from '../lib/batched-stages.ts'
import { InFlight } from '../lib/in-flight.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { Evaluation } from '../model/decision.ts'
import type { Refusal } from '../model/errors.ts'
import { clientAddress, forwardedNetwork } from '../proxy/client-network.ts'
import { forward } from '../proxy/forward.ts'
import { peerAddress } from '../proxy/forwarded.ts'
import type { Upstream } from '../proxy/upstream.ts'
import { openWebSocket, WebSocketShares } from '../proxy/websocket/opening.ts'
import {
  earlyBytes,
  GOING_AWAY,
  isHandshake,
  NO_CLOSE,
  strayHandshake,
} from '../proxy/websocket/websocket-protocol.ts'
import type { AccessLog } from '../telemetry/access-log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ProcessActivity } from '../telemetry/process-activity.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { allowQuestion } from './allowed-question.ts'
import { refuseAsDecided } from './decided-refusals.ts'
import { EndedExchanges } from './ended-exchanges.ts'
import { EventStreams } from './event-streams.ts'
import { serveLocal } from './local-handler.ts'
import { grantPreflight } from './granted-preflight.ts'
import { servePublic } from './public-handler.ts'
import { ClientCancels } from './client-cancels.ts'
import type { PipelineConfig } from './pipeline-config.ts'
import { isCounted, refusalBy, takeTokens } from './rate-limits.ts'
import { Refusals } from './refusals.ts'
import { authorizationRequest, requestIdOf } from './request-input.ts'
import { ShadowDecisions } from './shadow-decisions.ts'

export class Pipeline {
  #config: PipelineConfig
  readonly #metrics: Metrics
  readonly #refusals: Refusals
  readonly #inFlight = new InFlight<Exchange>()
  readonly #endedExchanges: EndedExchanges
  readonly #requestShares: RequestShares
  readonly #webSocketShares: WebSocketShares
  readonly #shadowDecisions: ShadowDecisions
  readonly #eventStreams = new EventStreams()
  readonly #clientCancels = new ClientCancels()
  readonly #rateLimiter: RateLimiter
  readonly #activity: ProcessActivity | null
  #draining = false

  /** @param activity null: its decisions are not remembered */
  constructor(
    config: PipelineConfig,
    log: AccessLog,
    metrics: Metrics,
    rateLimiter: RateLimiter,
    activity: ProcessActivity | null = null,
  ) {
    this.#config = config
    this.#metrics = metrics
    this.#rateLimiter = rateLimiter
    this.#activity = activity
    this.#refusals = new Refusals(log, metrics)
    const clientOf = ({ request }: Exchange) => forwardedNetwork(request, this.#config.trustedProxies)
    this.#requestShares = new RequestShares(this.#inFlight, clientOf, (of) => metrics.overShare(of))
    this.#requestShares.configure(config.limits)
    this.#webSocketShares = new WebSocketShares((by) => metrics.webSocketRefused(by))
    const addressOf = ({ request }: Exchange) => clientAddress(request, this.#config.trustedProxies)
    this.#endedExchanges = new EndedExchanges(log, metrics, addressOf)
    this.#shadowDecisions = new ShadowDecisions((result) => metrics.countShadow(result))
  }

  /** Applies to requests from now on; those in flight keep their configuration. */
  activate(config: PipelineConfig): void {
    this.#config = config
    this.#requestShares.configure(config.limits)
  }

  /** Exchanges that have not ended, WebSockets included. */
  get inFlight(): InFlight<Exchange> {
    return this.#inFlight
  }

  handle(request: ClientRequest, response: ClientResponse): Exchange {
    // Another protocol may follow an Upgrade. TRACE is refused: clients use it to probe proxies.
    if (request.upgrade !== null || request.method === 'TRACE') response.shouldKeepAlive = false
    const expectsContinue = request.expect !== null && request.minor === 1
    const exchange = this.#start(request, response, expectsContinue)
    nextStage(this.#validate, exchange)
    return exchange
  }

  /** Whether the request is a well-formed WebSocket handshake. No other request follows it on the connection. */
  acceptsUpgrade(request: ClientRequest): boolean {
    return isHandshake(request)
  }

  /** @param rest bytes that arrived behind the handshake: a client must wait for the 101 (RFC 6455, section 4.1) */
  upgrade(request: ClientRequest, rest: Buffer): Exchange {
    const response = handshakeResponse(request)
    const exchange = this.#start(request, response, false, true)
    request.socket.on('data', () => {
      if (!response.headersSent) this.#refuse(exchange, earlyBytes)
    })
    response.listen({ closed: () => this.ended(exchange) })
    if (rest.length > 0) this.#refuse(exchange, earlyBytes)
    else nextStage(this.#validate, exchange)
    return exchange
  }

  /** Starts the exchange of a question. {@link decide} follows, at once or when the asked request is read. */
  ask(request: ClientRequest, response: ClientResponse, question: Question): Exchange {
    // The client may send its body or leave it out (RFC 9110, section 10.1.1).
    if (request.expect !== null) response.shouldKeepAlive = false
    return this.#start(request, response, false, false, question)
  }

  /** Decides a question, in the next stage. @param asked the request that the other proxy wants to forward */
  decide(exchange: Exchange, asked: ClientRequest): void {
    exchange.request = asked
    exchange.handshake = isHandshake(asked)
    nextStage(this.#validate, exchange)
  }

  #start(
    request: ClientRequest,
    response: ClientResponse,
    expectsContinue: boolean,
    handshake = false,
    question: Question | null = null,
  ): Exchange {
    const { requestIdsFrom, tracer } = this.#config
    const id = requestIdOf(request, requestIdsFrom)
    const now = performance.now()
    const exchange = new Exchange(request, response, id, now, expectsContinue, handshake, question)
    this.#inFlight.add(exchange)
    this.#metrics.requestStarted()
    if (tracer !== null) this.#trace(exchange, tracer)
    return exchange
  }

  #trace(exchange: Exchange, tracer: Tracer): void {
    const { section, socket } = exchange.request
    const sender = tracer.parentOf(section.fields)
    const trusted = sender !== null && this.#config.trustedProxies.has(peerAddress(socket.remoteAddress))
    exchange.trace = tracer.begin(sender, trusted, section.fields)
  }

  readonly #validate = (exchange: Exchange): void => {
    // The client may have disconnected, or sent a malformed body, since the header section arrived.
    if (exchange.settled) return
    try {
      const config = this.#config
      const { request, handshake, question } = exchange
      const refusal =
        question?.fault ??
        validateRequest(request, config.limits) ??
        (handshake ? null : strayHandshake(request)) ??
        this.#clientCancels.refusalOf(request, config.trustedProxies)
      if (refusal === null) this.#evaluate(exchange, config)
      else this.#refuse(exchange, refusal)
    } catch (cause) {
      this.#refusals.failed(exchange, cause)
    }
  }

  #evaluate(exchange: Exchange, config: PipelineConfig): void {
    const request = authorizationRequest(exchange.request, exchange.id)
    const evaluation = config.engine.evaluate(request)
    if (evaluation instanceof Promise) {
      evaluation
        .then((result) => this.#decided(exchange, config, request, result))
        .catch((cause: unknown) => this.#undecided(exchange, config, request, cause))
    } else this.#decided(exchange, config, request, evaluation)
  }

  /** A page may read this refusal too: the path alone tells the table. */
  #undecided(
    exchange: Exchange,
    { engine }: PipelineConfig,
    request: AuthorizationRequest,
    cause: unknown,
  ): void {
    if (exchange.evaluation === null && !exchange.handshake) exchange.cors = engine.corsOf(request)
    this.#refusals.failed(exchange, cause)
  }

  #decided(
    exchange: Exchange,
    config: PipelineConfig,
    request: AuthorizationRequest,
    evaluation: Evaluation,
  ): void {
    this.#evaluated(exchange, config, request, evaluation)
    if (config.shadow !== null) this.#shadowDecisions.judge(exchange, config.shadow, request, evaluation)
  }

  #evaluated(
    exchange: Exchange,
    config: PipelineConfig,
    request: AuthorizationRequest,
    evaluation: Evaluation,
  ): void {
    this.#record(exchange, evaluation)
    // The client may have disconnected, or sent a malformed body, while the store was asked.
    if (exchange.settled) return
    const verdict = takeTokens(this.#rateLimiter, exchange, evaluation, config.trustedProxies)
    if (verdict === null) return this.#answer(exchange, config, evaluation)
    if (!(verdict instanceof Promise)) return this.#limited(exchange, config, evaluation, verdict)
    verdict
      .then((later) => this.#decideAgain(exchange, config, request, later))
      .catch((cause: unknown) => this.#refusals.failed(exchange, cause))
  }

  /** What the request was decided on may have changed while tokens were asked for. */
  #decideAgain(
    exchange: Exchange,
    config: PipelineConfig,
    request: AuthorizationRequest,
    verdict: RateLimitVerdict,
  ): void | Promise<void> {
    if (exchange.settled) return
    const decided = (evaluation: Evaluation) => {
      this.#record(exchange, evaluation)
      if (exchange.settled) return
      // A 401 comes before a 429.
      if (isCounted(evaluation)) this.#limited(exchange, config, evaluation, verdict)
      else this.#answer(exchange, config, evaluation)
    }
    const evaluation = config.engine.evaluate(request)
    return evaluation instanceof Promise ? evaluation.then(decided) : decided(evaluation)
  }

  #record(exchange: Exchange, evaluation: Evaluation): void {
    exchange.evaluation = evaluation
    if (!exchange.handshake) exchange.cors = evaluation.cors
  }

  #limited(
    exchange: Exchange,
    config: PipelineConfig,
    evaluation: Evaluation,
    verdict: RateLimitVerdict,
  ): void {
    const refusal = refusalBy(exchange, verdict)
    if (refusal === null) return this.#answer(exchange, config, evaluation)
    this.#remember(exchange, evaluation, refusal)
    this.#refuse(exchange, refusal)
  }

  /** Refuses as the evaluation says, or else serves or forwards. */
  #answer(exchange: Exchange, config: PipelineConfig, evaluation: Evaluation): void {
    const { question } = exchange
    const { refusal, preflight } = evaluation
    if (refusal !== null) {
      this.#remember(exchange, evaluation, refusal)
      return refuseAsDecided(exchange, config, evaluation, this.#refusals)
    }
    const overShare = question === null && preflight === null ? this.#requestShares.admit(exchange) : null
    this.#remember(exchange, evaluation, overShare)
    if (overShare !== null) return this.#refuse(exchange, overShare)
    if (question !== null) return allowQuestion(exchange, question, config)
    if (preflight !== null) return grantPreflight(exchange, preflight)
    this.#forwardOrServe(exchange, config, evaluation)
  }

  /** @param refusal in place of the decision, or as it says; null: the request is allowed */
  #remember({ id, question }: Exchange, { decision }: Evaluation, refusal: Refusal | null): void {
    // The proxy asks again for a refusal that was remembered with its first question.
    if (question?.refusesOnly !== true) this.#activity?.decided(id, decision, refusal)
  }

  #forwardOrServe(exchange: Exchange, config: PipelineConfig, { decision }: Evaluation): void {
    const target = decision.route?.target
    if (target?.kind === 'upstream') {
      const upstream = config.upstreams.get(target.name)
      if (upstream !== undefined) return this.#forward(exchange, upstream)
    } else if (target?.kind === 'local') {
      return this.#serveLocal(exchange, config)
    } else if (target?.kind === 'public' && target.handler !== null) {
      return servePublic(exchange, target.handler, config.limits.bodyTimeout, this.#refusals)
    }
    throw new Error('the route has no target')
  }

  #forward(exchange: Exchange, upstream: Upstream): void {
    const { refuse } = this.#refusals
    if (!exchange.handshake) return forward(exchange, upstream, refuse)
    const overShare = this.#webSocketShares.admit(exchange, this.#config.trustedProxies, this.#config.limits)
    if (overShare !== null) return this.#refuse(exchange, overShare)
    openWebSocket(exchange, upstream, { refuse, opened: this.#webSocketOpened })
  }

  #serveLocal(exchange: Exchange, config: PipelineConfig): void {
    const { refuse, failed } = this.#refusals
    serveLocal(exchange, {
      reevaluate: async () => this.reevaluate(exchange),
      held: () => this.#config.engine.held(authorizationRequest(exchange.request, exchange.id)),
      refuse,
      failed,
      bodyTimeout: config.limits.bodyTimeout,
      streams: this.#eventStreams,
    })
  }

  #refuse(exchange: Exchange, refusal: Refusal): void {
    this.#refusals.refuse(exchange, refusal, null)
  }

  /** The listener's report of bytes that are no request, or that break the body of the exchange in progress. */
  malformed(socket: Socket, refusal: Refusal, exchange: Exchange | null, respond: RespondUnparsed): void {
    this.#refusals.malformed(socket, refusal, exchange, respond)
  }

  /** The response is complete, or the connection is closed. */
  ended(exchange: Exchange): void {
    const { webSocket, response } = exchange
    exchange.endedAt = performance.now()
    exchange.aborted = webSocket === null ? !response.writableFinished : webSocket.closeCode === NO_CLOSE
    this.#inFlight.remove(exchange)
    this.#requestShares.ended(exchange)
    if (exchange.aborted) this.#clientCancels.ended(exchange, this.#config.trustedProxies)
    if (exchange.handshake) this.#webSocketShares.ended(exchange)
    if (webSocket === null) this.#metrics.requestEnded()
    else this.#metrics.webSocketEnded(webSocket.endedBy ?? 'client')
    this.#endedExchanges.add(exchange)
  }

  /** Counts and logs the exchanges that have ended by now. */
  logEnded(): void {
    this.#endedExchanges.flush()
  }

  readonly #webSocketOpened = (exchange: Exchange): void => {
    this.#metrics.requestEnded()
    const now = performance.now()
    this.#metrics.countRequest(exchange, now)
    this.#metrics.webSocketOpened()
    exchange.trace?.end(exchange, now)
    if (this.#draining) exchange.webSocket?.close('drain', GOING_AWAY, 'going away')
  }

  /**
   * Closes open WebSockets, and those that open from now on, with status 1001 (RFC 6455, section 7.4.1). Ends streams of events.
   */
  drain(): void {
    this.#draining = true
    this.#eventStreams.drain()
    for (const { webSocket } of [...this.#inFlight]) webSocket?.close('drain', GOING_AWAY, 'going away')
  }

  /** Ends streams of events: what their callers see has changed with the configuration. */
  endEvents(): void {
    this.#eventStreams.end()
  }

  /** Evaluates the same request under the current configuration. */
  reevaluate(exchange: Exchange): Evaluation | Promise<Evaluation> {
    return this.#config.engine.evaluate(authorizationRequest(exchange.request, exchange.id))
  }

  reevaluated({ decision }: Evaluation): void {
    this.#metrics.reevaluated(decision.code)
  }

  /** The exchange is no longer allowed. */
  revoke(exchange: Exchange, refusal: Refusal): void {
    if (exchange.evaluation !== null) this.#remember(exchange, exchange.evaluation, refusal)
    this.#refuse(exchange, refusal)
  }
}
