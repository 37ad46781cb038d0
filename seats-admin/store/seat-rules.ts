/**
 * What a write to a Seat is refused for, and what it makes of the rows that a driver has read in its transaction.
 * Called by the drivers' Seat writers.
 */

import { randomBytes } from 'node:crypto'
import type { Change } from '../model/change.ts'
import { type AdminRefusal, grantExceedsOwn, inputInvalid, seatNotFound } from '../model/refusal.ts'
import { administrates, mayManage } from '../model/scope.ts'
import { listSize, seatSize, type StoredSeat } from '../model/seat.ts'
import { ulid } from '../model/ulid.ts'
import type { SeatInput, Writer } from './store.ts'

export interface SeatUpdate {
  readonly after: StoredSeat
  /** The name from before, if it is another now. */
  readonly givenUp: string | null
  /** As {@link endsAdministration} says. */
  readonly endsAdministration: boolean
  readonly changes: readonly Change[]
}

/** @param idTime the time part of the id */
export function newSeat(writer: Writer, idTime: number, input: SeatInput): StoredSeat {
  const { tenant, by, now } = writer
  const { name, spaces, permissions } = input
  const id = ulid(idTime, randomBytes(16))
  const times = { createdBy: by, createdAt: now, updatedBy: null, updatedAt: null }
  return { id, tenant, name, spaces, permissions, ...times }
}

/** Whether the new name is taken is the driver's to ask. */
export function planUpdate(
  writer: Writer,
  before: StoredSeat | null,
  patch: Partial<SeatInput>,
): SeatUpdate | AdminRefusal {
  if (before === null) return seatNotFound
  const { by, scope, now } = writer
  const after: StoredSeat = { ...before, ...patch, updatedBy: by, updatedAt: now }
  if (!mayManage(scope, before) || !mayManage(scope, after)) return grantExceedsOwn
  const tooLarge = largerThanAllowed(writer, after, before)
  if (tooLarge !== null) return tooLarge
  const givenUp = after.name === before.name ? null : before.name
  const ends = endsAdministration({ scope }, before, after)
  return { after, givenUp, endsAdministration: ends, changes: changesOf(after, givenUp) }
}

/**
 * Whether the write leaves the tenant without this Seat as one that can administrate it. Then there must be another.
 * Outside the admin space no such Seat can be written to.
 * @param after null: it is deleted
 */
export function endsAdministration(
  { scope }: Pick<Writer, 'scope'>,
  before: StoredSeat,
  after: StoredSeat | null,
): boolean {
  if (!scope.admin || !administrates(before, scope.space)) return false
  return after === null || !administrates(after, scope.space)
}

/**
 * Null where the Seat's record has a size that is allowed, or was larger than that before and its lists don't grow.
 * @param before null for a new Seat
 */
export function largerThanAllowed(
  { seatBytes = Infinity }: Writer,
  after: SeatInput,
  before: SeatInput | null = null,
): AdminRefusal | null {
  const size = seatSize(after)
  if (size <= seatBytes) return null
  const listsGrow = before === null || listsSize(after) > listsSize(before)
  // A Seat that has more than is allowed may be renamed, and its lists may be replaced by others that take no more.
  if (before !== null && seatSize(before) > seatBytes && !listsGrow) return null
  const longest = listSize(after.spaces) > listSize(after.permissions) ? '/spaces' : '/permissions'
  const path = listsGrow ? longest : '/name'
  const message = `makes the Seat too large: its record takes ${size} bytes, and limits.seat_bytes is ${seatBytes}`
  return inputInvalid([{ path, message }])
}

function listsSize({ spaces, permissions }: SeatInput): number {
  return listSize(spaces) + listSize(permissions)
}

/** @returns the Seat itself where it may be deleted */
export function planDeletion({ scope }: Writer, seat: StoredSeat | null): StoredSeat | AdminRefusal {
  if (seat === null) return seatNotFound
  return mayManage(scope, seat) ? seat : grantExceedsOwn
}

/** @param givenUp a further name that means something else now */
export function changesOf({ tenant, id, name }: StoredSeat, givenUp: string | null = null): Change[] {
  const changes: Change[] = [
    { tenant, kind: 'seat', key: id },
    { tenant, kind: 'seat-name', key: name },
  ]
  if (givenUp !== null) changes.push({ tenant, kind: 'seat-name', key: givenUp })
  return changes
}

/** Of a deletion: the API keys that held it have changed too. */
export function deletionChanges(seat: StoredSeat, apiKeyIds: readonly string[]): Change[] {
  const { tenant } = seat
  return [...changesOf(seat), ...apiKeyIds.map((key) => ({ tenant, kind: 'api-key', key }) as const)]
}

/**
 * Whole seconds by the writer's clock, for the mark that a name given up gets for good, so that a token issued before
 * gains nothing through a later Seat of this name. While the call waited for its turn the old Seat still stood: a token
 * issued meanwhile is one from before, too. The mark is the later of this and the store's own time: neither clock alone
 * can set it too early.
 * @param waited ms since the call was made
 */
export function givenUpAt({ now }: Writer, waited: number): number {
  return Math.floor((now + waited) / 1000)
}
