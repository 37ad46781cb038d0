/** The lines of an MCP server that decide a call, and the result of several. */

import type { Evaluation } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import { type McpCall, namesIn } from '../model/mcp.ts'
import type { McpEndpoint, Route } from '../model/route.ts'

const noMethod = new Refusal('route_not_found', 'The table has no line for this method.')
const noLine = new Refusal('route_not_found', 'The table has no line for this name.')

/** What the path of an MCP server requires depends on the message. */
export function withoutPermission(evaluation: Evaluation): Evaluation {
  return { ...evaluation, decision: { ...evaluation.decision, permission: null } }
}

/** The lines for a call, each once. */
export function linesOf(server: McpEndpoint, call: McpCall): Route[] | Refusal {
  const lines = new Set<Route>()
  for (const { kind, name } of namesIn(call)) {
    const line = server.find(kind, name)
    if (line === null) return kind === 'method' ? noMethod : noLine
    lines.add(line)
  }
  return [...lines]
}

/** The result of the lines of a call. A change of the Seats of each concerns it. */
export function allOf(evaluations: readonly Evaluation[]): Evaluation {
  const last = evaluations.at(-1)
  if (last === undefined) throw new Error('a call has a line')
  if (evaluations.length === 1) return last
  const seats = [...new Set(evaluations.flatMap(({ decision }) => decision.seats))]
  const grants = evaluations.flatMap((each) => each.grants ?? [])
  return {
    ...last,
    grants:
      grants.length === 0 ? null : { isCurrent: (...at) => grants.every((each) => each.isCurrent(...at)) },
    decision: { ...last.decision, seats },
  }
}
