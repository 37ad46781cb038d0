/**
 * The scope of a caller of the Seat and key endpoints: the Seats that the caller may see and manage. A caller
 * cannot grant a permission that the caller does not hold. Pure.
 */

import { EVERY_PERMISSION, holds } from './permission.ts'
import type { SeatLists } from './seat.ts'

/** Plain data, so that the transaction can check it. `space` is the request's Space. */
export interface Scope {
  readonly space: string
  /** `space` is the tenant's admin space: Seats of all spaces may be managed. */
  readonly admin: boolean
  /** The caller holds `*` there. */
  readonly all: boolean
  readonly permissions: readonly string[]
}

/** A holder of this permission in the scope's space may grant any permission there, `*` included. */
export const GRANT_ANY = 'seats:grant'

/** What each kind of change of a Seat needs. A request that makes several kinds needs each. */
export const SEAT_RIGHTS = { create: 'seats:create', update: 'seats:update', delete: 'seats:delete' } as const

/**
 * Whether the scope may create, change, rename or delete the Seat, or give it to an API key. A change
 * requires it of the Seat before and after.
 */
export function mayManage(scope: Scope, seat: SeatLists): boolean {
  return managerOf(scope)(seat)
}

/** Whether the scope may grant any permission: the permissions of a Seat then need no check. */
export function grantsAny(scope: Scope): boolean {
  return scope.all || holds(new Set(scope.permissions), GRANT_ANY)
}

/** {@link mayManage} of many Seats. */
export function managerOf(scope: Scope): (seat: SeatLists) => boolean {
  const any = grantsAny(scope)
  const held = new Set(scope.permissions)
  return ({ permissions, spaces }) =>
    maySee(scope, spaces) && (any || permissions.every((permission) => holds(held, permission)))
}

/**
 * Whether the scope may read a Seat of these spaces. Outside the admin space, only Seats of its own space
 * alone.
 */
export function maySee(scope: Scope, spaces: readonly string[]): boolean {
  return scope.admin || (spaces.length === 1 && spaces[0] === scope.space)
}

/** A holder of all of these in the admin space may give any permission to any Seat. */
export const ADMINISTRATING = ['seats:update', GRANT_ANY] as const

/** Whether the Seat alone lets its holders manage the tenant's Seats. */
export function administrates({ spaces, permissions }: SeatLists, adminSpace: string): boolean {
  if (!spaces.includes(adminSpace)) return false
  return permissions.includes(EVERY_PERMISSION) || ADMINISTRATING.every((each) => permissions.includes(each))
}

/**
 * Whether the scope may create or revoke an API key with these Seats. A key without Seats belongs to the
 * admin space. Reads the Seats one at a time, up to the first that the scope may not manage.
 */
export function mayManageKey(scope: Scope, seats: Iterable<SeatLists>): boolean {
  const mayManageSeat = managerOf(scope)
  let some = scope.admin
  for (const seat of seats) {
    if (!mayManageSeat(seat)) return false
    some = true
  }
  return some
}
