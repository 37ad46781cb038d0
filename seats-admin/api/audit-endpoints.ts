/** `/v1/audit`. */

import { AUDIT_ACTIONS, type AuditAction } from '../model/audit.ts'
import { oneOf } from '../model/json-schema.ts'
import { auditPage } from './audit-view.ts'
import { parseDateTime } from './date-time.ts'
import { type AdminDeps, type AdminEndpoint, endpoint } from './admin-endpoint.ts'
import { limitOf, limitParameter } from './page-parameters.ts'
import { formatted, idOf, someText } from './parameters.ts'

const PARAMETERS = {
  limit: limitParameter,
  after: idOf('the last item before the page', 'The id of the last entry on the previous page.'),
  since: formatted('moment', 'Entries from this time on.'),
  until: formatted('moment', 'Entries before this time.'),
  action: {
    schema: oneOf(AUDIT_ACTIONS, 'Entries with this action.'),
    accepts: isAction,
    otherwise: `must be one of ${AUDIT_ACTIONS.join(', ')}`,
  },
  actor: someText(
    'Entries of changes by the actor who has this id, or who had this name at the time.',
    'must be an id or a name',
  ),
  target: someText(
    'Entries of changes to the target that has this id, or that had this name at the time.',
    'must be an id or a name',
  ),
}

export function auditEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/audit',
      permission: 'audit:list',
      operation: 'listAudit',
      summary: 'Lists the changes to Seats, API keys, blocks and sessions that the caller may see.',
      query: PARAMETERS,
      answers: { 200: auditPage },
      codes: [],
      async handle({ query, caller: { tenant, scope } }) {
        const { after, since, until, action, actor, target } = query
        const { data, hasMore } = await deps.store.audit.list(tenant, {
          limit: limitOf(query),
          after,
          since: timeOf(since),
          until: timeOf(until),
          action: action !== null && isAction(action) ? action : null,
          actor,
          target,
          scope,
        })
        return { status: 200, body: { data, has_more: hasMore } }
      },
    }),
  ]
}

function isAction(text: string): text is AuditAction {
  return AUDIT_ACTIONS.some((each) => each === text)
}

function timeOf(text: string | null): number | null {
  return text === null ? null : parseDateTime(text)
}
