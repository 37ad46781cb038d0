/** Heap size of cached entries, in bytes; upper estimates. */

import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import type { BlockList } from './blocks.ts'
import type { Seat } from '../../model/decision-seat.ts'
import {
  listBytes,
  MAP_BYTES,
  SET_ENTRY_BYTES,
  authorizationBytes,
  textBytes,
  textsBytes,
} from '../../lib/heap-size.ts'

/** Bytes of an entry: key, value and links. */
export function entryBytes(key: string, value: number): number {
  return LINKS + textBytes(key) + value
}

/** In the map and in the ledger. */
const LINKS = 360

export function seatBytes(seat: Seat | null): number {
  if (seat === null) return MISSING_SEAT
  const { id, name, spaces, permissions } = seat
  const sets = OBJECT + 2 * MAP_BYTES + SET_ENTRY_BYTES * (spaces.size + permissions.size)
  return sets + textBytes(id) + textBytes(name) + textsBytes(spaces) + textsBytes(permissions)
}

export function keyBytes({ id, tenant, seatIds }: StoredApiKey): number {
  // Three objects: authentication keeps the principal with its mark. And the names of its Seats, which cached
  // authorizations hold.
  const authorization = authorizationBytes(seatIds.length) + NAME * seatIds.length
  return 3 * OBJECT + HASH + textBytes(id) + textBytes(tenant) + listBytes(seatIds) + authorization
}

export function sessionBytes(session: SessionRecord): number {
  const { id, tenant, user, email, hashPerm } = session
  const texts = textsBytes([id, tenant, user, email ?? ''])
  // Twice: authentication splits the entries into spaces and names, and keeps both.
  const entries = 2 * listBytes(hashPerm) + SPLIT_ENTRY * hashPerm.length
  return 2 * OBJECT + HASH + texts + entries + authorizationBytes(hashPerm.length)
}

export function blockListBytes(list: BlockList): number {
  if (list === null) return 0
  const { ends } = list
  const entries = textsBytes(ends.keys()) + ends.size * (SET_ENTRY_BYTES + NUMBER)
  return OBJECT + NUMBER + MAP_BYTES + entries
}

/** A number that is no small integer. */
const NUMBER = 16

/** For a name without a Seat. */
const MISSING_SEAT = 50

/** A name of 256 characters, two code units each. */
const NAME = 1048

/** 32 bytes in an array of their own. */
const HASH = 250

/** A space with its list of names. */
const SPLIT_ENTRY = 250

/** With its numbers. */
const OBJECT = 200

/** The block of one user. */
export const BLOCK_END = OBJECT + 2 * NUMBER
