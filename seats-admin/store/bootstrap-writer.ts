/** The write of `seatgate bootstrap`, in its own transaction. */

import { type AdminRefusal, isRefusal } from '../model/refusal.ts'
import { administrates } from '../model/scope.ts'
import type { SeatInput, StoredSeat } from '../model/seat.ts'
import { apiKeyInsertion, newApiKey } from './api-key-writer.ts'
import { apiKeyChange } from './endings.ts'
import { bootstrapEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import { storedSeat } from './rows.ts'
import { changesOf, newSeat, seatAfter } from './seat-rules.ts'
import { seatByName, seatQueries, seatValues } from './seat-writer.ts'
import type { AdminStore, BootstrapInput, Writer } from './store.ts'

export function bootstrapWriter({ dialect, write }: Database) {
  const queries = seatQueries(dialect)
  return {
    bootstrap(author, input) {
      const { tenant } = author
      return write(author, async (transaction, writer) => {
        const row = await transaction.get(seatByName, { tenant, name: input.seat.name })
        const before = row === undefined ? null : storedSeat(row)
        const plan = planBootstrap(writer, input, before, () => transaction.idTime())
        if (isRefusal(plan)) return plan
        const { seat, write: how } = plan
        const { apiKey: name } = input
        if (how === 'none' && name === null) return { seat, before, apiKey: null, committed: null }
        // Before the API key, which refers to it.
        if (how !== 'none') await transaction.modify([queries[how]], seatValues(writer, seat))
        const changes = how === 'none' ? [] : changesOf(seat)
        const wanted = name === null ? null : { name, seats: [seat.name], expiresAt: null }
        const apiKey = wanted === null ? null : newApiKey(writer, transaction.idTime(), wanted)
        transaction.record(bootstrapEvent(before, seat, apiKey))
        if (apiKey === null)
          return { seat, before, apiKey, committed: await transaction.commit([], changes, {}) }
        const { parts, values } = apiKeyInsertion(writer, apiKey, [seat.id])
        changes.push(apiKeyChange(tenant, apiKey.id))
        return { seat, before, apiKey, committed: await transaction.commit(parts, changes, values) }
      })
    },
  } satisfies Partial<AdminStore>
}

/** The Seat after the bootstrap, and how it comes to be. */
interface BootstrapPlan {
  readonly seat: StoredSeat
  readonly write: 'insert' | 'update' | 'none'
}

/**
 * @param before the Seat that has the name; null: none has it
 * @param idTime gives the time part of the id
 */
function planBootstrap(
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
  return { seat: seatAfter(writer, before, wanted), write: 'update' }
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
