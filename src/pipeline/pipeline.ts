/**
 * The pipeline: begins the exchange of each request, passes it through a list of stages (`stage-lists.ts`), and ends it.
 *
 * `lib/batched-stages.ts` passes the requests of one turn of the event loop on together. An exception or rejection of any
 * stage ends in `Refusals.failed`, which refuses the request: the pipeline fails closed.
 */

import { performance } from 'node:perf_hooks'
import type { Socket } from 'node:net'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { ClientResponse } from '../http/server/client-response.ts'
import { Exchange } from '../http/server/exchange.ts'
import { handshakeResponse } from '../http/server/http1-response.ts'
import { openedWebSocket } from '../http/server/open-web-socket.ts'
import type { RespondUnparsed } from '../http/server/problem.ts'
import { askedQuestion, type Question } from '../http/server/question.ts'
import { RequestShares } from '../http/server/request-shares.ts'
import { requestTrace } from '../http/server/request-trace.ts'
import { nextStage } from '../lib/batched-stages.ts'
import { InFlight } from '../lib/in-flight.ts'
import type { Evaluation } from '../model/decision.ts'
import type { Refusal } from '../model/errors.ts'
import { forwardedNetwork } from '../proxy/client-network.ts'
import { peerAddress } from '../proxy/forwarded.ts'
import { earlyBytes, isHandshake, NO_CLOSE } from '../proxy/websocket/websocket-protocol.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { EndedExchanges } from './ended-exchanges.ts'
import { EventStreams, openEventStream } from './event-streams.ts'
import type { PipelineConfig } from './pipeline-config.ts'
import { ClientCancels } from './stages/limit-cancels.ts'
import { Refusals } from './refusals.ts'
import { authorizationRequest, requestIdOf } from './request-input.ts'
import type { Mechanisms, StageLists, StagesOf } from './stage-lists.ts'
import type { Next } from './stage.ts'
import { WebSockets } from './web-sockets.ts'

export type PipelineServices = Pick<Mechanisms, 'log' | 'metrics' | 'rateLimiter' | 'activity'>

export class Pipeline<C extends PipelineConfig = PipelineConfig> {
  readonly #stagesOf: StagesOf<C>
  readonly #mechanisms: Mechanisms
  readonly #metrics: Metrics
  /** Exchanges that have not ended, WebSockets included. */
  readonly inFlight = new InFlight<Exchange>()
  readonly #endedExchanges = new EndedExchanges((exchange) => this.#stages.observers.ended(exchange))
  #config: C
  #stages: StageLists

  constructor(stagesOf: StagesOf<C>, config: C, services: PipelineServices) {
    const { log, metrics } = services
    const clientOf = ({ request }: Exchange) => forwardedNetwork(request, this.#config.trustedProxies)
    this.#metrics = metrics
    this.#mechanisms = {
      ...services,
      refusals: new Refusals(log, metrics),
      requestShares: new RequestShares(this.inFlight, clientOf, (of) => metrics.overShare(of)),
      webSockets: new WebSockets(metrics, config),
      eventStreams: new EventStreams(),
      clientCancels: new ClientCancels(),
      reevaluate: (exchange) => this.reevaluate(exchange),
      held: (exchange) => this.#config.engine.held(authorizationRequest(exchange.request, exchange.id)),
    }
    this.#stagesOf = stagesOf
    this.#config = config
    this.#stages = stagesOf(config, this.#mechanisms)
    this.#mechanisms.requestShares.configure(config.limits)
  }

  /** Applies to requests from now on; those in flight keep their configuration. */
  activate(config: C): void {
    this.#config = config
    this.#stages = this.#stagesOf(config, this.#mechanisms)
    this.#mechanisms.requestShares.configure(config.limits)
    this.#mechanisms.webSockets.configure(config)
  }

  handle(request: ClientRequest, response: ClientResponse): Exchange {
    // Another protocol may follow an Upgrade. TRACE is refused: clients use it to probe proxies.
    if (request.upgrade !== null || request.method === 'TRACE') response.shouldKeepAlive = false
    const expectsContinue = request.expect !== null && request.minor === 1
    const exchange = this.#begin(new Exchange(request, response, this.#idOf(request), now(), expectsContinue))
    nextStage(this.#answerRequest, exchange)
    return exchange
  }

  /** Whether the request is a well-formed WebSocket handshake. No other request follows it on the connection. */
  acceptsUpgrade(request: ClientRequest): boolean {
    return isHandshake(request)
  }

  /** @param rest bytes that arrived after the handshake: a client must wait for the 101 (RFC 6455, section 4.1) */
  upgrade(request: ClientRequest, rest: Buffer): Exchange {
    const response = handshakeResponse(request)
    const exchange = this.#begin(new Exchange(request, response, this.#idOf(request), now(), false, true))
    const { refuse } = this.#mechanisms.refusals
    request.socket.on('data', () => {
      if (!response.headersSent) refuse(exchange, earlyBytes, null)
    })
    response.listen({ closed: () => this.ended(exchange) })
    if (rest.length > 0) refuse(exchange, earlyBytes, null)
    else nextStage(this.#answerRequest, exchange)
    return exchange
  }

  /** Begins the exchange of a question. {@link decide} follows, at once or when the asked request is read. */
  ask(request: ClientRequest, response: ClientResponse, question: Question): Exchange {
    // The client may send its body or leave it out (RFC 9110, section 10.1.1).
    if (request.expect !== null) response.shouldKeepAlive = false
    const exchange = new Exchange(request, response, this.#idOf(request), now())
    askedQuestion.set(exchange, question)
    return this.#begin(exchange)
  }

  /** Decides a question, in the next stage. @param asked the request that the other proxy wants to forward */
  decide(exchange: Exchange, asked: ClientRequest): void {
    exchange.request = asked
    exchange.handshake = isHandshake(asked)
    nextStage(this.#answerQuestion, exchange)
  }

  #idOf(request: ClientRequest): string {
    return requestIdOf(request, this.#config.requestIdsFrom)
  }

  #begin(exchange: Exchange): Exchange {
    const { tracer } = this.#config
    this.inFlight.add(exchange)
    this.#metrics.requestStarted()
    if (tracer !== null) this.#trace(exchange, tracer)
    return exchange
  }

  #trace(exchange: Exchange, tracer: Tracer): void {
    const { section, socket } = exchange.request
    const sender = tracer.parentOf(section.fields)
    const trusted = sender !== null && this.#config.trustedProxies.has(peerAddress(socket.remoteAddress))
    requestTrace.set(exchange, tracer.begin(sender, trusted, section.fields))
  }

  readonly #answerRequest = (exchange: Exchange): void => this.#answer(exchange, this.#stages.requests)

  readonly #answerQuestion = (exchange: Exchange): void => this.#answer(exchange, this.#stages.questions)

  #answer(exchange: Exchange, pass: Next): void {
    // The client may have disconnected, or sent a malformed body, since the header section arrived.
    if (exchange.settled) return
    const { failed } = this.#mechanisms.refusals
    try {
      const waiting = pass(exchange)
      if (waiting instanceof Promise) waiting.catch((cause: unknown) => failed(exchange, cause))
    } catch (cause) {
      failed(exchange, cause)
    }
  }

  /** The listener's report of bytes that are no request, or that break the body of the exchange in progress. */
  malformed(socket: Socket, refusal: Refusal, exchange: Exchange | null, respond: RespondUnparsed): void {
    this.#mechanisms.refusals.malformed(socket, refusal, exchange, respond)
  }

  /** The response is complete, or the connection is closed. */
  ended(exchange: Exchange): void {
    const { requestShares, webSockets } = this.#mechanisms
    const webSocket = openedWebSocket.get(exchange)
    exchange.endedAt = now()
    exchange.aborted =
      webSocket === undefined ? !exchange.response.writableFinished : webSocket.closeCode === NO_CLOSE
    this.inFlight.remove(exchange)
    requestShares.ended(exchange)
    if (exchange.handshake) webSockets.ended(exchange)
    else this.#metrics.requestEnded()
    this.#endedExchanges.add(exchange)
  }

  /** Counts and logs the exchanges that have ended by now. */
  logEnded(): void {
    this.#endedExchanges.flush()
  }

  /** Closes WebSockets and ends streams of events, and those that open from now on. */
  drain(): void {
    this.#mechanisms.eventStreams.drain()
    this.#mechanisms.webSockets.drain()
  }

  /** Ends streams of events: what their callers see has changed with the configuration. */
  endEvents(): void {
    this.#mechanisms.eventStreams.end()
  }

  isEventStream(exchange: Exchange): boolean {
    return openEventStream.get(exchange) !== undefined
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
    if (exchange.evaluation !== null) this.#stages.observers.revoked(exchange, refusal)
    this.#mechanisms.refusals.refuse(exchange, refusal, null)
  }
}

/** What the endpoints of the decision listener use of a pipeline. */
export type DecisionPipeline = Pick<Pipeline, 'handle' | 'ask' | 'decide' | 'ended' | 'malformed'>

/** Monotonic ms. */
function now(): number {
  return performance.now()
}
