/**
 * Serves a route from a handler in the process that nobody needs a credential for: sign-in. Called by the pipeline;
 * wired to nothing but the handler it is given.
 */

import { performance } from 'node:perf_hooks'
import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { OpenHandler, OpenReply } from '../model/route.ts'
import type { Refuse } from '../proxy/forward.ts'
import { reply } from './handler-response.ts'
import { readBody } from './whole-body.ts'

/** What answering needs of the pipeline. */
export interface OpenAnswering {
  readonly refuse: Refuse
  failed(exchange: Exchange, cause: unknown): void
}

/** What serving needs of the pipeline. */
export interface OpenPipeline extends OpenAnswering {
  /** Milliseconds for a body to arrive. */
  readonly bodyTimeout: number
}

/** Returns at once. */
export function serveOpen(exchange: Exchange, handler: OpenHandler, pipeline: OpenPipeline): void {
  answerOpen(exchange, serve(exchange, handler, pipeline.bodyTimeout), pipeline)
}

/** Sends what comes of a promise, whatever that is. Returns at once. */
export function answerOpen(
  exchange: Exchange,
  outcome: Promise<OpenReply | Refusal>,
  pipeline: OpenAnswering,
): void {
  outcome
    .then((known) => {
      if (known instanceof Refusal) pipeline.refuse(exchange, known, null)
      else if (!exchange.response.destroyed) reply(exchange, known, known.headers)
    })
    .catch((cause: unknown) => pipeline.failed(exchange, cause))
}

async function serve(exchange: Exchange, handler: OpenHandler, time: number): Promise<OpenReply | Refusal> {
  const { request, judgement } = exchange
  if (judgement?.decision.route == null) throw new Error('an endpoint was reached without a route')
  const { path, method, route } = judgement.decision
  const body = method === 'POST' ? await readBody(exchange, { bytes: route.maxBody, time }) : null
  if (body instanceof Refusal) return body
  exchange.forwardedAt = performance.now()
  return handler({ method, path, query: judgement.query.slice(1), rawHeaders: request.rawHeaders, body })
}
