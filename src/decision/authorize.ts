/** The authorization: pure and synchronous. The only place that allows a request by a permission. */

import { holds } from '../../seats-admin/model/permission.ts'
import type { ConsideredSeat, ResolvedSeats, SeatVerdict } from '../model/decision.ts'
import type { Seat } from '../model/decision-seat.ts'

export interface Authorization {
  readonly code: 'allow' | 'no_seat_in_space' | 'permission_denied'
  readonly seats: readonly ConsideredSeat[]
}

/**
 * Allows when one Seat that the credential names for the space still lists the space and holds the permission or `*`.
 *
 * A token names Seats by space, so a missing entry (`no_seat_in_space`) differs from entries that do not hold the
 * permission. An API key and a provider's own token name Seats without a space: their entries are the Seats that list
 * the space.
 */
export function authorize(resolved: ResolvedSeats, space: string, permission: string): Authorization {
  const seats: ConsideredSeat[] = []
  let granted = false
  let entries = resolved.by === 'name' ? resolved.entries.length : 0
  for (const entry of resolved.entries) {
    const verdict = entry.nameGivenUp ? 'name_given_up' : verdictOf(entry.seat, space, permission)
    if (verdict === 'grants') granted = true
    if (resolved.by !== 'name' && (verdict === 'grants' || verdict === 'lacks_permission')) entries++
    seats.push({ name: entry.name, id: entry.seat?.id ?? null, verdict })
  }
  if (granted) return { code: 'allow', seats }
  return { code: entries === 0 ? 'no_seat_in_space' : 'permission_denied', seats }
}

function verdictOf(seat: Seat | null, space: string, permission: string): SeatVerdict {
  if (seat === null) return 'unknown'
  if (!seat.spaces.has(space)) return 'not_in_space'
  return holds(seat.permissions, permission) ? 'grants' : 'lacks_permission'
}
