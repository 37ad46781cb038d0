/** The JSON forms of Seats and API keys. The endpoints return different fields, so each has its own form. */

import type { ApiKey } from '../model/api-key.ts'
import type { ListedSeat, StoredSeat } from '../model/seat.ts'

export function createdSeat(seat: StoredSeat) {
  return {
    id: seat.id,
    name: seat.name,
    spaces: seat.spaces,
    permissions: seat.permissions,
    created_by: seat.createdBy,
    created_at: time(seat.createdAt),
  }
}

/** Before the first update `updated_at` equals `created_at`, and `updated_by` is absent. */
export function seat(stored: StoredSeat) {
  return {
    ...createdSeat(stored),
    ...(stored.updatedBy === null ? {} : { updated_by: stored.updatedBy }),
    updated_at: time(stored.updatedAt ?? stored.createdAt),
  }
}

export function listedSeat(listed: ListedSeat) {
  return {
    id: listed.id,
    name: listed.name,
    spaces: listed.spaces,
    permissions: listed.permissions,
    member_count: listed.memberCount,
    created_at: time(listed.createdAt),
  }
}

export function apiKey(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    seats: key.seats,
    created_by: key.createdBy,
    created_at: time(key.createdAt),
    ...(key.expiresAt === null ? {} : { expires_at: time(key.expiresAt) }),
    ...(key.revokedAt === null ? {} : { revoked_at: time(key.revokedAt) }),
  }
}

/** The only response with the key's text. */
export function createdApiKey(made: ApiKey & { readonly key: string }) {
  return { ...apiKey(made), key: made.key }
}

export function listing<V, S>(
  { data, hasMore }: { data: readonly V[]; hasMore: boolean },
  view: (item: V) => S,
) {
  return { data: data.map(view), has_more: hasMore, count: data.length }
}

/** RFC 3339, UTC, milliseconds. */
function time(ms: number): string {
  return new Date(ms).toISOString()
}
