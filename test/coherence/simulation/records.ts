/** The records that are written and read: few, so that writes and requests coincide. */

import type { GrantReading } from '../../../seats-admin/model/readings.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { UserBlock } from '../../../seats-admin/model/block.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'

export const TENANT = 'acme'

/** A Seat, read by id and by name, an API key, a session, or the block of a user, whose `sub` is its id. */
export interface StoredRecord {
  readonly kind: 'seat' | 'api-key' | 'session' | 'block'
  readonly id: string
  readonly name: string
}

/** The state of a record between two writes. */
export interface Version {
  /** The number of the write; 0: before the first. */
  readonly seq: number
  /** False: deleted. */
  readonly exists: boolean
}

export const SEATS: readonly StoredRecord[] = [
  { kind: 'seat', id: 'seat-1', name: 'Viewer' },
  { kind: 'seat', id: 'seat-2', name: 'Editor' },
]
export const KEY: StoredRecord = { kind: 'api-key', id: 'key-1', name: '' }
export const SESSION: StoredRecord = { kind: 'session', id: 'session-1', name: '' }
export const BLOCK: StoredRecord = { kind: 'block', id: 'user-1', name: '' }

export const RECORDS: readonly StoredRecord[] = [...SEATS, KEY, SESSION, BLOCK]

export function recordBy(property: 'id' | 'name', value: string): StoredRecord {
  const found = RECORDS.find((each) => each[property] === value)
  if (found === undefined) throw new Error('no such record')
  return found
}

const HASH = new Uint8Array(4)

// The content of a version has its number, so that a reader can tell the version. Of a block, a decision tells only whether
// there is one.

export function seatOf({ id, name }: StoredRecord, { seq, exists }: Version): GrantReading | null {
  // The second Seat is a large one: the store answers one question about it at a time.
  const complete = id !== 'seat-2'
  return exists ? { id, name, complete, spaces: [], permissions: [`${seq}`] } : null
}

export function keyOf({ id }: StoredRecord, { seq, exists }: Version): StoredApiKey | null {
  return exists ? { id, tenant: TENANT, hash: HASH, seatIds: [], expiresAt: seq, revokedAt: null } : null
}

export function sessionOf({ id }: StoredRecord, { seq, exists }: Version): SessionRecord | null {
  const times = { issuedAt: seq, renewAt: 0, expiresAt: 0, endedAt: null }
  const session = {
    id,
    tenant: TENANT,
    cookieHash: null,
    user: BLOCK.id,
    email: null,
    hashPerm: [],
    ...times,
  }
  return exists ? session : null
}

export function blocksOf({ id }: StoredRecord, { exists }: Version): UserBlock[] {
  return exists ? [{ user: id, until: null }] : []
}
