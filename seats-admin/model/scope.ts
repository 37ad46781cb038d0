/** What a caller of the Seat and key endpoints may see and manage: "nobody grants what they don't have". Pure. */

import { EVERY_PERMISSION, holds } from './permission.ts'

/**
 * What a caller of the Seat and key endpoints may manage: data only, so that it can be checked where the
 * transaction runs. `space` is the request's Space.
 */
export interface Scope {
  readonly space: string
  /** `space` is the tenant's admin space: Seats of all spaces may be managed. */
  readonly admin: boolean
  /** The caller holds `*` there. */
  readonly all: boolean
  readonly permissions: readonly string[]
}

/** What a Seat grants, and where. */
export interface Granting {
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
}

/** Held in the scope's space, it lets its holder grant any permission there, `*` included. */
export const GRANT_ANY = 'seats:grant'

/**
 * Whether this scope may make, change, rename or delete a Seat that grants this, or hand it to an API key. To be asked
 * of the Seat as it is and as it would become.
 */
export function mayManage(scope: Scope, seat: Granting): boolean {
  return managerOf(scope)(seat)
}

/** Whether this scope may hand out any permission: then those of a Seat need not be looked at. */
export function grantsAny(scope: Scope): boolean {
  return scope.all || holds(new Set(scope.permissions), GRANT_ANY)
}

function managerOf(scope: Scope): (seat: Granting) => boolean {
  const any = grantsAny(scope)
  const held = new Set(scope.permissions)
  return ({ permissions, spaces }) =>
    maySee(scope, spaces) && (any || permissions.every((permission) => holds(held, permission)))
}

/** Whether this scope may read a Seat of these spaces. Outside the admin space: of its own space and no other. */
export function maySee(scope: Scope, spaces: readonly string[]): boolean {
  return scope.admin || (spaces.length === 1 && spaces[0] === scope.space)
}

/** Held together in the admin space, they let their holder give any permission to any Seat. */
export const ADMINISTRATING = ['seats:update', GRANT_ANY] as const

/** Whether holders of this Seat can manage the tenant's Seats, whatever else becomes of them. */
export function administrates({ spaces, permissions }: Granting, adminSpace: string): boolean {
  if (!spaces.includes(adminSpace)) return false
  return permissions.includes(EVERY_PERMISSION) || ADMINISTRATING.every((each) => permissions.includes(each))
}

/**
 * Whether this scope may make or revoke an API key of these Seats. One of none belongs to the admin space. Looks at
 * one Seat after the other, and at none behind the first that is out of reach.
 */
export function mayManageKey(scope: Scope, seats: Iterable<Granting>): boolean {
  const mayManageSeat = managerOf(scope)
  let some = scope.admin
  for (const seat of seats) {
    if (!mayManageSeat(seat)) return false
    some = true
  }
  return some
}
