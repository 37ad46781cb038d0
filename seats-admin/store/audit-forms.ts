/** What the audit records of a change: Seats, API keys, blocks and sessions as their `GET` shows them. Never a key's text or its hash. */

import type { AuditAction } from '../model/audit.ts'
import type { ApiKey } from '../model/api-key.ts'
import type { Block } from '../model/block.ts'
import type { JsonObject } from '../model/canonical-json.ts'
import type { StoredSeat } from '../model/seat.ts'
import type { ListedSession } from '../model/session-record.ts'
import { type AuditEvent, storable } from './audit-chain.ts'

/** @param before null: the Seat is new; @param after null: it is deleted */
export function seatEvent(
  action: AuditAction,
  before: StoredSeat | null,
  after: StoredSeat | null,
): AuditEvent {
  const shown = after ?? before
  if (shown === null) throw new Error('an entry has a Seat before or after')
  return {
    action,
    target: { kind: 'seat', id: shown.id, name: storable(shown.name) },
    before: before === null ? null : seatForm(before),
    after: after === null ? null : seatForm(after),
  }
}

/** @param before null: the key is new */
export function apiKeyEvent(action: AuditAction, before: ApiKey | null, after: ApiKey): AuditEvent {
  return {
    action,
    target: { kind: 'api-key', id: after.id, name: storable(after.name) },
    before: before === null ? null : apiKeyForm(before),
    after: apiKeyForm(after),
  }
}

/** With the API key that was created for the Seat. */
export function bootstrapEvent(
  before: StoredSeat | null,
  after: StoredSeat,
  apiKey: ApiKey | null,
): AuditEvent {
  const event = seatEvent('bootstrap', before, after)
  return apiKey === null ? event : { ...event, after: { ...event.after, api_key: apiKeyForm(apiKey) } }
}

/** @param before null: the user was not blocked; @param after null: the block is deleted */
export function blockEvent(before: Block | null, after: Block | null): AuditEvent {
  const shown = after ?? before
  if (shown === null) throw new Error('an entry has a block before or after')
  return {
    action: after === null ? 'block.delete' : 'block.create',
    target: { kind: 'block', id: shown.id, name: storable(shown.user) },
    before: before === null ? null : blockForm(before),
    after: after === null ? null : blockForm(after),
  }
}

/** @param endedAt ms since the epoch; an ended session keeps its time */
export function sessionEvent(session: ListedSession, before: number | null, endedAt: number): AuditEvent {
  return {
    action: 'session.end',
    target: { kind: 'session', id: session.id, name: storable(session.user) },
    before: sessionForm(session, before),
    after: sessionForm(session, before ?? endedAt),
  }
}

/** As `GET` shows it. */
export function blockForm(block: Block): JsonObject {
  return {
    id: block.id,
    user: storable(block.user),
    ...(block.until === null ? {} : { until: time(block.until) }),
    ...(block.reason === null ? {} : { reason: storable(block.reason) }),
    created_by: storable(block.createdBy),
    created_at: time(block.createdAt),
  }
}

function sessionForm(session: ListedSession, endedAt: number | null): JsonObject {
  return {
    id: session.id,
    user: storable(session.user),
    ...(session.email === null ? {} : { email: storable(session.email) }),
    kind: session.kind,
    ...(session.createdAt === null ? {} : { created_at: time(session.createdAt) }),
    expires_at: time(session.expiresAt),
    ...(endedAt === null ? {} : { ended_at: time(endedAt) }),
  }
}

/** As `GET` shows it. */
export function seatForm(seat: StoredSeat): JsonObject {
  return {
    id: seat.id,
    name: storable(seat.name),
    spaces: seat.spaces.map(storable),
    permissions: seat.permissions.map(storable),
    created_by: storable(seat.createdBy),
    created_at: time(seat.createdAt),
    ...(seat.updatedBy === null ? {} : { updated_by: storable(seat.updatedBy) }),
    updated_at: time(seat.updatedAt ?? seat.createdAt),
  }
}

/** As `GET` shows it. */
export function apiKeyForm(key: ApiKey): JsonObject {
  return {
    id: key.id,
    name: storable(key.name),
    seats: key.seats.map(storable),
    created_by: storable(key.createdBy),
    created_at: time(key.createdAt),
    ...(key.expiresAt === null ? {} : { expires_at: time(key.expiresAt) }),
    ...(key.revokedAt === null ? {} : { revoked_at: time(key.revokedAt) }),
  }
}

/** RFC 3339, UTC, milliseconds. */
function time(ms: number): string {
  return new Date(ms).toISOString()
}
