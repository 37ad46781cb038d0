/** The resources of questions: routes and permissions. What a decision on them requires. */

import { isPermission } from '../../../seats-admin/model/permission.ts'
import { possibleSpaces } from '../../access/callable-routes.ts'
import { needsPermission, type Requirement, type Route, takesTenant } from '../../model/route.ts'
import type { Question } from './questions.ts'
import type { Denial } from './decision-reasons.ts'
import type { RouteIndex } from './route-index.ts'

/** What a subject needs for an action on a resource. */
export interface Needed {
  readonly requirement: Requirement
  /** Null: none is needed, or the question names none. */
  readonly space: string | null
}

/** @param tenant that of the subjects @returns a reason: no subject may do it */
export function neededFor(
  question: Omit<Question, 'subject'>,
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

/** The space is that of the route where its table or its hosts determine it. */
function neededByRoute(route: Route, space: string | null): Needed | Denial {
  const { requirement, space: source } = route
  if (!needsPermission(requirement)) return { requirement, space }
  const asked = space ?? (source.kind === 'fixed' ? source.space : null)
  if (asked !== null && !possibleSpaces(route)(asked)) return 'space_conflict'
  return { requirement, space: asked }
}
