/** The resources of questions, which are routes and permissions, and what a decision about them requires. */

import { isPermission } from '../../../seats-admin/model/permission.ts'
import { possibleSpaces } from '../../access/callable-routes.ts'
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
  if (resource.type !== 'route') return 'resource_type_unknown'
  const entries = index.entriesAt(resource.id)
  if (entries === null) return 'route_not_found'
  const route = index.entryFor(entries, action)
  if (route === null) return 'method_not_allowed'
  return takesTenant(route, tenant) ? neededByRoute(route, space) : 'tenant_mismatch'
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
