/** Serves a built-in endpoint that requires no credential: sign-in. */

import { performance } from 'node:perf_hooks'
import { Refusal } from '../../model/errors.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { NextHop, nextHop } from '../../http/server/next-hop.ts'
import type { PublicHandler, PublicResponse } from '../../model/route.ts'
import { sendHandlerResponse } from '../handler-response.ts'
import type { Refusals } from '../refusals.ts'
import { ANSWERED, type Stage } from '../stage.ts'
import { readBody } from '../whole-body.ts'

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
      if (response instanceof Refusal) refusals.refuse(exchange, response, null)
      else if (!exchange.response.destroyed) sendHandlerResponse(exchange, response)
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
  const body = method === 'POST' ? await readBody(exchange, { bytes: route.maxBody, time }) : null
  if (body instanceof Refusal) return body
  nextHop.set(exchange, new NextHop(performance.now()))
  const { rawHeaders } = request
  const query = evaluation.query.slice(1)
  return handler({ method, path, query, rawHeaders, body, requestId: exchange.id })
}
