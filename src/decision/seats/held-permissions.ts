/** All that a caller holds in a space, for built-in endpoints that hand it on. */

import { EVERY_PERMISSION } from '../../../seats-admin/model/permission.ts'
import { GRANT_ANY } from '../../../seats-admin/model/scope.ts'
import type { ResolvedSeats } from '../../model/decision.ts'
import type { HeldPermissions } from '../../model/route.ts'

/** Reads a Seat from the store, whatever its size. */
export interface WholeSeats {
  wholeSeat(tenant: string, id: string): Promise<SeatLists | null>
}

export interface SeatLists {
  readonly spaces: Iterable<string>
  readonly permissions: Iterable<string>
}

/**
 * Permissions of one caller that count, in the order of the Seats that the credential names. A caller that holds more,
 * and neither `*` nor `seats:grant`, can't hand on the rest.
 */
export const MOST_HELD = 10_000

/** Rejects when the store can't be asked. */
export async function heldPermissions(
  seats: WholeSeats,
  tenant: string,
  { entries }: ResolvedSeats,
  space: string,
): Promise<HeldPermissions> {
  const permissions = new Set<string>()
  for (const { seat, givenUp } of entries) {
    if (givenUp || seat === null || !seat.spaces.has(space)) continue
    if (seat.permissions.has(EVERY_PERMISSION)) return EVERYTHING
    const lists = seat.complete ? seat : await wholeOf(seats, tenant, seat.id, space)
    for (const permission of lists.permissions) {
      // Either settles whatever may be asked.
      if (permission === EVERY_PERMISSION) return EVERYTHING
      if (permission === GRANT_ANY) return GRANTING
      if (permissions.size < MOST_HELD) permissions.add(permission)
    }
  }
  return { all: false, permissions }
}

/** As it is by now: it may have lost the space, or be gone. */
async function wholeOf(seats: WholeSeats, tenant: string, id: string, space: string): Promise<SeatLists> {
  const found = await seats.wholeSeat(tenant, id)
  return found !== null && [...found.spaces].includes(space) ? found : NONE
}

const EVERYTHING: HeldPermissions = { all: true, permissions: new Set([EVERY_PERMISSION]) }
const GRANTING: HeldPermissions = { all: false, permissions: new Set([GRANT_ANY]) }
const NONE: SeatLists = { spaces: [], permissions: [] }
