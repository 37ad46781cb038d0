/** Serves a route from a handler in the process, after the same decision as any route. */

import { performance } from 'node:perf_hooks'
import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Evaluation } from '../model/decision.ts'
import type { HeldPermissions, LocalResponse } from '../model/route.ts'
import type { Refuse } from '../proxy/forward.ts'
import { readJson } from './json-body.ts'
import { sendHandlerResponse } from './handler-response.ts'
import { type BodyLimits, readBody } from './whole-body.ts'

/** Methods whose body the handlers look at; of others it is read, as long as it may be, and ignored. */
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** What serving needs of the pipeline. */
export interface LocalPipeline {
  /** The decision on this request, as of now. */
  engine(): Promise<Evaluation>
  /** All that the caller holds in the space of the request. Rejects when the store can't be asked. */
  held(evaluation: Evaluation): Promise<HeldPermissions>
  /** For what the handler, or the reading of its body, says no to. */
  readonly refuse: Refuse
  /** For what either of them throws. */
  failed(exchange: Exchange, cause: unknown): void
  /** Milliseconds for a body to arrive. */
  readonly bodyTimeout: number
}

/** Returns at once. */
export function serveLocal(exchange: Exchange, pipeline: LocalPipeline): void {
  serve(exchange, pipeline)
    .then((result) => {
      if (result instanceof Refusal) pipeline.refuse(exchange, result, null)
      else if (!exchange.response.destroyed) sendHandlerResponse(exchange, result)
    })
    .catch((cause: unknown) => pipeline.failed(exchange, cause))
}

async function serve(exchange: Exchange, pipeline: LocalPipeline): Promise<LocalResponse | Refusal> {
  const { request } = exchange
  const limits = { bytes: exchange.evaluation?.decision.route?.maxBody ?? 0, time: pipeline.bodyTimeout }
  const body = WITH_BODY.has(request.method)
    ? await readJson(exchange, limits)
    : await ignoreBody(exchange, limits)
  if (body instanceof Refusal) return body
  // While the body came, the caller may have lost what let them in: they decide nothing by what they held then.
  const evaluation = await pipeline.engine()
  exchange.evaluation = evaluation
  if (evaluation.refusal !== null) return evaluation.refusal
  const { principal, space, route } = evaluation.decision
  if (principal === null || route?.target.kind !== 'local')
    throw new Error('a built-in route was reached without a caller')
  exchange.forwardedAt = performance.now()
  return route.target.handler({
    params: evaluation.params.toObject(),
    query: evaluation.query.slice(1),
    body: body.value,
    principal,
    space: space ?? '',
    held: () => pipeline.held(evaluation),
  })
}

/** Read before anything is done: one that is too long refuses the request, and not what was done for it. */
async function ignoreBody(exchange: Exchange, limits: BodyLimits): Promise<{ value: undefined } | Refusal> {
  const body = exchange.request.length === 0 ? null : await readBody(exchange, limits)
  return body instanceof Refusal ? body : { value: undefined }
}
