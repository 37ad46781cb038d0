/**
 * What the audit records of a change: Seats, API keys, blocks, grants and sessions as their `GET` shows them,
 * and users and groups of SCIM in short. Never a key's text or its hash.
 */

import type { AuditAction, AuditTarget } from '../model/audit.ts'
import type { ApiKey } from '../model/api-key.ts'
import type { Block } from '../model/block.ts'
import type { ListedGrant } from '../model/grant.ts'
import type { JsonObject } from '../model/canonical-json.ts'
import { type Revocation, subjectText } from '../model/revocation.ts'
import type { ScimGroup, ScimUser } from '../model/scim.ts'
import type { StoredSeat } from '../model/seat.ts'
import type { ListedSession } from '../model/session-record.ts'
import type { TablesVersion } from '../model/tables-version.ts'
import type { AuditEvent } from './audit-chain.ts'
import { replaceUnstorable } from './storable-text.ts'

/**
 * The events of one kind of target. The states are those before and after the change; null: there was none,
 * or is none.
 */
function eventsOf<T extends { readonly id: string }>(
  kind: AuditTarget['kind'],
  nameOf: (state: T) => string,
  formOf: (state: T) => JsonObject,
) {
  return (action: AuditAction, before: T | null, after: T | null): AuditEvent => {
    const shown = after ?? before
    if (shown === null) throw new Error('an entry has a state before or after')
    return {
      action,
      target: { kind, id: shown.id, name: replaceUnstorable(nameOf(shown)) },
      before: before === null ? null : formOf(before),
      after: after === null ? null : formOf(after),
    }
  }
}

export const seatEvent = eventsOf<StoredSeat>('seat', ({ name }) => name, seatForm)
export const apiKeyEvent = eventsOf<ApiKey>('api-key', ({ name }) => name, apiKeyForm)
export const grantEvent = eventsOf<ListedGrant>('grant', ({ user }) => user, grantForm)
export const blockEvent = eventsOf<Block>('block', ({ user }) => user, blockForm)

export const scimUserEvent = eventsOf<ScimUser>('scim-user', ({ userName }) => userName, scimUserForm)

/** @param groups the ids of the groups that the user leaves, which have no entry of that */
export function scimUserDeletion(user: ScimUser, groups: readonly string[]): AuditEvent {
  const event = scimUserEvent('scim_user.delete', user, null)
  return groups.length === 0 ? event : { ...event, before: { ...event.before, groups } }
}

/** Members that an entry of a group names, of those who were added or removed. */
const MAX_NAMED_MEMBERS = 100

/** @param members the ids of users who came and went */
export function scimGroupEvent(
  action: AuditAction,
  before: ScimGroup | null,
  after: ScimGroup | null,
  { added, removed }: { readonly added: ReadonlySet<string>; readonly removed: ReadonlySet<string> },
): AuditEvent {
  const event = groupEvent(action, before, after)
  if (event.after === null) return event
  const moved = (ids: ReadonlySet<string>) => ({
    count: ids.size,
    ids: [...ids.values().take(MAX_NAMED_MEMBERS)],
  })
  const members = {
    ...(added.size === 0 ? {} : { added: moved(added) }),
    ...(removed.size === 0 ? {} : { removed: moved(removed) }),
  }
  return { ...event, after: { ...event.after, ...members } }
}

const groupEvent = eventsOf<ScimGroup>('scim-group', ({ displayName }) => displayName, scimGroupForm)

/** With the API key that was created for the Seat. */
export function bootstrapEvent(
  before: StoredSeat | null,
  after: StoredSeat,
  apiKey: ApiKey | null,
): AuditEvent {
  const event = seatEvent('bootstrap', before, after)
  return apiKey === null ? event : { ...event, after: { ...event.after, api_key: apiKeyForm(apiKey) } }
}

/** @param endedAt ms since the epoch; an ended session keeps its time */
export function sessionEvent(session: ListedSession, before: number | null, endedAt: number): AuditEvent {
  return {
    action: 'session.end',
    target: { kind: 'session', id: session.id, name: replaceUnstorable(session.user) },
    before: sessionForm(session, before),
    after: sessionForm(session, before ?? endedAt),
  }
}

export function revocationEvent(revocation: RecordedRevocation): AuditEvent {
  return {
    action: 'revocation.create',
    target: {
      kind: 'revocation',
      id: revocation.id,
      name: replaceUnstorable(subjectText(revocation.subject)),
    },
    before: null,
    after: revocationForm(revocation),
  }
}

/** A revocation as its entry has it. */
type RecordedRevocation = Omit<Revocation, 'tenant' | 'seq' | 'audit'>

/** @param before null: there was none */
export function tablesEvent(before: TablesVersion | null, after: TablesVersion): AuditEvent {
  return {
    action: 'tables.update',
    target: tablesTarget(after),
    before: before === null ? null : tablesForm(before),
    after: tablesForm(after),
  }
}

/** All versions have one id: an entry begins where the one before it ended. */
export function tablesTarget({ version }: Pick<TablesVersion, 'version'>) {
  return { kind: 'tables', id: 'tables', name: `version ${version}` } as const
}

/** Without the texts of the files. */
export function tablesForm({ version, digest, hash, entries }: TablesVersion): JsonObject {
  return { version, digest, hash, entries }
}

/** As `GET` shows it, without what instances and the feed add. */
export function revocationForm(revocation: RecordedRevocation): JsonObject {
  const { id, at, subject, what, origin, until, reason, apiKeys, ended, keptKey } = revocation
  const [[kind, value] = ['', '']] = Object.entries(subject)
  return {
    id,
    at: timeText(at),
    subject: { [kind]: typeof value === 'string' ? replaceUnstorable(value) : value },
    what,
    ...(origin === undefined ? {} : { origin }),
    ...(until === null ? {} : { until: timeText(until) }),
    ...(reason === null ? {} : { reason }),
    ...(apiKeys ? { api_keys: true } : {}),
    ended: { sessions: ended.sessions, api_keys: ended.apiKeys },
    ...(keptKey === null ? {} : { kept: [{ api_key: keptKey }] }),
  }
}

/** As `GET` shows it. */
export function blockForm(block: Block) {
  return {
    id: block.id,
    user: replaceUnstorable(block.user),
    origin: block.origin,
    ...(block.until === null ? {} : { until: timeText(block.until) }),
    ...(block.reason === null ? {} : { reason: replaceUnstorable(block.reason) }),
    created_by: replaceUnstorable(block.createdBy),
    created_at: timeText(block.createdAt),
  }
}

/** As `GET` shows it. */
export function grantForm(grant: ListedGrant) {
  return {
    id: grant.id,
    user: replaceUnstorable(grant.user),
    seat: replaceUnstorable(grant.seatName),
    seat_id: grant.seat,
    from: timeText(grant.from),
    until: timeText(grant.until),
    ...(grant.reason === null ? {} : { reason: replaceUnstorable(grant.reason) }),
    created_by: replaceUnstorable(grant.createdBy),
    created_at: timeText(grant.createdAt),
  }
}

function sessionForm(session: ListedSession, endedAt: number | null): JsonObject {
  return {
    id: session.id,
    user: replaceUnstorable(session.user),
    ...(session.email === null ? {} : { email: replaceUnstorable(session.email) }),
    kind: session.kind,
    ...(session.createdAt === null ? {} : { created_at: timeText(session.createdAt) }),
    expires_at: timeText(session.expiresAt),
    ...(endedAt === null ? {} : { ended_at: timeText(endedAt) }),
  }
}

/** As `GET` shows it. */
export function seatForm(seat: StoredSeat) {
  return {
    id: seat.id,
    name: replaceUnstorable(seat.name),
    spaces: seat.spaces.map(replaceUnstorable),
    permissions: seat.permissions.map(replaceUnstorable),
    created_by: replaceUnstorable(seat.createdBy),
    created_at: timeText(seat.createdAt),
    ...(seat.updatedBy === null ? {} : { updated_by: replaceUnstorable(seat.updatedBy) }),
    updated_at: timeText(seat.updatedAt ?? seat.createdAt),
  }
}

/** As `GET` shows it. */
export function apiKeyForm(key: ApiKey) {
  return {
    id: key.id,
    name: replaceUnstorable(key.name),
    seats: key.seats.map(replaceUnstorable),
    created_by: replaceUnstorable(key.createdBy),
    created_at: timeText(key.createdAt),
    ...(key.expiresAt === null ? {} : { expires_at: timeText(key.expiresAt) }),
    ...(key.owner === null ? {} : { owner: replaceUnstorable(key.owner) }),
    ...(key.revokedAt === null ? {} : { revoked_at: timeText(key.revokedAt) }),
  }
}

/** Without the attributes that concern no decision, such as telephone numbers. */
export function scimUserForm(user: ScimUser): JsonObject {
  return {
    id: user.id,
    user_name: user.userName,
    ...(user.externalId === null ? {} : { external_id: user.externalId }),
    active: user.active,
    ...(user.email === null ? {} : { email: user.email }),
    ...(user.displayName === null ? {} : { display_name: user.displayName }),
    version: user.version,
  }
}

export function scimGroupForm(group: ScimGroup): JsonObject {
  return {
    id: group.id,
    display_name: group.displayName,
    ...(group.externalId === null ? {} : { external_id: group.externalId }),
    members: group.memberCount,
    version: group.version,
  }
}

/** RFC 3339, UTC, milliseconds. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString()
}
