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
      name: text("The user's email address, the API key's name, or the provider's host. Absent: not known."),
    },
  ),
)

const target = named(
  'AuditTarget',
  'What was changed.',
  object({
    kind: oneOf(TARGET_KINDS, 'What it is.'),
    id: text('Its id.'),
    name: orNull(text('The name of a Seat or API key; of a block or session the `sub` of the user.')),
  }),
)

const entry = named(
  'AuditEntry',
  'A change: who made it, of what, from what to what.',
  object({
    id: text('A ULID: sorts as `seq` does.', ID),
    seq: { type: 'integer', minimum: 1, description: "Counts the tenant's entries, without gaps." },
    at: time('When, by the clock of the gateway.'),
    tenant: text('The tenant.', { examples: ['acme'] }),
    actor,
    request_id: orNull(
      text('That of the request. Null for a command, and where no request caused the change.'),
    ),
    action: oneOf(AUDIT_ACTIONS, 'What was done. Actions may be added.'),
    target,
    space: text('The space of the request; of a provider the admin space.', { examples: ['admin'] }),
    before: orNull(freeObject('As `GET` showed the target before. Null: there was none.')),
    after: orNull(freeObject('As `GET` shows the target afterwards. Null: there is none.')),
    prev: orNull(text('The hash of the entry before this one. Null for the first.', HASH)),
    hash: text('SHA-256 of the canonical entry (RFC 8785) without `hash`.', HASH),
  }),
)

export const auditPage = object({
  data: list(entry, 'Newest first.'),
  has_more: flag('Whether older entries follow.'),
})
