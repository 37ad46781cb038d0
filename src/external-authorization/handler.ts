/** The requests of the decision listener: passes each to the endpoint of its path. */

import type { Socket } from 'node:net'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { ClientResponse } from '../http/server/client-response.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Handler } from '../http/server/request-handler.ts'
import type { RespondUnparsed } from '../http/server/problem.ts'
import { Refusal } from '../model/errors.ts'
import type { DecisionPipeline } from '../pipeline/gateway-pipeline.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { refuseQuestion } from './http-question.ts'

type ServingPipeline = Pick<Pipeline, 'ended' | 'malformed'>

/** Serves the requests of one path, or of all paths below it. */
export interface Endpoint {
  /**
   * The path without a query: `/auth/nginx`; or with a final slash all paths that begin with it:
   * `/auth/envoy/`.
   */
  readonly path: string
  /** The pipeline of requests that the endpoint serves itself; left out: the pipeline of questions. */
  readonly pipeline?: ServingPipeline
  /** Starts the exchange with `Pipeline.ask`. Returns at once. */
  handle(request: ClientRequest, response: ClientResponse): Exchange
}

const notFound = new Refusal('route_not_found', 'The decision listener has no endpoint at this path.')

export class DecisionHandler implements Handler {
  readonly #pipeline: DecisionPipeline
  readonly #endpoints: readonly Endpoint[]
  /** The pipelines of exchanges that are no questions. */
  readonly #pipelines = new WeakMap<Exchange, ServingPipeline>()

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

  #pipelineOf(exchange: Exchange | null): ServingPipeline {
    return (exchange === null ? undefined : this.#pipelines.get(exchange)) ?? this.#pipeline
  }

  /** A question may be about a handshake, but the connection itself stays one of HTTP. */
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
