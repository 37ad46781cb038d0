/** The requests of the decision listener: passes each to the endpoint of its path. */

import type { Socket } from 'node:net'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { ClientResponse } from '../http/server/client-response.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Handler } from '../http/server/listener.ts'
import type { RespondUnparsed } from '../http/server/problem.ts'
import { Refusal } from '../model/errors.ts'
import type { DecisionPipeline } from '../pipeline/pipeline.ts'
import { refuseQuestion } from './http-question.ts'

/** Serves the requests of one path, or of all paths below it. */
export interface Endpoint {
  /** `/auth/nginx`: this path only. `/auth/envoy/`: with the final slash, all that begin with it. Without a query. */
  readonly path: string
  /** Of requests that the endpoint serves itself. Left out: that of questions. */
  readonly pipeline?: DecisionPipeline
  /** Starts the exchange, by `Pipeline.ask`. Returns at once. */
  handle(request: ClientRequest, response: ClientResponse): Exchange
}

const notFound = new Refusal('route_not_found', 'The decision listener has no endpoint at this path.')

export class DecisionHandler implements Handler {
  readonly #pipeline: DecisionPipeline
  readonly #endpoints: readonly Endpoint[]
  /** Of exchanges that are no questions. */
  readonly #pipelines = new WeakMap<Exchange, DecisionPipeline>()

  constructor(pipeline: DecisionPipeline, endpoints: readonly Endpoint[]) {
    this.#pipeline = pipeline
    this.#endpoints = endpoints
  }

  handle(request: ClientRequest, response: ClientResponse): Exchange {
    const endpoint = this.#endpoints.find(({ path }) => isAt(request.url, path))
    if (endpoint === undefined) return refuseQuestion(this.#pipeline, request, response, 'none', notFound)
    const exchange = endpoint.handle(request, response)
    if (endpoint.pipeline !== undefined) this.#pipelines.set(exchange, endpoint.pipeline)
    return exchange
  }

  #pipelineOf(exchange: Exchange | null): DecisionPipeline {
    return (exchange === null ? undefined : this.#pipelines.get(exchange)) ?? this.#pipeline
  }

  /** A handshake is only asked about: the connection stays one of HTTP. */
  acceptsUpgrade(): boolean {
    return false
  }

  upgrade(): Exchange {
    throw new Error('the decision listener opens no WebSocket')
  }

  ended(exchange: Exchange): void {
    this.#pipelineOf(exchange).ended(exchange)
  }

  drain(): void {}

  malformed(socket: Socket, refusal: Refusal, exchange: Exchange | null, respond: RespondUnparsed): void {
    this.#pipelineOf(exchange).malformed(socket, refusal, exchange, respond)
  }
}

function isAt(target: string, path: string): boolean {
  if (!target.startsWith(path)) return false
  return path.endsWith('/') || target.length === path.length || target[path.length] === '?'
}
