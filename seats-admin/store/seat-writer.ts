/** Writes to Seats, each in its own transaction. */

import { type AdminRefusal, isRefusal, lastAdministrator } from '../model/refusal.ts'
import type { StoredSeat } from '../model/seat.ts'
import { unchangedAdministrationValues } from './administration-queries.ts'
import { seatEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import type { Values } from './statements.ts'
import { visibilityOf } from './pages.ts'
import { storedSeat, text } from './rows.ts'
import { giveUpNames, nameTaken, otherAdministratorValues, seatQueries, seatValues } from './seat-queries.ts'
import {
  changesOf,
  deletionChanges,
  endsAdministration,
  givenUpAt,
  newSeat,
  planDeletion,
  planUpdate,
  refuseNewSeat,
} from './seat-rules.ts'
import { isStorable, nameNotStorable, storableOrEmpty, storableWriter } from './storable-text.ts'
import type { AdminStore, Writer } from './store.ts'
import type { Transaction } from './transaction.ts'

export function seatWriter({
  dialect,
  write,
}: Database): Pick<AdminStore, 'createSeat' | 'updateSeat' | 'deleteSeat'> {
  const queries = seatQueries(dialect)
  const giveUp = giveUpNames(dialect)
  return {
    async createSeat(author, input) {
      const refusal = refuseNewSeat(author, input) ?? (isStorable(input.name) ? null : nameNotStorable)
      if (refusal !== null) return refusal
      const writer = storableWriter(author)
      return write(writer, async (transaction) => {
        const taken = await refuseTaken(transaction, writer, input.name)
        if (taken !== null) return taken
        const seat = newSeat(writer, transaction.idTime(writer.now), input)
        transaction.record(seatEvent('seat.create', null, seat), writer.now)
        const values = { ...seatValues(writer, seat), ...unchangedAdministrationValues(writer) }
        const committed = await transaction.commitAdministrative([queries.insert], changesOf(seat), values)
        return { ...committed, value: seat }
      })
    },

    updateSeat(author, id, patch) {
      const writer = storableWriter(author)
      return write(writer, async (transaction) => {
        const plan = planUpdate(writer, await find(transaction, writer, id), patch)
        if (isRefusal(plan)) return plan
        const { before, after, givenUp, changes } = plan
        if (!isStorable(after.name)) return nameNotStorable
        const taken = givenUp === null ? null : await refuseTaken(transaction, writer, after.name)
        if (taken !== null) return taken
        if (plan.endsAdministration && (await isLast(transaction, writer, id))) return lastAdministrator
        transaction.record(seatEvent('seat.update', before, after), writer.now)
        const parts = givenUp === null ? [queries.update] : [giveUp, queries.update]
        const others = unchangedAdministrationValues(writer, [id])
        const values = { ...seatValues(writer, after), ...others, ...giving(transaction, writer, givenUp) }
        return { ...(await transaction.commitAdministrative(parts, changes, values)), value: after }
      })
    },

    deleteSeat(author, id) {
      const writer = storableWriter(author)
      const { tenant } = writer
      return write(writer, async (transaction) => {
        const seat = planDeletion(writer, await find(transaction, writer, id))
        if (isRefusal(seat)) return seat
        if (endsAdministration(writer, seat, null) && (await isLast(transaction, writer, id)))
          return lastAdministrator
        const keys = (await transaction.all(queries.keysOf, { tenant, id })).map((row) =>
          text(row, 'api_key_id'),
        )
        transaction.record(seatEvent('seat.delete', seat, null), writer.now)
        const parts = [giveUp, queries.delete]
        const values = { tenant, id, ...giving(transaction, writer, seat.name) }
        return {
          ...(await transaction.commit(parts, deletionChanges(seat, keys), values)),
          value: null,
        }
      })
    },
  }

  async function find(
    transaction: Transaction,
    { tenant, scope }: Writer,
    id: string,
  ): Promise<StoredSeat | null> {
    const values = { tenant, id: storableOrEmpty(id), ...visibilityOf(scope) }
    const row = await transaction.get(queries.byId, values)
    return row === undefined ? null : storedSeat(row)
  }

  async function refuseTaken(
    transaction: Transaction,
    { tenant, scope }: Writer,
    name: string,
  ): Promise<AdminRefusal | null> {
    return nameTaken(await transaction.get(queries.byName, { tenant, name, ...visibilityOf(scope) }))
  }

  /** Whether no other Seat administrates the tenant. */
  async function isLast(transaction: Transaction, { tenant, scope }: Writer, id: string): Promise<boolean> {
    const values = otherAdministratorValues(tenant, id, scope)
    return (await transaction.get(queries.administrator, values)) === undefined
  }
}

function giving({ elapsed }: Transaction, writer: Writer, name: string | null): Values {
  return {
    given_up: JSON.stringify(name === null ? [] : [{ name }]),
    given_up_at: givenUpAt(writer, elapsed),
  }
}
