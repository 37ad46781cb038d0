/**
 * Entity tags of Seats, API keys, SCIM users and groups, and route tables (RFC 9110, section 8.8.3). Strong:
 * each write makes another one, also if it restores an earlier state. The time is part of a tag, because a
 * restored backup counts its versions again. `api/admin-endpoint.ts` reads `If-Match`. The writers of the
 * store compare it in the transaction of the write.
 */

import { hash } from 'node:crypto'
import type { ApiKey } from './api-key.ts'
import type { ScimGroup, ScimUser } from './scim.ts'
import type { StoredSeat } from './seat.ts'
import type { ActiveTables } from './tables-version.ts'

/** `*` matches whatever exists; otherwise the strong tags of the list. Weak tags match nothing. */
export type IfMatch = '*' | readonly string[]

/** Hexadecimal digits. */
const DIGITS = 12

export function seatTag({ id, version, createdAt, updatedAt }: StoredSeat): string {
  return tagOf(version, [id, createdAt, updatedAt])
}

/** With the names of the Seats, which change without a write to the key. */
export function apiKeyTag({ id, version, createdAt, revokedAt, seats }: ApiKey): string {
  return tagOf(version, [id, createdAt, revokedAt, seats])
}

/**
 * The tag of a SCIM user or group. SCIM shows tags as weak (RFC 7644, section 3.14): `W/` is no part of this
 * text.
 */
export function scimTag({ id, version, createdAt, modifiedAt }: ScimUser | ScimGroup): string {
  return tagOf(version, [id, createdAt, modifiedAt])
}

/** The tag of the active tables. After a restore of the store, the same version has it with the same files. */
export function tablesTag({ version, digest }: Pick<ActiveTables, 'version' | 'digest'>): string {
  return tagOf(version, [digest])
}

/** @param condition null: there is none */
export function matches(condition: IfMatch | null, tag: string): boolean {
  return condition === null || condition === '*' || condition.includes(tag)
}

function tagOf(version: number, state: readonly unknown[]): string {
  const digest = hash('sha256', JSON.stringify([version, ...state]), 'hex')
  return `"${version}-${digest.slice(0, DIGITS)}"`
}
