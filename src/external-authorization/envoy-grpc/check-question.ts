/** A question of Envoy over gRPC: its answer is a `CheckResponse`. */

import type { UpstreamConfig } from '../../config/config.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { grpcStatus } from '../../http/server/grpc-exchange.ts'
import type { Question } from '../../http/server/question.ts'
import { grpcProblemFields, grpcStatusOf, speaksGrpc } from '../../http/server/grpc-problem.ts'
import { problemContent, problemHeaders } from '../../http/server/problem.ts'
import { Refusal } from '../../model/errors.ts'
import { linesOf } from '../../pipeline/refusals.ts'
import { changesOf } from './changes.ts'
import { type Denial, deniedResponse, okResponse } from './check-response.ts'
import { type CallFault, respondFault, respondMessage } from './grpc-call.ts'

export class CheckQuestion implements Question {
  readonly askedBy = 'envoy-grpc'
  client: string | null = null
  fault: Refusal | null = null
  signIn: readonly string[] = []
  readonly refusesOnly = false
  /** The mistake of the calling program, with which the call itself fails. Null: the answer is a message. */
  #callFault: CallFault | null = null

  /** No question can be read. */
  fail(fault: CallFault): void {
    this.#callFault = fault
    this.fault = new Refusal('request_malformed', `The question cannot be read: ${fault.message}.`)
  }

  allow(exchange: Exchange, upstream: UpstreamConfig | null, signed: readonly string[]): void {
    const decision = exchange.evaluation?.decision
    if (decision === undefined || this.fault !== null)
      throw new Error('a question without a decision cannot be allowed')
    const message = okResponse(changesOf(exchange, decision, { upstream, signed }))
    exchange.bytesOut += respondMessage(exchange.response, message)
  }

  /**
   * Refuses by a message, also if the gateway can't decide: Envoy forwards requests after a failed call if
   * its `failure_mode_allow` is set.
   */
  refuse(exchange: Exchange, refusal: Refusal): void {
    const { response } = exchange
    if (this.#callFault !== null) return respondFault(response, this.#callFault)
    const denial = this.#denial(exchange, refusal)
    exchange.bytesOut += respondMessage(response, deniedResponse(denial))
    // For log and metrics: the status that the client gets.
    response.statusCode = denial.status
  }

  #denial(exchange: Exchange, refusal: Refusal): Denial {
    const status = grpcStatusOf(refusal)
    const { id, request } = exchange
    // Clients of gRPC get what the gateway sends them itself: trailers only. With a fault, the request is the
    // question.
    if (this.fault === null && speaksGrpc(request)) {
      grpcStatus.set(exchange, status)
      const headers = [...grpcProblemFields(refusal, id), ...linesOf(exchange).pairs]
      return { grpcStatus: status, status: 200, headers: endToEnd(headers), body: '' }
    }
    const { type, text } = problemContent(refusal, id)
    const headers = [...problemHeaders(refusal, id), 'content-type', type, ...this.signIn]
    headers.push(...linesOf(exchange).pairs)
    return { grpcStatus: status, status: refusal.status, headers: endToEnd(headers), body: text }
  }
}

/** Envoy writes the fields of its connections itself (RFC 9110, section 7.6.1). Names in lower case. */
function endToEnd(pairs: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < pairs.length; i += 2) {
    const name = pairs[i]?.toLowerCase() ?? ''
    if (name !== 'connection' && name !== 'upgrade') kept.push(name, pairs[i + 1] ?? '')
  }
  return kept
}
