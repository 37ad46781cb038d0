/**
 * The decision: may this caller do this, given what their Seats hold now? Pure and synchronous; the one place where an
 * "allow" for a permission is made.
 */

import { holds } from '../../seats-admin/model/permission.ts'
import type { ConsideredSeat, ResolvedSeats, SeatVerdict } from '../model/decision.ts'
import type { Seat } from '../model/seat.ts'

export interface Authorization {
  readonly code: 'allow' | 'no_seat_in_space' | 'permission_denied'
  readonly seats: readonly ConsideredSeat[]
}

/**
 * Allows if one of the Seats named for the space still lists that space and holds the permission or `*`.
 *
 * A token names Seats for a space by itself, so having no entry is told from having none that holds. An API key, and a
 * provider's own token, name Seats alone: those of them that list the space are their entries.
 */
export function authorize(resolved: ResolvedSeats, space: string, permission: string): Authorization {
  const seats: ConsideredSeat[] = []
  let granted = false
  let entries = resolved.by === 'name' ? resolved.entries.length : 0
  for (const entry of resolved.entries) {
    const verdict = entry.givenUp ? 'name_given_up' : verdictOn(entry.seat, space, permission)
    if (verdict === 'grants') granted = true
    if (resolved.by !== 'name' && (verdict === 'grants' || verdict === 'lacks_permission')) entries++
    seats.push({ name: entry.name, id: entry.seat?.id ?? null, verdict })
  }
  if (granted) return { code: 'allow', seats }
  return { code: entries === 0 ? 'no_seat_in_space' : 'permission_denied', seats }
}

function verdictOn(seat: Seat | null, space: string, permission: string): SeatVerdict {
  if (seat === null) return 'unknown'
  if (!seat.spaces.has(space)) return 'not_in_space'
  return holds(seat.permissions, permission) ? 'grants' : 'lacks_permission'
}
