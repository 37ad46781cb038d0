/** The records that are written and read: few, so that writes and requests coincide. */

import type { GrantReading } from '../../../seats-admin/model/readings.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'

export const TENANT = 'acme'

/** A Seat, read by id and by name, an API key, a session, or the block of a user, whose `sub` is its id. */
export interface StoredRecord {
  readonly kind: 'seat' | 'api-key' | 'session' | 'block'
  readonly id: string
  readonly name: string
}

/** The state of a record between two writes; all null: deleted. */
export interface Version {
  /** The number of the write. */
  readonly seq: number
  readonly seat: GrantReading | null
  readonly key: StoredApiKey | null
  readonly session: SessionRecord | null
  /** Of a block; it has no other content. */
  readonly blocked: boolean
}

const ABSENT = { seat: null, key: null, session: null, blocked: false }

/** Before its first write. */
export const NEVER_WRITTEN: Version = { seq: 0, ...ABSENT }

export const SESSION: StoredRecord = { kind: 'session', id: 'session-1', name: '' }
export const BLOCK: StoredRecord = { kind: 'block', id: 'user-1', name: '' }

export const RECORDS: readonly StoredRecord[] = [
  { kind: 'seat', id: 'seat-1', name: 'Viewer' },
  { kind: 'seat', id: 'seat-2', name: 'Editor' },
  { kind: 'api-key', id: 'key-1', name: '' },
  SESSION,
  BLOCK,
]

export function recordNamed(name: string): StoredRecord {
  return find((each) => each.name === name)
}

export function recordOf(id: string): StoredRecord {
  return find((each) => each.id === id)
}

function find(isIt: (record: StoredRecord) => boolean): StoredRecord {
  const found = RECORDS.find(isIt)
  if (found === undefined) throw new Error('no such record')
  return found
}

const HASH = new Uint8Array(4)

/** Contains its number, so that a reader can tell the version. A decision tells of a block only whether there is one. */
export function versionOf({ kind, id, name }: StoredRecord, seq: number, deleted: boolean): Version {
  if (deleted) return { seq, ...ABSENT }
  if (kind === 'block') return { seq, ...ABSENT, blocked: true }
  if (kind === 'session') return { seq, ...ABSENT, session: sessionOf(id, seq) }
  // The second Seat is a large one: the store answers one question about it at a time.
  const complete = id !== 'seat-2'
  if (kind === 'seat')
    return { seq, ...ABSENT, seat: { id, name, complete, spaces: [], permissions: [`${seq}`] } }
  const key = { id, tenant: TENANT, hash: HASH, seatIds: [], expiresAt: seq, revokedAt: null }
  return { seq, ...ABSENT, key }
}

function sessionOf(id: string, seq: number): SessionRecord {
  const times = { issuedAt: seq, renewAt: 0, expiresAt: 0, endedAt: null }
  return { id, tenant: TENANT, cookieHash: null, user: BLOCK.id, email: null, hashPerm: [], ...times }
}
