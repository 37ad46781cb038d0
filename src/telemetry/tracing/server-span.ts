/**
 * The span of a request by the conventions for HTTP servers and for gRPC
 * (https://opentelemetry.io/docs/specs/semconv/http/http-spans/). Queries, credentials and other header
 * values stay out.
 */

import { createTraceState } from '@opentelemetry/api'
import type { Exchange } from '../../http/server/exchange.ts'
import { grpcStatus } from '../../http/server/grpc-exchange.ts'
import { externalQuestion, type Question } from '../../http/server/question.ts'
import { fieldName } from '../../http/wire/field-name.ts'
import { upstreamOf } from '../../model/route.ts'
import { statusOf } from '../access-log.ts'
import type { RecordedTrace } from './recorded-trace.ts'
import { type Attribute, ERROR, SERVER, shortened, type Span, UNSET } from './span.ts'

const USER_AGENT = fieldName('user-agent')

/** Methods that the conventions name; any other is `_OTHER`. */
const METHODS = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
])

/** Status codes of gRPC (https://grpc.io/docs/guides/status-codes/), as the conventions write them. */
const GRPC_NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const

/** Faults of a server (semantic conventions for gRPC); all others are the client's. */
const SERVER_ERRORS: ReadonlySet<string> = new Set([
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
])

/**
 * @param at monotonic ms of the end
 * @param toEpoch what makes a monotonic time one since the epoch
 */
export function serverSpan(exchange: Exchange, trace: RecordedTrace, at: number, toEpoch: number): Span {
  const { parent, link, traceState } = trace.origin
  const status = statusOf(exchange)
  const error = errorOf(exchange, status)
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    parentSpanId: parent?.spanId ?? null,
    isParentRemote: parent !== null,
    // Valid members only.
    traceState: traceState === '' ? '' : createTraceState(traceState).serialize(),
    name: nameOf(exchange),
    kind: SERVER,
    start: nanoseconds(exchange.startedAt + toEpoch),
    end: nanoseconds(at + toEpoch),
    attributes: [
      ...methodAttributes(exchange.request.method),
      ...requestAttributes(exchange),
      ...statusAttributes(exchange, status, error),
      ...ownAttributes(exchange),
    ],
    link,
    status: error === null ? UNSET : ERROR,
  }
}

/**
 * The error of the request; null if there is none. 4xx is the client's fault, not the gateway's. A response
 * that began, and one of gRPC, has status 200 although the gateway refused or cut them.
 */
function errorOf(exchange: Exchange, status: number): string | null {
  const { refusal } = exchange
  if (refusal !== null) return refusal.status >= 500 ? refusal.code : null
  if (status >= 500) return String(status)
  const grpc = grpcStatus.get(exchange)
  return grpc !== undefined && isServerError(grpc) ? grpcStatusName(grpc) : null
}

/** @param ms since the epoch: a number holds its microseconds */
export function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1000)) * 1000n
}

/** Never the path, which has no bound. */
function nameOf({ request: { method }, evaluation }: Exchange): string {
  const name = METHODS.has(method) ? method : 'HTTP'
  const route = evaluation?.decision.route
  return route == null ? name : `${name} ${shortened(route.path)}`
}

export function methodAttributes(method: string): Attribute[] {
  if (METHODS.has(method)) return [['http.request.method', method]]
  return [
    ['http.request.method', '_OTHER'],
    ['http.request.method_original', shortened(method)],
  ]
}

function requestAttributes(exchange: Exchange): Attribute[] {
  const { request, evaluation } = exchange
  const { socket, section } = request
  const path = evaluation?.decision.path ?? request.url.split('?', 1)[0] ?? ''
  const [userAgent] = section.fields.values(USER_AGENT)
  const route = evaluation?.decision.route ?? null
  return [
    ['url.scheme', 'encrypted' in socket ? 'https' : 'http'],
    ['url.path', shortened(path)],
    ...(route === null ? [] : [['http.route', shortened(route.path)] as const]),
    ['network.protocol.version', request.http2 ? '2' : `1.${request.minor}`],
    ...addressAttributes(request.host),
    ...peerAttributes(socket.remoteAddress, externalQuestion.get(exchange)),
    ...(userAgent === undefined ? [] : [['user_agent.original', shortened(userAgent)] as const]),
  ]
}

/** The client of a question is the one that the asking proxy names. */
function peerAttributes(remote: string | undefined, question: Question | undefined): Attribute[] {
  const peer = remote ?? null
  const client = question === undefined ? peer : question.client
  const attributes: Attribute[] = []
  if (client !== null) attributes.push(['client.address', shortened(client)])
  if (peer !== null) attributes.push(['network.peer.address', peer])
  return attributes
}

/** @param host as the client wrote it, with a port or without */
function addressAttributes(host: string | null): Attribute[] {
  const [, name, port] = /^([^:]{1,255}|\[[\da-f:.]{1,45}\])(?::(\d{1,5}))?$/i.exec(host ?? '') ?? []
  if (name === undefined) return []
  const address = ['server.address', name.toLowerCase().replace(/^\[|\]$/g, '')] as const
  return port === undefined ? [address] : [address, ['server.port', Number(port)]]
}

function statusAttributes(exchange: Exchange, status: number, error: string | null): Attribute[] {
  const grpc = grpcStatus.get(exchange)
  const attributes: Attribute[] = []
  if (status > 0) attributes.push(['http.response.status_code', status])
  if (error !== null) attributes.push(['error.type', error])
  if (grpc !== undefined)
    attributes.push(['rpc.system.name', 'grpc'], ['rpc.response.status_code', grpcStatusName(grpc)])
  return attributes
}

function ownAttributes({ id, refusal, evaluation }: Exchange): Attribute[] {
  const decision = evaluation?.decision
  const attributes: Attribute[] = [['seatgate.request_id', id]]
  const code = refusal?.code ?? decision?.code
  if (code !== undefined) attributes.push(['seatgate.decision', code])
  if (decision?.route != null) attributes.push(['seatgate.upstream', upstreamOf(decision.route)])
  if (decision?.principal != null) attributes.push(['seatgate.tenant', decision.principal.tenant])
  return attributes
}

/** A number that has no name stays one. */
function grpcStatusName(status: number): string {
  return GRPC_NAMES[status] ?? String(status)
}

function isServerError(status: number): boolean {
  return SERVER_ERRORS.has(grpcStatusName(status))
}
