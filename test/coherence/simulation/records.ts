/** The records that are written and read: few, so that writes and requests coincide. */

import type { GrantReading } from '../../../seats-admin/model/readings.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'

export const TENANT = 'acme'

/** A Seat, read by id and by name, or an API key. */
export interface StoredRecord {
  readonly kind: 'seat' | 'api-key'
  readonly id: string
  readonly name: string
}

/** The state of a record between two writes; both null: deleted. */
export interface Version {
  /** The number of the write. */
  readonly seq: number
  readonly seat: GrantReading | null
  readonly key: StoredApiKey | null
}

export const RECORDS: readonly StoredRecord[] = [
  { kind: 'seat', id: 'seat-1', name: 'Viewer' },
  { kind: 'seat', id: 'seat-2', name: 'Editor' },
  { kind: 'api-key', id: 'key-1', name: '' },
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

/** Contains its number, so that a reader can tell the version. */
export function versionOf({ kind, id, name }: StoredRecord, seq: number, deleted: boolean): Version {
  if (deleted) return { seq, seat: null, key: null }
  // The second Seat is a large one: the store answers one question about it at a time.
  const complete = id !== 'seat-2'
  if (kind === 'seat')
    return { seq, seat: { id, name, complete, spaces: [], permissions: [`${seq}`] }, key: null }
  const key = { id, tenant: TENANT, hash: HASH, seatIds: [], expiresAt: seq, revokedAt: null }
  return { seq, seat: null, key }
}
