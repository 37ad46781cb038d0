/** All permissions of a caller in a space, for built-in endpoints that grant permissions. */

import { EVERY_PERMISSION } from '../../../seats-admin/model/permission.ts'
import { GRANT_ANY, SEAT_RIGHTS } from '../../../seats-admin/model/scope.ts'
import type { ResolvedSeats, Trace } from '../../model/decision.ts'
import type { HeldPermissions } from '../../model/route.ts'
import type { SeatMemory } from './memory.ts'

/** Reads a whole Seat from the store, whatever its size. */
export type WholeSeats = Pick<SeatMemory, 'wholeSeat'>

/**
 * The most permissions of one caller, in the order of the credential's Seats, in addition to {@link
 * DECIDING}. A caller that holds more, and neither `*` nor `seats:grant`, can't grant the rest.
 */
export const MAX_HELD = 10_000

/**
 * The rights that endpoints check in addition to the one of their route: never left out, however many
 * permissions the caller holds.
 */
const DECIDING: ReadonlySet<string> = new Set([GRANT_ANY, ...Object.values(SEAT_RIGHTS)])

/** The permissions of the Seats in the space. Rejects if the store can't be asked. */
export async function heldPermissions(
  seats: WholeSeats,
  tenant: string,
  { entries }: ResolvedSeats,
  space: string,
  trace: Trace,
): Promise<HeldPermissions> {
  const permissions = new Set<string>()
  const deciding = new Set<string>()
  for (const { seat, nameGivenUp } of entries) {
    if (nameGivenUp || seat === null || !seat.spaces.has(space)) continue
    if (seat.permissions.has(EVERY_PERMISSION)) return EVERYTHING
    const held = seat.complete ? seat.permissions : await permissionsOf(seats, tenant, seat.id, space, trace)
    for (const permission of held) {
      if (permission === EVERY_PERMISSION) return EVERYTHING
      if (DECIDING.has(permission)) deciding.add(permission)
      else if (permissions.size < MAX_HELD) permissions.add(permission)
    }
    // Together they decide every question about the caller: no further Seat is read.
    if (deciding.size === DECIDING.size) break
  }
  // A holder of seats:grant may grant the others too, whether it holds them or not.
  return { all: false, permissions: deciding.has(GRANT_ANY) ? deciding : permissions.union(deciding) }
}

/** The permissions of the Seat as it is now: it may have lost the space, or be deleted. */
async function permissionsOf(seats: WholeSeats, tenant: string, id: string, space: string, trace: Trace) {
  const seat = await seats.wholeSeat(tenant, id, trace)
  return seat?.spaces.includes(space) ? seat.permissions : []
}

const EVERYTHING: HeldPermissions = { all: true, permissions: new Set([EVERY_PERMISSION]) }
