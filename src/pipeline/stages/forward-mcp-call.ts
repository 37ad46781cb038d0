/**
 * Forwards requests to MCP servers. A response with a list shows what the caller may use, and a stream of
 * events can be ended with an error.
 */

import type { DecisionEngine } from '../../decision/engine.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { type McpExchange, mcpExchange } from '../../http/server/mcp-exchange.ts'
import { callOf, LIST_METHODS, type McpKind } from '../../model/mcp.ts'
import { Refusal } from '../../model/errors.ts'
import type { Route } from '../../model/route.ts'
import { sourceText } from '../../model/space-source.ts'
import { withLastEvent } from '../../proxy/event-relay.ts'
import { filteredBy } from '../../proxy/filtered-relay.ts'
import { forward, type Refuse } from '../../proxy/forward.ts'
import type { Upstream } from '../../proxy/upstream.ts'
import { ListBody } from '../mcp/list-body.ts'
import { callRequest } from '../request-input.ts'
import { ANSWERED, type Stage } from '../stage.ts'

const unavailable = new Refusal('unavailable', 'The gateway cannot decide at the moment what the list shows.')

export function forwardMcpCall(
  engine: DecisionEngine,
  upstreams: ReadonlyMap<string, Upstream>,
  refuse: Refuse,
): Stage {
  return (exchange, next) => {
    const mcp = mcpExchange.get(exchange)
    const target = exchange.allowed.decision.route?.target
    const upstream = target?.kind === 'upstream' ? upstreams.get(target.name) : undefined
    if (mcp === undefined || upstream === undefined) return next(exchange)
    const filter = filterOf(exchange, mcp, engine)
    // The body, which was read before, is counted again.
    exchange.bytesIn = 0
    forward(exchange, upstream, refuse, filter === null ? withLastEvent(mcp) : filteredBy(filter, refuse))
    return ANSWERED
  }
}

const NO_CALLER = { tenant: '', user: '' }

/** Null: the response is no list, or the whole list passes. */
function filterOf(exchange: Exchange, mcp: McpExchange, engine: DecisionEngine): ListBody | null {
  const { id, call, server } = mcp
  const list = server.filtersLists ? LIST_METHODS.get(call?.method ?? '') : undefined
  if (list === undefined) return null
  const { tenant, user } = exchange.allowed.decision.principal ?? NO_CALLER
  return new ListBody({
    ...list,
    id,
    mayUse: usableBy(exchange, mcp, list.kind, engine),
    owner: JSON.stringify([tenant, user]),
    isGone: () => exchange.settled,
  })
}

/** Whether the caller may use what a name stands for. Lines that require the same are decided once. */
function usableBy(
  exchange: Exchange,
  { server }: McpExchange,
  kind: McpKind,
  engine: DecisionEngine,
): (name: string) => boolean | Promise<boolean> {
  const decided = new Map<string, boolean>()
  const evaluated = async (name: string) => engine.evaluate(callRequest(exchange, callOf({ kind, name })))
  const decide = async (name: string, key: string) => {
    // The list would otherwise lack what the caller may use.
    const evaluation = await evaluated(name).catch(() => Promise.reject(unavailable))
    if (evaluation.refusal !== null && evaluation.refusal.status >= 500) throw evaluation.refusal
    decided.set(key, evaluation.refusal === null)
    return evaluation.refusal === null
  }
  return (name) => {
    const line = server.find(kind, name)
    if (line === null) return false
    const key = keyOf(line)
    return decided.get(key) ?? decide(name, key)
  }
}

function keyOf({ requirement, tenant, space }: Route): string {
  return JSON.stringify([requirement, tenant, sourceText(space)])
}
