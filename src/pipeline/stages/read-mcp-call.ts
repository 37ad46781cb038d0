/**
 * Reads the message of a request to an MCP server, and decides what it calls. The very bytes that were read
 * are forwarded.
 */

import { inShares } from '../../../seats-admin/model/time-share.ts'
import { queryValue } from '../../decision/authn/query-value.ts'
import type { DecisionEngine } from '../../decision/engine.ts'
import type { ClientRequest } from '../../http/server/client-request.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { McpExchange, mcpExchange } from '../../http/server/mcp-exchange.ts'
import type { Parsed } from '../../lib/json.ts'
import { jsonSteps } from '../../lib/large-json.ts'
import type { RequestFields } from '../../model/authorization-request.ts'
import { Refusal } from '../../model/errors.ts'
import type { McpEndpoint, Route } from '../../model/route.ts'
import { networkOfClient } from '../../proxy/client-network.ts'
import type { Refuse } from '../../proxy/forward.ts'
import type { TrustedProxies } from '../../proxy/forwarded.ts'
import { connectionNames, foldName } from '../../proxy/header-rules.ts'
import { inTurn } from '../in-turn.ts'
import { readMessageBody } from '../mcp/message-body.ts'
import { isError, mismatch, readMessage } from '../mcp/mcp-message.ts'
import type { Observer } from '../observers/observer.ts'
import { requestFields } from '../request-input.ts'
import { ANSWERED, type Next, type Stage } from '../stage.ts'
import { coded, isJsonType, notJson } from '../whole-body.ts'
import { evaluateAgain, type PassAgain } from './evaluate.ts'

interface McpPipeline {
  readonly engine: DecisionEngine
  readonly passAgain: PassAgain
  readonly refuse: Refuse
  /** Milliseconds until a whole message has arrived, if the table does not say. */
  readonly bodyTimeout: number
  readonly trustedProxies: TrustedProxies
  readonly observer: Required<Pick<Observer, 'evaluated'>>
}

export function readMcpCall(pipeline: McpPipeline): Stage {
  return (exchange, next) => {
    const { decision, preflight } = exchange.evaluated
    const { route } = decision
    if (route === null || route.target.kind !== 'mcp' || preflight !== null) return next(exchange)
    const mcp = new McpExchange(route.target.endpoint)
    mcpExchange.set(exchange, mcp)
    return read(exchange, route, mcp, pipeline, next)
  }
}

async function read(
  exchange: Exchange,
  route: Route,
  mcp: McpExchange,
  pipeline: McpPipeline,
  next: Next,
): Promise<typeof ANSWERED> {
  const refusal = await refusalOf(exchange, route, mcp, pipeline)
  if (exchange.settled) return ANSWERED
  if (refusal !== null) {
    pipeline.refuse(exchange, refusal, null)
    return ANSWERED
  }
  note(exchange, mcp)
  const { engine, passAgain, observer } = pipeline
  return evaluateAgain(engine, passAgain, exchange, () => {
    observer.evaluated(exchange)
    return next(exchange)
  })
}

/** Reads the message into `mcp`. Null: there is nothing wrong with it. */
async function refusalOf(
  exchange: Exchange,
  route: Route,
  mcp: McpExchange,
  { bodyTimeout, trustedProxies }: McpPipeline,
): Promise<Refusal | null> {
  const { request } = exchange
  const fields = requestFields(exchange)
  if (!isJsonType(joinedLines(fields, 'content-type') ?? '')) return notJson
  if (!/^(?:identity)?$/i.test(joinedLines(fields, 'content-encoding') ?? 'unknown')) return coded
  const limits = { bytes: route.maxBody, time: mcp.server.bodyTimeout ?? bodyTimeout }
  const bytes = await readMessageBody(exchange, limits)
  if (bytes instanceof Refusal) return bytes
  const parsed = await jsonOf(exchange, bytes, trustedProxies)
  if ('isLimit' in parsed) return new Refusal('body_too_large', `The message ${parsed.fault}.`)
  const message =
    'fault' in parsed
      ? { id: null, call: mismatch(`The body is not strict JSON: ${parsed.fault}.`) }
      : readMessage(parsed.value, fields)
  mcp.id = message.id
  const call = dropsFields(request) ? dropped : message.call
  if (isError(call)) {
    mcp.error = call
    return new Refusal('request_malformed', call.message)
  }
  mcp.call = call
  request.restore(bytes)
  if (mayHaveToken(exchange.evaluated.query)) return hasToken
  return isForeign(fields, route, mcp.server) ? foreign : null
}

/** Null: a line has another spelling of the name, such as `Content_Encoding`, which some servers read. */
function joinedLines(fields: RequestFields, name: string): string | null {
  const lines = fields.linesOf(name)
  return lines === 'other spelling' ? null : lines.join(', ')
}

/** Whether some server may read an `access_token` in the query: it would be the second one after this. */
function mayHaveToken(query: string): boolean {
  return query !== '' && queryValue(`?access_token&${query.slice(1)}`, 'access_token') instanceof Refusal
}

/** A token there (RFC 6750, section 2.3) would reach the server. */
const hasToken = new Refusal(
  'request_malformed',
  'The query has, or may be read to have, an access_token: send it in Authorization.',
)

const dropped = mismatch('Connection names a field that says what the message is.')
const KEPT = ['mcp-method', 'mcp-name', 'mcp-protocol-version', 'content-type', 'content-encoding']

/** The server would read the message without the field, as one of an older revision, or not at all. */
function dropsFields({ section }: ClientRequest): boolean {
  const names = section.connection === null ? null : connectionNames(section.connection, null)
  return names !== null && KEPT.some((name) => names.has(foldName(name)))
}

function jsonOf(
  { request, response }: Exchange,
  bytes: Buffer,
  proxies: TrustedProxies,
): Parsed | Promise<Parsed> {
  const steps = jsonSteps(bytes)
  // A small text takes one step.
  const { done, value } = steps.next()
  if (done === true) return value
  // The value takes up to twenty times the memory of the text.
  return inTurn(
    () => inShares(steps),
    () => response.destroyed,
    networkOfClient(request, proxies),
  )
}

const foreign = new Refusal('origin_refused', 'A page of another origin may not call this server.')

/** A page whose name leads to the gateway's address has that name in Host too: only the resource counts. */
function isForeign(fields: RequestFields, { cors }: Route, { resource }: McpEndpoint): boolean {
  const origins = fields.linesOf('origin')
  if (origins === 'other spelling' || origins.length > 1) return true
  const [origin] = origins
  if (origin === undefined || origin === new URL(resource).origin) return false
  return cors === null || !cors.lists(origin)
}

/** Characters of a name in the log. */
const MAX_LOGGED = 1024

/** The password, the query and the fragment of a URI may hold a secret. */
function note(exchange: Exchange, { call }: McpExchange): void {
  exchange.note('mcp_method', call?.method.slice(0, MAX_LOGGED))
  const name = call?.name ?? null
  if (name !== null) exchange.note('mcp_name', withoutSecrets(name).slice(0, MAX_LOGGED))
}

function withoutSecrets(name: string): string {
  return name.replace(/[?#].*$/s, '').replace(/^([^/]*:\/\/[^/:@]*):[^/]*@/, '$1@')
}
