/** `/v1/audit`. */

import { ACTOR_KINDS, AUDIT_ACTIONS, type AuditAction, TARGET_KINDS } from '../model/audit.ts'
import {
  flag,
  freeObject,
  type JsonSchema,
  list,
  named,
  object,
  oneOf,
  orNull,
  text,
  time,
} from '../model/json-schema.ts'
import { parseDateTime } from './date-time.ts'
import { type AdminDeps, type AdminEndpoint, endpoint } from './admin-endpoint.ts'
import { formatted, ID, idOf, limitOf, limitParameter, someText } from './parameters.ts'

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

const HASH: JsonSchema = { pattern: '^[0-9a-f]{64}$' }

const actor = named(
  'AuditActor',
  'Who made a change.',
  object(
    {
      kind: oneOf(
        ACTOR_KINDS,
        '`command`: a command of `seatgate` on the store; `provider`: the identity provider of the tenant. Kinds may be added.',
      ),
      id: text('The `sub` of the token, the id of the API key, the name of the command, or the issuer.', {
        examples: ['alice'],
      }),
    },
    {
      name: text(
        "The user's email address, the API key's name, or the provider's host. Absent if it is not known.",
      ),
    },
  ),
)

const target = named(
  'AuditTarget',
  'What was changed.',
  object({
    kind: oneOf(TARGET_KINDS, 'The kind of target.'),
    id: text('Its id.'),
    name: orNull(
      text(
        'The name of the Seat or API key; for a block or session, the `sub` of the user; for a revocation, its subject.',
      ),
    ),
  }),
)

const entry = named(
  'AuditEntry',
  'A change: who made it, what was changed, and its state before and after.',
  object({
    id: text('A ULID, which sorts like `seq`.', ID),
    seq: { type: 'integer', minimum: 1, description: 'Counts the entries of the tenant, without gaps.' },
    at: time('When the change was made, by the clock of the gateway.'),
    tenant: text('The tenant.', { examples: ['acme'] }),
    actor,
    request_id: orNull(
      text('The id of the request. Null for a command, and if no request caused the change.'),
    ),
    action: oneOf(AUDIT_ACTIONS, 'What was done. Actions may be added.'),
    target,
    space: text('The space of the request; for a provider, the admin space.', { examples: ['admin'] }),
    before: orNull(freeObject('The target as `GET` showed it before the change. Null if there was none.')),
    after: orNull(freeObject('The target as `GET` shows it after the change. Null if there is none.')),
    prev: orNull(text('The hash of the previous entry. Null for the first entry.', HASH)),
    hash: text('SHA-256 of the canonical entry (RFC 8785) without `hash`.', HASH),
  }),
)

/** Entries as the store reads them: `AuditEntry`. */
const auditPage = object({
  data: list(entry, 'Newest first.'),
  has_more: flag('Whether older entries follow.'),
})

export function auditEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/audit',
      permission: 'audit:list',
      operation: 'listAudit',
      summary:
        'Lists the changes to Seats, API keys, blocks, grants and sessions, and the revocations, that the caller may see.',
      details: 'Newest entries first. Each entry was written in the transaction of its change.',
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
