/** The resources of questions, which are routes and permissions, and what a decision about them requires. */

import { isPermission } from '../../../seats-admin/model/permission.ts'
import { possibleSpaces } from '../../access/callable-routes.ts'
import { type McpKind, NAMING_METHODS } from '../../model/mcp.ts'
import { needsPermission, type Requirement, type Route, takesTenant } from '../../model/route.ts'
import type { EvaluationRequest } from './authzen-requests.ts'
import type { Denial } from './decision-reasons.ts'
import type { RouteIndex } from './route-index.ts'

/** What a subject needs for an action on a resource. */
export interface Needed {
  readonly requirement: Requirement
  /** The space; null if none is needed, or the question names none. */
  readonly space: string | null
}

/**
 * @param tenant the tenant of the subjects
 * @returns the reason for a denial if no subject may do it
 */
export function neededFor(
  question: Omit<EvaluationRequest, 'subject'>,
  index: RouteIndex,
  tenant: string,
): Needed | Denial {
  const { resource, action, space } = question
  if (resource.type === 'permission')
    return isPermission(resource.id) ? { requirement: resource.id, space } : 'permission_malformed'
  const called = MCP_ACTIONS.get(resource.type)
  if (called !== undefined)
    return neededByLine(index.lineOf(called.kind, resource.id), called.action, question, tenant)
  if (resource.type !== 'route') return 'resource_type_unknown'
  const entries = index.entriesAt(resource.id)
  if (entries === null) return 'route_not_found'
  const route = index.entryFor(entries, action)
  if (route === null) return 'method_not_allowed'
  return takesTenant(route, tenant) ? neededByRoute(route, space) : 'tenant_mismatch'
}

/** The resources of MCP servers, with the method that calls them. */
export const MCP_ACTIONS: ReadonlyMap<string, { readonly kind: McpKind; readonly action: string }> = new Map(
  [...NAMING_METHODS].map(([action, { kind }]) => [kind, { kind, action }]),
)

function neededByLine(
  line: Route | null,
  method: string,
  { action, space }: Omit<EvaluationRequest, 'subject'>,
  tenant: string,
): Needed | Denial {
  if (line === null) return 'route_not_found'
  if (action !== method) return 'method_not_allowed'
  return takesTenant(line, tenant) ? neededByRoute(line, space) : 'tenant_mismatch'
}

/**
 * If the table or the hosts of a route determine its space, the question may leave it out, and must not
 * contradict it.
 */
function neededByRoute(route: Route, space: string | null): Needed | Denial {
  const { requirement, space: source } = route
  if (!needsPermission(requirement)) return { requirement, space }
  const needed = space ?? (source.kind === 'fixed' ? source.space : null)
  if (needed !== null && !possibleSpaces(route)(needed)) return 'space_conflict'
  return { requirement, space: needed }
}
