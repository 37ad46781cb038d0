/** Records as memory keeps them, and their sizes. */

import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { GrantReading } from '../../../seats-admin/model/readings.ts'
import type { MembershipReading } from '../../../seats-admin/model/scim.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import {
  authorizationBytes,
  listBytes,
  MAP_BYTES,
  OBJECT_BYTES,
  SET_ENTRY_BYTES,
  textBytes,
  textsBytes,
} from '../../lib/heap-size.ts'
import type { Seat } from '../../model/decision-seat.ts'
import { DEACTIVATED, type Groups } from '../../model/membership.ts'

/** Members one by one: a copy by spread takes more memory (`test/decision/seats/heap-size.slow.test.ts`). */
export function compileSeat(row: GrantReading | null): Seat | null {
  if (row === null) return null
  return Object.freeze({
    id: row.id,
    name: row.name,
    complete: row.complete,
    spaces: new Set(row.spaces),
    permissions: new Set(row.permissions),
  })
}

/** A copy: a driver's buffer may be a slice of a 64 KiB block, which it would retain. */
function copied(hash: Uint8Array): Uint8Array {
  return Uint8Array.from(hash)
}

export function compileSession(row: SessionRecord | null): SessionRecord | null {
  if (row === null) return null
  const { cookieHash } = row
  // The tokens of a refresh family have their own entries.
  if (cookieHash === null) return Object.freeze({ ...row, hashPerm: [] })
  return Object.freeze({ ...row, cookieHash: copied(cookieHash) })
}

export function compileKey(row: StoredApiKey | null): StoredApiKey | null {
  if (row === null) return null
  return Object.freeze({
    id: row.id,
    tenant: row.tenant,
    hash: copied(row.hash),
    seatIds: row.seatIds,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
    owner: row.owner,
  })
}

export function compileGroups({ user }: MembershipReading): Groups | null {
  if (user === null) return null
  return user.active ? Object.freeze([...user.groups]) : DEACTIVATED
}

// Upper estimates of an entry's size in the heap, in bytes.

export function seatBytes(seat: Seat | null): number {
  if (seat === null) return MISSING_SEAT
  const { id, name, spaces, permissions } = seat
  const sets = OBJECT_BYTES + 2 * MAP_BYTES + SET_ENTRY_BYTES * (spaces.size + permissions.size)
  return sets + textBytes(id) + textBytes(name) + textsBytes(spaces) + textsBytes(permissions)
}

export function keyBytes({ id, tenant, seatIds, owner }: StoredApiKey): number {
  // Three objects: authentication keeps the principal with its mark. And the names of its Seats, which cached
  // authorizations hold.
  const authorization = authorizationBytes(seatIds.length) + NAME * seatIds.length
  const texts = textsBytes([id, tenant, owner ?? ''])
  return 3 * OBJECT_BYTES + HASH + texts + listBytes(seatIds) + authorization
}

export function sessionBytes(session: SessionRecord): number {
  const { id, tenant, user, email, hashPerm, member = '' } = session
  const texts = textsBytes([id, tenant, user, email ?? '', member])
  // Twice: authentication splits the entries into spaces and names, and keeps both.
  const entries = 2 * listBytes(hashPerm) + SPLIT_ENTRY * hashPerm.length
  return 2 * OBJECT_BYTES + HASH + texts + entries + authorizationBytes(hashPerm.length)
}

export function groupsBytes(groups: readonly string[]): number {
  return OBJECT_BYTES + listBytes(groups) + authorizationBytes(groups.length)
}

/** The bytes of a name without a Seat. */
const MISSING_SEAT = 50
/** A name of 256 characters, two code units each. */
const NAME = 1048
/** 32 bytes in an array of their own. */
const HASH = 250
/** A space with its list of names. */
const SPLIT_ENTRY = 250
