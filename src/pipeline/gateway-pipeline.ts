/**
 * The pipeline of the front door, which also opens WebSockets, and answers the questions of other proxies
 * about requests.
 */

import type { OpenCounts } from '../../seats-admin/model/revocation.ts'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { ClientResponse } from '../http/server/client-response.ts'
import { Exchange } from '../http/server/exchange.ts'
import { handshakeResponse } from '../http/server/http1-response.ts'
import { openedWebSocket } from '../http/server/open-web-socket.ts'
import { externalQuestion, type Question } from '../http/server/question.ts'
import { inBatch } from '../lib/batched-steps.ts'
import type { Refusal } from '../model/errors.ts'
import { earlyBytes, isHandshake } from '../proxy/websocket/websocket-handshake.ts'
import { openEventStream } from './event-streams.ts'
import { now, Pipeline, type PipelineServices } from './pipeline.ts'
import type { GatewayConfig } from './pipeline-config.ts'
import type { Next } from './stage.ts'
import { type GatewayLists, type GatewayServices, gatewayStages } from './stage-lists.ts'
import { ClientCancels } from './stages/limit-cancels.ts'
import { WebSockets } from './web-sockets.ts'

export class GatewayPipeline extends Pipeline<GatewayConfig, GatewayLists> {
  readonly #webSockets: WebSockets

  constructor(config: GatewayConfig, services: PipelineServices & GatewayServices) {
    const webSockets = new WebSockets(services.metrics)
    const own = { ...services, webSockets, clientCancels: new ClientCancels() }
    super((next, mechanisms) => gatewayStages(next, { ...mechanisms, ...own }), config, services)
    this.#webSockets = webSockets
  }

  /** Whether the request is a well-formed WebSocket handshake. No other follows it on the connection. */
  acceptsUpgrade(request: ClientRequest): boolean {
    return isHandshake(request)
  }

  /**
   * @param rest bytes that arrived after the handshake: a client must wait for the 101 (RFC 6455, section
   *   4.1)
   */
  upgrade(request: ClientRequest, rest: Buffer): Exchange {
    const response = handshakeResponse(request)
    const exchange = this.begin(new Exchange(request, response, this.idOf(request), now(), false, true))
    const { refuse } = this.mechanisms.refusals
    request.socket.on('data', () => {
      if (!response.headersSent) refuse(exchange, earlyBytes, null)
    })
    response.listen({ closed: () => this.ended(exchange) })
    if (rest.length > 0) refuse(exchange, earlyBytes, null)
    else inBatch(this.answer, exchange)
    return exchange
  }

  /** Begins the exchange of a question. {@link decide} follows, at once or when the asked request is read. */
  ask(request: ClientRequest, response: ClientResponse, question: Question): Exchange {
    // The client may send its body or leave it out (RFC 9110, section 10.1.1).
    if (request.expect !== null) response.shouldKeepAlive = false
    const exchange = new Exchange(request, response, this.idOf(request), now())
    externalQuestion.set(exchange, question)
    return this.begin(exchange)
  }

  /**
   * Decides a question, in the next stage.
   *
   * @param asked the request that the other proxy wants to forward
   */
  decide(exchange: Exchange, request: ClientRequest): void {
    exchange.request = request
    exchange.handshake = isHandshake(request)
    inBatch(this.answer, exchange)
  }

  protected override listFor(exchange: Exchange, { requests, questions }: GatewayLists): Next {
    return externalQuestion.get(exchange) === undefined ? requests : questions
  }

  /** Closes WebSockets and ends streams of events, and those that open from now on. */
  drain(): void {
    this.mechanisms.eventStreams.drain()
    this.#webSockets.drain()
  }

  /** Ends streams of events: what their callers see has changed with the configuration. */
  endEvents(): void {
    this.mechanisms.eventStreams.end()
  }

  isEventStream(exchange: Exchange): boolean {
    return openEventStream.get(exchange) !== undefined
  }

  kindOf(exchange: Exchange): keyof OpenCounts {
    if (openedWebSocket.get(exchange) !== undefined) return 'websockets'
    return exchange.response.headersSent ? 'streams' : 'requests'
  }

  reevaluated(code: string): void {
    this.mechanisms.metrics.reevaluated(code)
  }

  /** The exchange is no longer allowed. */
  revoke(exchange: Exchange, refusal: Refusal): void {
    if (exchange.evaluation !== null) this.stages.observers.revoked(exchange, refusal)
    this.mechanisms.refusals.refuse(exchange, refusal, null)
  }
}

/** What the endpoints of the decision listener use of a pipeline for questions. */
export type DecisionPipeline = Pick<GatewayPipeline, 'ask' | 'decide' | 'ended' | 'malformed'>
