/** Rules of writes to API keys that both drivers share. */

import { randomBytes } from 'node:crypto'
import { type ApiKey, formatApiKey } from '../model/api-key.ts'
import type { Change } from '../model/change.ts'
import { type AdminRefusal, unknownSeats } from '../model/refusal.ts'
import { crockford, ulid } from '../model/ulid.ts'
import type { ApiKeyInput, Writer } from './store.ts'

/** 5 bits of each byte are used: 130 random bits. */
const RANDOM_BYTES = 26

/** @param idTime the time part of the id */
export function newApiKey(writer: Writer, idTime: number, input: ApiKeyInput): ApiKey & { key: string } {
  const { tenant, by, now } = writer
  const { name, seats, expiresAt } = input
  const id = ulid(idTime, randomBytes(16))
  const key = formatApiKey(tenant, id, crockford(randomBytes(RANDOM_BYTES)))
  const times = { createdBy: by, createdAt: now, expiresAt, revokedAt: null, lastUsedAt: null }
  return { id, tenant, name, version: 1, seats, ...times, key }
}

/** @returns the ids of the named Seats in order, or a refusal that lists the unknown names */
export function seatIdsOf(
  names: readonly string[],
  found: ReadonlyMap<string, string>,
): readonly string[] | AdminRefusal {
  const unknown = [...names.keys()].filter((at) => !found.has(names[at] ?? ''))
  return unknown.length > 0 ? unknownSeats(unknown) : names.map((name) => found.get(name) ?? '')
}

/** A second revocation keeps the first time. */
export function revoked(key: ApiKey, now: number): ApiKey {
  return { ...key, version: key.version + 1, revokedAt: key.revokedAt ?? now }
}

export function apiKeyChange(tenant: string, id: string): Change {
  return { tenant, kind: 'api-key', key: id }
}
