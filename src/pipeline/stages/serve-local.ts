/** Serves a built-in endpoint that requires a credential. */

import { performance } from 'node:perf_hooks'
import { Refusal } from '../../model/errors.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { NextHop, nextHop } from '../../http/server/next-hop.ts'
import { fieldName } from '../../http/wire/field-name.ts'
import type { Evaluation } from '../../model/decision.ts'
import type { HeldPermissions, LocalResponse } from '../../model/route.ts'
import type { Refuse } from '../../proxy/forward.ts'
import type { EventStreams } from '../event-streams.ts'
import { sendHandlerResponse } from '../handler-response.ts'
import { renderedBody } from '../rendered-body.ts'
import { ANSWERED, type Stage } from '../stage.ts'
import { type BodyLimits, readBody, readJson, WITH_BODY } from '../whole-body.ts'

const IF_MATCH = fieldName('if-match')
const ACCEPT = fieldName('accept')

/** The functions of the pipeline that serving uses. */
export interface LocalPipeline {
  /** Evaluates the request again, as of now. */
  reevaluate(exchange: Exchange): Evaluation | Promise<Evaluation>
  /**
   * The permissions of the caller in the request's space until a time, if the request is still allowed.
   * Rejects when the store can't be asked.
   */
  held(exchange: Exchange, until: number): Promise<HeldPermissions | Refusal>
  /** Sends a refusal of the handler or of the body. */
  readonly refuse: Refuse
  /** Handles an exception of either. */
  failed(exchange: Exchange, cause: unknown): void
  /** Milliseconds until the whole body has arrived. */
  readonly bodyTimeout: number
  readonly streams: EventStreams
}

export function serveLocal(pipeline: LocalPipeline): Stage {
  return (exchange, next) => {
    if (exchange.allowed.decision.route?.target.kind !== 'local') return next(exchange)
    respond(exchange, pipeline)
    return ANSWERED
  }
}

function respond(exchange: Exchange, pipeline: LocalPipeline): void {
  serve(exchange, pipeline)
    .then(async (result) => {
      if (result instanceof Refusal) return pipeline.refuse(exchange, result, null)
      if (result.logged !== undefined) exchange.note('asked', result.logged)
      const { events } = result
      if (events === undefined) {
        const rendered = await renderedBody(result.body)
        if (!exchange.response.destroyed) sendHandlerResponse(exchange, { ...result, body: rendered })
        return
      }
      const refused = await pipeline.streams.begin(exchange, events)
      // A right that was lost since the decision: only open streams are evaluated again.
      const refusal = refused ?? (await pipeline.reevaluate(exchange)).refusal
      if (refusal !== null) pipeline.refuse(exchange, refusal, null)
    })
    .catch((cause: unknown) => pipeline.failed(exchange, cause))
}

async function serve(exchange: Exchange, pipeline: LocalPipeline): Promise<LocalResponse | Refusal> {
  const { request } = exchange
  const firstRoute = exchange.evaluation?.decision.route
  const limits = { bytes: firstRoute?.maxBody ?? 0, time: pipeline.bodyTimeout }
  const json = firstRoute?.target.kind === 'local' ? firstRoute.target.handler.json : undefined
  const body = WITH_BODY.has(request.method)
    ? await readJson(exchange, limits, json)
    : await ignoreBody(exchange, limits)
  if (body instanceof Refusal) return body
  // The caller may have lost the permission while the body arrived: the request is evaluated again.
  const evaluation = await pipeline.reevaluate(exchange)
  exchange.evaluation = evaluation
  if (evaluation.refusal !== null) return evaluation.refusal
  const { principal, space, route } = evaluation.decision
  if (principal === null || route?.target.kind !== 'local')
    throw new Error('a built-in route was reached without a caller')
  nextHop.set(exchange, new NextHop(performance.now()))
  return route.target.handler({
    params: evaluation.params.toObject(),
    query: evaluation.query.slice(1),
    body: body.value,
    ifMatch: request.section.fields.values(IF_MATCH),
    // The head of a stream would have no end.
    accept: request.method === 'HEAD' ? [] : request.section.fields.values(ACCEPT),
    requestId: exchange.id,
    principal,
    space,
    held: (until) => pipeline.held(exchange, until),
  })
}

/** Reads the body before the handler runs: a body over the limit is refused before it takes effect. */
async function ignoreBody(exchange: Exchange, limits: BodyLimits): Promise<{ value: undefined } | Refusal> {
  const body = exchange.request.length === 0 ? null : await readBody(exchange, limits)
  return body instanceof Refusal ? body : { value: undefined }
}
