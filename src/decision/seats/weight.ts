/** What the things that memory holds take of the heap: bytes, rather too many than too few. */

import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { SessionRecord } from '../../../seats-admin/model/session.ts'
import type { Seat } from '../../model/seat.ts'
import {
  listBytes,
  MAP_BYTES,
  SET_ENTRY_BYTES,
  authorizationBytes,
  textBytes,
  textsBytes,
} from '../../lib/heap-size.ts'

/** Bytes of an entry: its key's, its value's, and those of its places. */
export function entryBytes(key: string, value: number): number {
  return PLACES + textBytes(key) + value
}

/** In the map and in the order of use. */
const PLACES = 300

export function seatBytes(seat: Seat | null): number {
  if (seat === null) return NAMED
  const { id, name, spaces, permissions } = seat
  const sets = OBJECT + 2 * MAP_BYTES + SET_ENTRY_BYTES * (spaces.size + permissions.size)
  return sets + textBytes(id) + textBytes(name) + textsBytes(spaces) + textsBytes(permissions)
}

export function keyBytes({ id, tenant, seatIds }: StoredApiKey): number {
  // Twice: authentication keeps what it means to a decision. And the names of its Seats, which outcomes have.
  const authorization = authorizationBytes(seatIds.length) + NAME * seatIds.length
  return 2 * OBJECT + HASH + textBytes(id) + textBytes(tenant) + listBytes(seatIds) + authorization
}

export function sessionBytes(session: SessionRecord): number {
  const { id, tenant, user, email, hashPerm } = session
  const texts = textsBytes([id, tenant, user, email ?? ''])
  // Twice: authentication reads the entries into spaces and names, and keeps these beside them.
  const entries = 2 * listBytes(hashPerm) + READ * hashPerm.length
  return 2 * OBJECT + HASH + texts + entries + authorizationBytes(hashPerm.length)
}

/** That a name has no Seat, and since when. */
const NAMED = 50

/** A name of 256 characters, each of two code units. */
const NAME = 1048

/** 32 bytes as an array of its own. */
const HASH = 250

/** A space with a list of names of its own. */
const READ = 250

/** With its numbers. */
const OBJECT = 200
