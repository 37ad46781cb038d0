/** Refusals in the form of MCP: an error of JSON-RPC, with the challenge of a protected resource (RFC 9728). */

import type { McpError, McpExchange } from '../../http/server/mcp-exchange.ts'
import type { Evaluation } from '../../model/decision.ts'
import type { Refusal, RefusalPage } from '../../model/errors.ts'
import { metadataUrl, NAMING_METHODS } from '../../model/mcp.ts'
import { needsPermission } from '../../model/route.ts'

const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
/** One of those that servers define (JSON-RPC 2.0, section 5.1). */
const REFUSED = -32001

/** @param evaluation null: the call is not decided */
export function mcpPage(mcp: McpExchange, refusal: Refusal, evaluation: Evaluation | null): RefusalPage {
  return {
    type: 'application/json',
    headers: [],
    challenge: challengeOf(mcp, refusal, evaluation),
    text: (requestId) => `${errorText(mcp, refusal, requestId)}\n`,
  }
}

/** The message that answers the call. */
export function errorText(mcp: McpExchange, refusal: Refusal, requestId: string): string {
  const { code, message, data } = mcp.error ?? errorOf(mcp, refusal)
  const error = { code, message, data: { code: refusal.code, request_id: requestId, ...data } }
  return JSON.stringify({ jsonrpc: '2.0', id: mcp.id, error })
}

function errorOf({ call }: McpExchange, { code, detail }: Refusal): McpError {
  const isNaming = call !== null && (NAMING_METHODS.has(call.method) || call.uris.length > 0)
  const notFound = isNaming ? INVALID_PARAMS : METHOD_NOT_FOUND
  return { code: code === 'route_not_found' ? notFound : REFUSED, message: detail, data: {} }
}

const LACKING = new Set(['permission_denied', 'no_seat_in_space'])

/** RFC 6750, section 3; RFC 9728, section 5.1. Null: the refusal has none. */
function challengeOf(
  { server }: McpExchange,
  { status, code }: Refusal,
  evaluation: Evaluation | null,
): string | null {
  const isLacking = LACKING.has(code)
  if (status !== 401 && !isLacking) return null
  const permission = evaluation?.decision.permission ?? null
  const error = isLacking ? 'insufficient_scope' : code.startsWith('token_') ? 'invalid_token' : null
  return `Bearer ${[
    ...(error === null ? [] : [`error="${error}"`]),
    `resource_metadata="${metadataUrl(server.resource)}"`,
    ...(permission === null || !needsPermission(permission) ? [] : [`scope="${permission}"`]),
  ].join(', ')}`
}
