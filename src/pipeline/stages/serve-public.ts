/**
 * Serves a built-in endpoint outside the decision: sign-in, the keys of signed identity, the console, SCIM.
 */

import { performance } from 'node:perf_hooks'
import { Refusal } from '../../model/errors.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { NextHop, nextHop } from '../../http/server/next-hop.ts'
import type { PublicHandler, PublicResponse } from '../../model/route.ts'
import { sendHandlerResponse } from '../handler-response.ts'
import type { Refusals } from '../refusals.ts'
import { ANSWERED, type Stage } from '../stage.ts'
import { readBody, WITH_BODY } from '../whole-body.ts'

/** @param time ms until the whole body has arrived */
export function servePublic(time: number, refusals: Refusals): Stage {
  return (exchange, next) => {
    const target = exchange.allowed.decision.route?.target
    const handler = target?.kind === 'public' ? target.handler : null
    if (handler === null) return next(exchange)
    respondPublic(exchange, serve(exchange, handler, time), refusals)
    return ANSWERED
  }
}

/** Sends the result of the promise, or the refusal for its rejection. Returns at once. */
export function respondPublic(
  exchange: Exchange,
  result: Promise<PublicResponse | Refusal>,
  refusals: Refusals,
): void {
  result
    .then((response) => {
      if (response instanceof Refusal) return refusals.refuse(exchange, response, null)
      note(exchange, response.logged)
      if (!exchange.response.destroyed) sendHandlerResponse(exchange, response)
    })
    .catch((cause: unknown) => refusals.failed(exchange, cause))
}

async function serve(
  exchange: Exchange,
  handler: PublicHandler,
  time: number,
): Promise<PublicResponse | Refusal> {
  const { request, evaluation } = exchange
  if (evaluation?.decision.route == null) throw new Error('an endpoint was reached without a route')
  const { path, method, route } = evaluation.decision
  const { rawHeaders } = request
  const query = evaluation.query.slice(1)
  const head = { method, path, query, rawHeaders, body: null, requestId: exchange.id }
  const caller = handler.admit?.(head)
  if (caller instanceof Refusal) return caller
  note(exchange, caller)
  const body = WITH_BODY.has(method) ? await readBody(exchange, { bytes: route.maxBody, time }) : null
  if (body instanceof Refusal) return body
  nextHop.set(exchange, new NextHop(performance.now()))
  return handler({ ...head, body })
}

function note(exchange: Exchange, fields: Readonly<Record<string, unknown>> = {}): void {
  for (const [name, value] of Object.entries(fields)) exchange.note(name, value)
}
