/** The span of one attempt to reach an upstream, by the conventions for HTTP clients. */

import type { Exchange } from '../../http/server/exchange.ts'
import { forwardedTarget } from '../../model/decision.ts'
import type { Attempt, RecordedTrace } from './recorded-trace.ts'
import { methodAttributes, nanoseconds } from './server-span.ts'
import { type Attribute, CLIENT, ERROR, shortened, type Span, UNSET } from './span.ts'

/**
 * @param index of the attempt, from 0
 * @param toEpoch what makes a monotonic time one since the epoch
 */
export function clientSpan(
  exchange: Exchange,
  trace: RecordedTrace,
  attempt: Attempt,
  index: number,
  toEpoch: number,
): Span {
  const { spanId, startedAt, endedAt } = attempt
  const method = methodAttributes(exchange.request.method)
  const error = errorOf(exchange, attempt)
  return {
    traceId: trace.traceId,
    spanId,
    parentSpanId: trace.spanId,
    isParentRemote: false,
    traceState: '',
    name: method.length === 1 ? exchange.request.method : 'HTTP',
    kind: CLIENT,
    start: nanoseconds(startedAt + toEpoch),
    end: nanoseconds((endedAt === 0 ? Math.max(exchange.endedAt, startedAt) : endedAt) + toEpoch),
    attributes: [...method, ...attemptAttributes(exchange, attempt, index, error)],
    link: null,
    status: error === null ? UNSET : ERROR,
  }
}

/** The error of the attempt; null if there is none. For a client, a 4xx is an error too. */
function errorOf({ refusal, aborted }: Exchange, { endedAt, status, error }: Attempt): string | null {
  if (error !== null) return error
  // The gateway ended it: in time, or because of the client.
  if (endedAt === 0 && refusal !== null) return refusal.code
  if (endedAt === 0 && aborted) return 'client_disconnected'
  return status >= 400 ? String(status) : null
}

function attemptAttributes(
  { evaluation }: Exchange,
  { target, status }: Attempt,
  index: number,
  error: string | null,
): Attribute[] {
  const path = evaluation === null ? '' : (forwardedTarget(evaluation).split('?', 1)[0] ?? '')
  const attributes: Attribute[] = [
    ['server.address', target.hostname.replace(/^\[|\]$/g, '')],
    ['server.port', Number(target.port || (target.protocol === 'https:' ? 443 : 80))],
    ['url.full', shortened(`${target.origin}${path}`)],
  ]
  if (status > 0) attributes.push(['http.response.status_code', status])
  if (error !== null) attributes.push(['error.type', error])
  if (index > 0) attributes.push(['http.request.resend_count', index])
  return attributes
}
