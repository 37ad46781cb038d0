/** Rules of writes to Seats. Pure. */

import type { Change } from '../model/change.ts'
import { matches, seatTag } from '../model/entity-tag.ts'
import { type AdminRefusal, grantExceedsOwn, inputInvalid, preconditionFailed } from '../model/refusal.ts'
import { administrates, mayManage } from '../model/scope.ts'
import { listSize, type SeatInput, type SeatLists, seatSize, type StoredSeat } from '../model/seat.ts'
import { ulid } from '../model/ulid.ts'
import type { Writer } from './store.ts'

/** Refusals of a new Seat that do not depend on stored data. */
export function refuseNewSeat(writer: Writer, input: SeatInput): AdminRefusal | null {
  return mayManage(writer.scope, input) ? largerThanAllowed(writer, input) : grantExceedsOwn
}

/** @param idTime the time part of the id */
export function newSeat(writer: Writer, idTime: number, input: SeatInput): StoredSeat {
  const { tenant, by, now } = writer
  const { name, spaces, permissions } = input
  const id = ulid(idTime)
  const times = { createdBy: by, createdAt: now, updatedBy: null, updatedAt: null }
  return { id, tenant, name, version: 1, spaces, permissions, ...times }
}

export function seatAfter(writer: Writer, before: StoredSeat, patch: Partial<SeatInput>): StoredSeat {
  const { by: updatedBy, now: updatedAt } = writer
  return { ...before, ...patch, version: before.version + 1, updatedBy, updatedAt }
}

/** `seat-writer.ts` checks whether a new name is taken. */
export function refuseUpdate(writer: Writer, before: StoredSeat, after: StoredSeat): AdminRefusal | null {
  if (!mayManage(writer.scope, after)) return grantExceedsOwn
  return refuseChange(writer, before) ?? largerThanAllowed(writer, after, before)
}

/** Refusals of an update or a deletion that depend on the Seat as it is. */
export function refuseChange(writer: Writer, seat: StoredSeat): AdminRefusal | null {
  if (!mayManage(writer.scope, seat)) return grantExceedsOwn
  return matches(writer.ifMatch ?? null, seatTag(seat)) ? null : preconditionFailed
}

/**
 * Whether the write takes the administration of the tenant from this Seat. Another Seat must administrate it
 * then. Outside the admin space such Seats can't be written.
 *
 * @param after null for a deletion
 */
export function endsAdministration({ scope }: Writer, before: StoredSeat, after: StoredSeat | null): boolean {
  if (!scope.admin || !administrates(before, scope.space)) return false
  return after === null || !administrates(after, scope.space)
}

/**
 * @param before null for a new Seat
 * @returns null if the size is allowed, or the Seat was larger than allowed before and its lists don't grow
 */
export function largerThanAllowed(
  { seatBytes = Infinity }: Pick<Writer, 'seatBytes'>,
  after: SeatInput,
  before: SeatInput | null = null,
): AdminRefusal | null {
  const size = seatSize(after)
  if (size <= seatBytes) return null
  const listsGrow = before === null || listsSize(after) > listsSize(before)
  // A Seat that is too large may be renamed, and its lists may be replaced by lists of at most the same size.
  if (before !== null && seatSize(before) > seatBytes && !listsGrow) return null
  const longest = listSize(after.spaces) > listSize(after.permissions) ? '/spaces' : '/permissions'
  const path = listsGrow ? longest : '/name'
  const message = `makes the Seat too large: it takes ${size} bytes, and limits.seat_bytes is ${seatBytes}`
  return inputInvalid([{ path, message }])
}

function listsSize({ spaces, permissions }: SeatLists): number {
  return listSize(spaces) + listSize(permissions)
}

/** @param givenUp the old name of a renamed Seat */
export function changesOf({ tenant, id, name }: StoredSeat, givenUp: string | null = null): Change[] {
  const changes: Change[] = [
    { tenant, kind: 'seat', key: id },
    { tenant, kind: 'seat-name', key: name },
  ]
  if (givenUp !== null) changes.push({ tenant, kind: 'seat-name', key: givenUp })
  return changes
}

/** A deletion also changes the API keys with the Seat. */
export function deletionChanges(seat: StoredSeat, apiKeyIds: readonly string[]): Change[] {
  const { tenant } = seat
  return [...changesOf(seat), ...apiKeyIds.map((key) => ({ tenant, kind: 'api-key', key }) as const)]
}
