/** Rules of `seatgate bootstrap` that both drivers share. */

import type { AdminRefusal } from '../model/refusal.ts'
import { administrates } from '../model/scope.ts'
import type { SeatInput, StoredSeat } from '../model/seat.ts'
import { newSeat } from './seat-rules.ts'
import type { BootstrapInput, Writer } from './store.ts'

/** The Seat after the bootstrap, and how it comes to be. */
export interface BootstrapPlan {
  readonly seat: StoredSeat
  readonly write: 'insert' | 'update' | 'none'
}

/**
 * @param before the Seat that has the name; null: none has it
 * @param idTime gives the time part of the id
 */
export function planBootstrap(
  writer: Writer,
  { seat: wanted, restores }: BootstrapInput,
  before: StoredSeat | null,
  idTime: () => number,
): BootstrapPlan | AdminRefusal {
  if (before === null) return { seat: newSeat(writer, idTime(), wanted), write: 'insert' }
  if (isAsWanted(before, wanted)) return { seat: before, write: 'none' }
  if (!restores) return nameTaken(writer, before)
  // Further spaces of the Seat are its own business, as long as it administrates.
  if (before.permissions.includes('*') && administrates(before, writer.scope.space))
    return { seat: before, write: 'none' }
  const { by: updatedBy, now: updatedAt } = writer
  return {
    seat: { ...before, ...wanted, version: before.version + 1, updatedBy, updatedAt },
    write: 'update',
  }
}

function isAsWanted(seat: StoredSeat, { spaces, permissions }: SeatInput): boolean {
  return JSON.stringify([seat.spaces, seat.permissions]) === JSON.stringify([spaces, permissions])
}

function nameTaken({ tenant, scope }: Writer, { name, permissions, spaces }: StoredSeat): AdminRefusal {
  return {
    refused: 'seat_name_taken',
    detail:
      `Tenant ${tenant} already has a Seat "${name}" other than "*" in space ${scope.space}: ` +
      `it has ${count(permissions, 'permission')} in ${count(spaces, 'space')}. ` +
      'Change or rename it first, or give it back its rights with --repair.',
  }
}

function count(items: readonly string[], noun: string): string {
  return `${items.length} ${noun}${items.length === 1 ? '' : 's'}`
}
