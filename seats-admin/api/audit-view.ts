/** The JSON form of entries of the audit: `AuditEntry`, as the store reads it. */

import { ACTOR_KINDS, AUDIT_ACTIONS, TARGET_KINDS } from '../model/audit.ts'
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
import { ID } from './parameters.ts'

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
    name: orNull(text('The name of the Seat or API key; for a block or session, the `sub` of the user.')),
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

export const auditPage = object({
  data: list(entry, 'Newest first.'),
  has_more: flag('Whether older entries follow.'),
})
