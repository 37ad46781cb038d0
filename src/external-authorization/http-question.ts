/** A question over HTTP: its answer is a status with header fields. */

import type { UpstreamConfig } from '../config/config.ts'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { ClientResponse } from '../http/server/client-response.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Question } from '../http/server/question.ts'
import { problemContent, problemHeaders } from '../http/server/problem.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import { ResponseFields } from '../http/wire/response-fields.ts'
import { Refusal } from '../model/errors.ts'
import type { DecisionPipeline } from '../pipeline/gateway-pipeline.ts'
import { linesOf } from '../pipeline/refusals.ts'
import { discardBody } from '../http/server/discard-body.ts'
import { wholeIdentity } from '../proxy/identity-headers.ts'
import type { Dialect } from './dialect.ts'

/** The most bytes of the body of a question that are discarded after the answer. */
const MAX_DISCARDED = 64 * 1024

const allowedSince = new Refusal(
  'unavailable',
  'The request was refused, and would be allowed now. Send it again.',
)

/** Refuses a question for a fault of its own, whatever request it describes. */
export function refuseQuestion(
  pipeline: DecisionPipeline,
  request: ClientRequest,
  response: ClientResponse,
  askedBy: string,
  fault: Refusal,
): Exchange {
  const question = new HttpQuestion({ name: askedBy, more: null }, request, null, fault)
  const exchange = pipeline.ask(request, response, question)
  pipeline.decide(exchange, request)
  return exchange
}

type Asker = Pick<Dialect, 'name' | 'more' | 'refusesOnly' | 'oneCookie'>

export class HttpQuestion implements Question {
  readonly askedBy: string
  readonly client: string | null
  readonly fault: Refusal | null
  signIn: readonly string[] = []
  readonly refusesOnly: boolean
  /** The question itself, whose body is discarded. */
  readonly #received: ClientRequest
  readonly #more: Dialect['more']
  readonly #oneCookie: boolean

  constructor(
    { name, more, refusesOnly = false, oneCookie = false }: Asker,
    received: ClientRequest,
    client: string | null,
    fault: Refusal | null,
  ) {
    this.askedBy = name
    this.client = client
    this.fault = fault
    this.#received = received
    this.#more = more
    this.refusesOnly = refusesOnly
    this.#oneCookie = oneCookie
  }

  allow(exchange: Exchange, upstream: UpstreamConfig | null, signed: readonly string[]): void {
    const { response, evaluation } = exchange
    if (this.refusesOnly) {
      exchange.refusal = allowedSince
      return this.refuse(exchange, allowedSince)
    }
    if (evaluation === null) throw new Error('a question without a decision cannot be allowed')
    const fields = ['cache-control', 'no-store', 'content-length', '0', 'x-request-id', exchange.id]
    fields.push(...wholeIdentity(evaluation.decision), ...signed)
    if (this.#more !== null) fields.push(...this.#more(this.#received, exchange, upstream))
    const { preflight } = evaluation
    const cors = preflight === null ? linesOf(exchange) : new FieldLines(preflight, null)
    response.writeHead(200, ResponseFields.of(fields), null, cors)
    response.end()
    discardBody(this.#received, response, MAX_DISCARDED)
  }

  refuse(exchange: Exchange, refusal: Refusal): void {
    const { response } = exchange
    const { type, text } = problemContent(refusal, exchange.id)
    const body = Buffer.from(text)
    const fields = problemHeaders(refusal, exchange.id)
    fields.push('Content-Type', type, 'Content-Length', String(body.length))
    fields.push(...(this.#oneCookie ? withOneCookie(this.signIn) : this.signIn))
    if (CLOSING.has(refusal.status)) response.shouldKeepAlive = false
    response.writeHead(refusal.status, ResponseFields.of(fields), null, linesOf(exchange))
    response.end(body)
    if (this.#received.method !== 'HEAD') exchange.bytesOut += body.length
    discardBody(this.#received, response, MAX_DISCARDED)
  }
}

/**
 * Leaves only the first cookie, the cookie of the new sign-in: the others remove old ones.
 *
 * @param fields name, value, …
 */
function withOneCookie(fields: readonly string[]): string[] {
  const first = fields.indexOf('Set-Cookie')
  return fields.filter((_, i) => fields[i - (i % 2)] !== 'Set-Cookie' || i - (i % 2) === first)
}

/** The statuses after which the connection closes: 426 has a Connection of its own. */
const CLOSING: ReadonlySet<number> = new Set([426])
