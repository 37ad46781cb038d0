/** Sends the gateway's own refusals, and ends responses that can't be completed. The only place that handles exceptions. */

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { CloseWith } from '../http/server/listener.ts'
import { rawProblem, writeProblem } from '../http/server/problem.ts'
import { Refusal } from '../model/errors.ts'
import { POLICY_VIOLATION } from '../proxy/websocket/close-frame.ts'
import type { AccessLog } from '../telemetry/access-log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

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
   * Sends the refusal once; later ones are ignored. A response that has begun is aborted, so that it does not look
   * complete. Never throws: where sending fails, the connection is closed.
   *
   * @param cause for the log only
   */
  readonly refuse = (exchange: Exchange, refusal: Refusal, cause: unknown): void => {
    if (exchange.refusal !== null) return
    exchange.refusal = refusal
    exchange.cause = cause
    exchange.response.refused = true
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
  malformed(socket: Socket, refusal: Refusal, exchange: Exchange | null, closeWith: CloseWith): void {
    if (exchange === null) return this.#refuseUnparsed(socket, refusal, closeWith)
    const { response } = exchange
    if (response.headersSent) {
      // A refusal that was sent is complete: only the rest of the body is missing, and will not arrive.
      if (exchange.refusal !== null) return response.end()
      if (!response.ended) abort(exchange)
      return
    }
    response.shouldKeepAlive = false
    this.refuse(exchange, refusal, null)
    response.end()
  }

  /** Without a request there is no exchange: the response is written as bytes. */
  #refuseUnparsed(socket: Socket, refusal: Refusal, closeWith: CloseWith): void {
    if (!socket.writable) return void socket.destroy()
    const id = randomUUID()
    this.#metrics.countUnreadable(refusal)
    this.#log.writeUnreadable(id, refusal, socket.remoteAddress)
    closeWith(rawProblem(refusal, id))
  }
}

function send(exchange: Exchange, refusal: Refusal): void {
  const { request, response, webSocket } = exchange
  if (webSocket !== null) return webSocket.close('decided_again', POLICY_VIOLATION, refusal.code)
  if (response.headersSent) return abort(exchange)
  if (response.destroyed) return
  const bodyMayFollow = exchange.expectsContinue || expectsContinueInHttp10(request)
  writeProblem(request, response, refusal, exchange.id, bodyMayFollow)
}

/** HTTP/1.0 has no 100 (RFC 9110, section 10.1.1), so it is unknown whether the client sends its body. */
function expectsContinueInHttp10({ expect, minor }: ClientRequest): boolean {
  return expect !== null && minor === 0
}

/** Makes the response recognisably incomplete. In HTTP/1.0 a plain close may end the body, so the connection is reset. */
function abort({ request, response }: Exchange): void {
  if (request.minor === 0 && !request.socket.writableEnded) request.socket.resetAndDestroy()
  else response.destroy()
}

/** Whether the request is an allowed change of Seats or keys: it may be committed, whatever failed afterwards. */
function isWrite({ request, evaluation }: Exchange): boolean {
  const kind = evaluation?.decision.route?.target.kind
  return (kind === 'local' || kind === 'public') && request.method !== 'GET' && request.method !== 'HEAD'
}
