/** What there is to write and to read: few, so that writes and requests meet. */

import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { SeatRow } from '../../../src/decision/seats/memory.ts'

export const TENANT = 'acme'

/** A Seat, read by id and by name, or an API key. */
export interface Thing {
  readonly kind: 'seat' | 'api-key'
  readonly id: string
  readonly name: string
}

/** What is stored of it from one write to the next; both null: it was deleted. */
export interface Version {
  /** The number of the write. */
  readonly seq: number
  readonly seat: SeatRow | null
  readonly key: StoredApiKey | null
}

export const THINGS: readonly Thing[] = [
  { kind: 'seat', id: 'seat-1', name: 'Viewer' },
  { kind: 'seat', id: 'seat-2', name: 'Editor' },
  { kind: 'api-key', id: 'key-1', name: '' },
]

export function thingNamed(name: string): Thing {
  return find((each) => each.name === name)
}

export function thingOf(id: string): Thing {
  return find((each) => each.id === id)
}

function find(isIt: (thing: Thing) => boolean): Thing {
  const found = THINGS.find(isIt)
  if (found === undefined) throw new Error('no such thing')
  return found
}

const HASH = new Uint8Array(4)

/** Its number is in it, so that whoever reads it can say which one it is. */
export function versionOf({ kind, id, name }: Thing, seq: number, deleted: boolean): Version {
  if (deleted) return { seq, seat: null, key: null }
  // The second Seat is a large one, of which the store answers one question at a time.
  const complete = id !== 'seat-2'
  if (kind === 'seat')
    return { seq, seat: { id, name, complete, spaces: [], permissions: [`${seq}`] }, key: null }
  const key = { id, tenant: TENANT, hash: HASH, seatIds: [], expiresAt: seq, revokedAt: null }
  return { seq, seat: null, key }
}
