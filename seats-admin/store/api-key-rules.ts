/**
 * What a write to an API key makes of the rows that a driver has read in its transaction. Called by the drivers' API
 * key writers.
 */

import { randomBytes } from 'node:crypto'
import { type ApiKey, formatApiKey } from '../model/api-key.ts'
import type { Change } from '../model/change.ts'
import { type AdminRefusal, unknownSeats } from '../model/refusal.ts'
import { crockford, ulid } from '../model/ulid.ts'
import type { ApiKeyInput, Writer } from './store.ts'

/** 5 bits of each become a character: 130 random bits. */
const RANDOM_BYTES = 26

/** @param idTime the time part of the id */
export function newApiKey(writer: Writer, idTime: number, input: ApiKeyInput): ApiKey & { key: string } {
  const { tenant, by, now } = writer
  const { name, seats, expiresAt } = input
  const id = ulid(idTime, randomBytes(16))
  const key = formatApiKey(tenant, id, crockford(randomBytes(RANDOM_BYTES)))
  const times = { createdBy: by, createdAt: now, expiresAt, revokedAt: null }
  return { id, tenant, name, seats, ...times, key }
}

/** @returns the ids of the Seats of these names, in their order, or a refusal that says which are none */
export function seatIdsOf(
  names: readonly string[],
  found: ReadonlyMap<string, string>,
): readonly string[] | AdminRefusal {
  const unknown = [...names.keys()].filter((at) => !found.has(names[at] ?? ''))
  return unknown.length > 0 ? unknownSeats(unknown) : names.map((name) => found.get(name) ?? '')
}

export function apiKeyChange(tenant: string, id: string): Change {
  return { tenant, kind: 'api-key', key: id }
}
