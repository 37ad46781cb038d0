/**
 * Sends the gateway's own refusals, and ends responses that can't be completed. The only place that handles
 * exceptions.
 */

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { corsLines, rateLimitLines } from '../http/server/gateway-lines.ts'
import { grpcStatus, relayedCall } from '../http/server/grpc-exchange.ts'
import { mcpExchange } from '../http/server/mcp-exchange.ts'
import { openedWebSocket } from '../http/server/open-web-socket.ts'
import { externalQuestion, type Question } from '../http/server/question.ts'
import { grpcStatusOf, grpcTrailers, speaksGrpc } from '../http/server/grpc-problem.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import { type RespondUnparsed, writeProblem } from '../http/server/problem.ts'
import { PREFLIGHT_VARY } from '../model/cors.ts'
import { Refusal } from '../model/errors.ts'
import { evicted } from '../proxy/upstream-faults.ts'
import { POLICY_VIOLATION } from '../proxy/websocket/websocket-frames.ts'
import type { AccessLog } from '../telemetry/access-log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { openEventStream } from './event-streams.ts'
import { errorText, mcpPage } from './mcp/mcp-refusals.ts'

const unknownOutcome = new Refusal(
  'unavailable',
  'The store did not respond. The change may or may not have taken effect: check before you repeat it.',
)
const unavailable = new Refusal(
  'unavailable',
  'The gateway cannot decide at the moment. Nothing was forwarded.',
)

export class Refusals {
  readonly #log: AccessLog
  readonly #metrics: Metrics

  constructor(log: AccessLog, metrics: Metrics) {
    this.#log = log
    this.#metrics = metrics
  }

  /**
   * Sends the refusal once; later ones are ignored. A response that has begun is aborted, so that it does not
   * look complete. Never throws: where sending fails, the connection is closed.
   *
   * @param cause for the log only
   */
  readonly refuse = (exchange: Exchange, refusal: Refusal, cause: unknown): void => {
    if (exchange.refusal !== null) return
    exchange.refusal = refusal
    exchange.cause = cause
    // A connection of another proxy carries the questions of many clients: none waits for refused ones.
    exchange.response.refused = externalQuestion.get(exchange) === undefined
    try {
      send(exchange, refusal)
    } catch (failure) {
      exchange.cause = failure
      exchange.response.destroy()
    }
  }

  /** Handles an exception of any stage: it never allows a request, and never shows a stack. */
  readonly failed = (exchange: Exchange, cause: unknown): void => {
    this.refuse(exchange, isWrite(exchange) ? unknownOutcome : unavailable, cause)
  }

  /** Refuses bytes that are no request, or that break the body of the exchange in progress. */
  malformed(socket: Socket, refusal: Refusal, exchange: Exchange | null, respond: RespondUnparsed): void {
    if (exchange === null) return this.#refuseUnparsed(socket, refusal, respond)
    const { response } = exchange
    if (response.headersSent) {
      // A refusal that was sent is complete: only the rest of the body is missing, and will not arrive.
      if (exchange.refusal !== null) return response.end()
      if (!response.ended) response.abort()
      return
    }
    response.shouldKeepAlive = false
    this.refuse(exchange, refusal, null)
    response.end()
  }

  /** Without a request there is no exchange. */
  #refuseUnparsed(socket: Socket, refusal: Refusal, respond: RespondUnparsed): void {
    if (!socket.writable) return void socket.destroy()
    const id = randomUUID()
    this.#metrics.countUnreadable(refusal)
    this.#log.writeUnreadable(id, refusal, socket.remoteAddress)
    respond(refusal, id)
  }
}

function send(exchange: Exchange, refusal: Refusal): void {
  const { request, response } = exchange
  const webSocket = openedWebSocket.get(exchange)
  if (webSocket !== undefined) return webSocket.close('decided_again', POLICY_VIOLATION, refusal.code)
  const events = openEventStream.get(exchange)
  if (events !== undefined) return events.end()
  const question = externalQuestion.get(exchange)
  if (question !== undefined) return answer(exchange, question, refusal)
  if (speaksGrpc(request)) grpcStatus.set(exchange, grpcStatusOf(refusal))
  if (response.headersSent) return cut(exchange, refusal)
  if (response.destroyed) return
  const bodyMayFollow = exchange.expectsContinue || expectsContinueInHttp10(request)
  const lines = linesOf(exchange)
  exchange.bytesOut += writeProblem(
    request,
    response,
    inFormOf(exchange, refusal),
    exchange.id,
    bodyMayFollow,
    lines,
  )
}

/** An endpoint of another protocol refuses in the form of that protocol, whatever refuses the request. */
function inFormOf(exchange: Exchange, refusal: Refusal): Refusal {
  const { evaluation } = exchange
  const mcp = mcpExchange.get(exchange)
  if (mcp !== undefined) return refusal.withPage(mcpPage(mcp, refusal, evaluation))
  const target = evaluation?.decision.route?.target
  const pageOf = target?.kind === 'public' ? target.handler?.pageOf : undefined
  return pageOf === undefined ? refusal : refusal.withPage(pageOf(refusal))
}

/** The lines of the gateway's own answers: CORS, and what is left of rate limits. */
export function linesOf(exchange: Exchange): FieldLines {
  const cors = corsLinesOf(exchange)
  const limits = rateLimitLines.get(exchange)
  return limits === undefined ? cors : new FieldLines(cors.text + limits, null)
}

/** A proxy reads the status: a refusal in the form of gRPC, which is a 200, would allow the request. */
function answer(exchange: Exchange, question: Question, refusal: Refusal): void {
  const { response } = exchange
  if (response.headersSent) return response.abort()
  if (!response.destroyed) question.refuse(exchange, refusal)
}

/** A page may read a refusal as it may read a response. */
function corsLinesOf(exchange: Exchange): FieldLines {
  const preflight = exchange.evaluation?.preflight ?? null
  if (preflight !== null) return new FieldLines(PREFLIGHT_VARY, null)
  const cors = corsLines.get(exchange)
  return cors === undefined ? FieldLines.none : new FieldLines(`${cors}Vary: Origin\r\n`, null)
}

/** A call of gRPC or MCP learns why its response ends. Any other response must not look complete. */
function cut(exchange: Exchange, refusal: Refusal): void {
  const { response } = exchange
  // A stream of events that was ended for others.
  if (response.ended && refusal === evicted) return
  const mcp = mcpExchange.get(exchange)
  if (mcp !== undefined && !response.ended && mcp.stream?.isBetweenEvents() === true) {
    mcp.stream.abandon()
    return response.end(`data: ${errorText(mcp, refusal, exchange.id)}\n\n`)
  }
  const call = relayedCall.get(exchange)
  if (call === undefined || response.ended) return response.abort()
  // What is sent until then may wait for its client. The upstream does not.
  call.abandon()
  response.end('', grpcTrailers(refusal))
}

/** HTTP/1.0 has no 100 (RFC 9110, section 10.1.1), so it is unknown whether the client sends its body. */
function expectsContinueInHttp10({ expect, minor }: ClientRequest): boolean {
  return expect !== null && minor === 0
}

/** Whether the request is an allowed change of Seats or keys: it may be committed, whatever fails. */
function isWrite(exchange: Exchange): boolean {
  const { request, evaluation } = exchange
  if (externalQuestion.get(exchange) !== undefined) return false
  const target = evaluation?.decision.route?.target
  if (target?.kind === 'local' && target.reads === true) return false
  return (
    (target?.kind === 'local' || target?.kind === 'public') &&
    request.method !== 'GET' &&
    request.method !== 'HEAD'
  )
}
