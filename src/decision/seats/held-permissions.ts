/** All permissions of a caller in a space, for built-in endpoints that grant permissions. */

import { EVERY_PERMISSION } from '../../../seats-admin/model/permission.ts'
import { GRANT_ANY } from '../../../seats-admin/model/scope.ts'
import type { ResolvedSeats } from '../../model/decision.ts'
import type { HeldPermissions } from '../../model/route.ts'
import type { SeatMemory } from './memory.ts'

/** Reads a whole Seat from the store, whatever its size. */
export type WholeSeats = Pick<SeatMemory, 'wholeSeat'>

/**
 * Bound of one caller's permissions, in the order of the credential's Seats. A caller that holds more, and neither `*`
 * nor `seats:grant`, can't grant the rest.
 */
export const MAX_HELD = 10_000

/** Rejects when the store can't be asked. */
export async function heldPermissions(
  seats: WholeSeats,
  tenant: string,
  { entries }: ResolvedSeats,
  space: string,
): Promise<HeldPermissions> {
  const permissions = new Set<string>()
  for (const { seat, nameGivenUp } of entries) {
    if (nameGivenUp || seat === null || !seat.spaces.has(space)) continue
    if (seat.permissions.has(EVERY_PERMISSION)) return EVERYTHING
    const held = seat.complete ? seat.permissions : await permissionsOf(seats, tenant, seat.id, space)
    for (const permission of held) {
      // Either of these decides every question about the caller.
      if (permission === EVERY_PERMISSION) return EVERYTHING
      if (permission === GRANT_ANY) return GRANTING
      if (permissions.size < MAX_HELD) permissions.add(permission)
    }
  }
  return { all: false, permissions }
}

/** The current state: the Seat may have lost the space, or be deleted. */
async function permissionsOf(seats: WholeSeats, tenant: string, id: string, space: string) {
  const found = await seats.wholeSeat(tenant, id)
  return found?.spaces.includes(space) ? found.permissions : []
}

const EVERYTHING: HeldPermissions = { all: true, permissions: new Set([EVERY_PERMISSION]) }
const GRANTING: HeldPermissions = { all: false, permissions: new Set([GRANT_ANY]) }
