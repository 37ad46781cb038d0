/**
 * The pipeline: begins the exchange of each request, passes it through a list of stages (`stage-lists.ts`),
 * and ends it.
 *
 * `lib/batched-steps.ts` passes the requests of one turn of the event loop on together. An exception or
 * rejection of any stage ends in `Refusals.failed`, which refuses the request: the pipeline fails closed.
 */

import { performance } from 'node:perf_hooks'
import type { Socket } from 'node:net'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { ClientResponse } from '../http/server/client-response.ts'
import { Exchange, Slot } from '../http/server/exchange.ts'
import { openedWebSocket } from '../http/server/open-web-socket.ts'
import type { RespondUnparsed } from '../http/server/problem.ts'
import { RequestShares } from '../http/server/request-shares.ts'
import { requestTrace } from '../http/server/request-trace.ts'
import { inBatch } from '../lib/batched-steps.ts'
import { InFlight } from '../lib/in-flight.ts'
import type { DecisionEngine } from '../decision/engine.ts'
import type { Evaluation } from '../model/decision.ts'
import type { Refusal } from '../model/errors.ts'
import { forwardedNetwork } from '../proxy/client-network.ts'
import { peerAddress } from '../proxy/forwarded.ts'
import { NO_CLOSE } from '../proxy/websocket/websocket-frames.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { EndedExchanges } from './observer-batches.ts'
import { type ConfiguredFiles, decideByCurrent, evaluateCurrent } from './evaluate-current.ts'
import { EventStreams } from './event-streams.ts'
import type { PipelineConfig } from './pipeline-config.ts'
import { Refusals } from './refusals.ts'
import { authorizationRequest, requestIdOf } from './request-input.ts'
import type { Mechanisms, StageLists, StagesOf } from './stage-lists.ts'
import { ANSWERED, type Next, type Passed } from './stage.ts'

export interface PipelineServices extends Pick<Mechanisms, 'log' | 'metrics'> {
  readonly files: ConfiguredFiles
}

/** Answers requests. {@link GatewayPipeline} does more. */
export class Pipeline<C extends PipelineConfig = PipelineConfig, L extends StageLists = StageLists> {
  readonly #stagesOf: StagesOf<C, L>
  protected readonly mechanisms: Mechanisms
  readonly #files: ConfiguredFiles
  /** Exchanges that have not ended, WebSockets included. */
  readonly inFlight = new InFlight<Exchange>()
  readonly #endedExchanges = new EndedExchanges((exchange) => this.stages.observers.ended(exchange))
  protected config: C
  protected stages: L

  constructor(stagesOf: StagesOf<C, L>, config: C, services: PipelineServices) {
    const { log, metrics, files } = services
    const clientOf = ({ request }: Exchange) => forwardedNetwork(request, this.config.trustedProxies)
    this.mechanisms = {
      log,
      metrics,
      refusals: new Refusals(log, metrics),
      requestShares: new RequestShares(this.inFlight, clientOf, (of) => metrics.overShare(of)),
      eventStreams: new EventStreams(),
      reevaluate: (exchange) => this.reevaluate(exchange),
      passAgain: (engine, exchange) => this.#passAgain(engine, exchange),
      decideByCurrent: (decide) => decideByCurrent(() => this.config.engine, this.#files, decide),
      held: (exchange, until) => this.config.engine.held(authorizationRequest(exchange), until),
    }
    this.#files = files
    this.#stagesOf = stagesOf
    this.config = config
    this.stages = stagesOf(config, this.mechanisms)
    this.mechanisms.requestShares.configure(config.limits)
  }

  /** Applies to requests from now on; those in flight keep their configuration. */
  activate(config: C): void {
    this.config = config
    this.stages = this.#stagesOf(config, this.mechanisms)
    this.mechanisms.requestShares.configure(config.limits)
  }

  handle(request: ClientRequest, response: ClientResponse): Exchange {
    // Another protocol may follow an Upgrade. TRACE is refused: clients use it to probe proxies.
    if (request.upgrade !== null || request.method === 'TRACE') response.shouldKeepAlive = false
    const expectsContinue = request.expect !== null && request.minor === 1
    const exchange = this.begin(new Exchange(request, response, this.idOf(request), now(), expectsContinue))
    inBatch(this.answer, exchange)
    return exchange
  }

  protected idOf(request: ClientRequest): string {
    return requestIdOf(request, this.config.requestIdsFrom)
  }

  protected begin(exchange: Exchange): Exchange {
    const { tracer } = this.config
    this.inFlight.add(exchange)
    this.mechanisms.metrics.requestStarted()
    if (tracer !== null) this.#trace(exchange, tracer)
    return exchange
  }

  #trace(exchange: Exchange, tracer: Tracer): void {
    const { section, socket } = exchange.request
    const sender = tracer.parentOf(section.fields)
    const trusted = sender !== null && this.config.trustedProxies.has(peerAddress(socket.remoteAddress))
    requestTrace.set(exchange, tracer.begin(sender, trusted, section.fields))
  }

  /** The list that the exchange passes. */
  protected listFor(_exchange: Exchange, { requests }: L): Next {
    return requests
  }

  /** Passes the exchange through the list of the configuration that is active once its files are current. */
  protected readonly answer = (exchange: Exchange): void => {
    if (this.#files.areCurrent()) return this.#pass(exchange)
    this.#files.check().then(
      // Other tables may have become active since.
      () => (this.#files.areReplaced() ? this.answer(exchange) : this.#pass(exchange)),
      (cause: unknown) => this.mechanisms.refusals.failed(exchange, cause),
    )
  }

  #pass(exchange: Exchange): void {
    // The client may have disconnected, or sent a malformed body, since the header section arrived.
    if (exchange.settled) return
    const { failed } = this.mechanisms.refusals
    try {
      const waiting = this.listFor(exchange, this.stages)(exchange)
      if (waiting instanceof Promise) waiting.catch((cause: unknown) => failed(exchange, cause))
    } catch (cause) {
      failed(exchange, cause)
    }
  }

  #passAgain(engine: DecisionEngine, exchange: Exchange): Passed | null {
    const again = () => {
      forgetDecision(exchange)
      return this.listFor(exchange, this.stages)(exchange)
    }
    if (!this.#files.areReplaced()) return engine === this.config.engine ? null : again()
    return this.#files.check().then(() => (exchange.settled ? ANSWERED : again()))
  }

  /** The listener reports bytes that are no request, or that break the body of the exchange in progress. */
  malformed(socket: Socket, refusal: Refusal, exchange: Exchange | null, respond: RespondUnparsed): void {
    this.mechanisms.refusals.malformed(socket, refusal, exchange, respond)
  }

  /** The response is complete, or the connection is closed. */
  ended(exchange: Exchange): void {
    const { requestShares } = this.mechanisms
    const webSocket = openedWebSocket.get(exchange)
    exchange.endedAt = now()
    exchange.aborted =
      webSocket === undefined ? !exchange.response.writableFinished : webSocket.closeCode === NO_CLOSE
    this.inFlight.remove(exchange)
    requestShares.ended(exchange)
    this.#endedExchanges.add(exchange)
  }

  /** Counts and logs the exchanges that have ended by now. */
  logEnded(): void {
    this.#endedExchanges.flush()
  }

  /** Evaluates the same request under the current configuration. */
  reevaluate(exchange: Exchange): Evaluation | Promise<Evaluation> {
    return evaluateCurrent(() => this.config.engine, this.#files, authorizationRequest(exchange))
  }
}

/**
 * Forgets what stages have kept. By other tables the path may have no MCP server, or one that hides more. The
 * body of a message, which was restored, is counted again.
 */
function forgetDecision(exchange: Exchange): void {
  Slot.forgetDecision(exchange)
  exchange.bytesIn = 0
  exchange.logFields = ''
}

/** Monotonic ms. */
export function now(): number {
  return performance.now()
}
