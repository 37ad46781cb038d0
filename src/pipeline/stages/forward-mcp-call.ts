/**
 * Forwards requests to MCP servers. A response with a list shows what the caller may use, and a stream of
 * events can be ended with an error.
 */

import { TimeShare } from '../../../seats-admin/model/time-share.ts'
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
import { authorizationRequest, callRequest } from '../request-input.ts'
import { ANSWERED, type Stage } from '../stage.ts'

const unavailable = new Refusal('unavailable', 'The gateway cannot decide at the moment what the list shows.')

/**
 * Decides by the tables that are active, and again if others become active while it waits. Rejects if the
 * store can't be asked.
 */
export type DecideByCurrent = <R>(decide: (engine: DecisionEngine) => Promise<R>) => R | Promise<R>

export function forwardMcpCall(
  upstreams: ReadonlyMap<string, Upstream>,
  refuse: Refuse,
  decideByCurrent: DecideByCurrent,
): Stage {
  return (exchange, next) => {
    const mcp = mcpExchange.get(exchange)
    const target = exchange.allowed.decision.route?.target
    const upstream = target?.kind === 'upstream' ? upstreams.get(target.name) : undefined
    if (mcp === undefined || upstream === undefined) return next(exchange)
    const filter = filterOf(exchange, mcp, decideByCurrent)
    // The body, which was read before, is counted again.
    exchange.bytesIn = 0
    forward(exchange, upstream, refuse, filter === null ? withLastEvent(mcp) : filteredBy(filter, refuse))
    return ANSWERED
  }
}

const NO_CALLER = { tenant: '', user: '' }

/** Null: the response is no list, or the whole list passes. */
function filterOf(exchange: Exchange, mcp: McpExchange, decideByCurrent: DecideByCurrent): ListBody | null {
  const { id, call, server } = mcp
  const list = server.filtersLists ? LIST_METHODS.get(call?.method ?? '') : undefined
  if (list === undefined) return null
  const { tenant, user } = exchange.allowed.decision.principal ?? NO_CALLER
  return new ListBody({
    ...list,
    id,
    // The tables may have changed since the request was forwarded.
    usable: async (names) => {
      try {
        return await decideByCurrent((engine) => usable(names, exchange, list.kind, engine))
      } catch (cause) {
        throw cause instanceof Refusal ? cause : unavailable
      }
    },
    owner: JSON.stringify([tenant, user]),
    isGone: () => exchange.settled,
  })
}

/**
 * For each name, whether the caller may use what it stands for. Lines that require the same are decided once.
 */
async function usable(
  names: readonly string[],
  exchange: Exchange,
  kind: McpKind,
  engine: DecisionEngine,
): Promise<boolean[]> {
  const server = engine.mcpServerOf(authorizationRequest(exchange))
  const decided = new Map<string, boolean>()
  const share = new TimeShare()
  const results: boolean[] = []
  for (const name of names) {
    await share.next()
    const line = server?.find(kind, name) ?? null
    const key = line === null ? '' : keyOf(line)
    const result = line !== null && (decided.get(key) ?? (await isUsable(name, exchange, kind, engine)))
    decided.set(key, result)
    results.push(result)
  }
  return results
}

async function isUsable(
  name: string,
  exchange: Exchange,
  kind: McpKind,
  engine: DecisionEngine,
): Promise<boolean> {
  const { refusal } = await engine.evaluate(callRequest(exchange, callOf({ kind, name })))
  // The list would otherwise lack what the caller may use.
  if (refusal !== null && refusal.status >= 500) throw refusal
  return refusal === null
}

function keyOf({ requirement, tenant, space }: Route): string {
  return JSON.stringify([requirement, tenant, sourceText(space)])
}
