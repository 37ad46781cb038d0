/**
 * Writes to Seats, each in its own transaction. Their statements do not find invisible Seats, so that they differ from missing
 * ones neither in the response nor in the work.
 */

import {
  type AdminRefusal,
  grantExceedsOwn,
  isRefusal,
  lastAdministrator,
  seatNameTaken,
} from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { StoredSeat } from '../model/seat.ts'
import { unchangedAdministrationValues } from './administration-queries.ts'
import { seatEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import type { Values } from './statements.ts'
import { seatById, seatIsVisible, spacesOf, visibilityOf } from './pages.ts'
import { administrating, type Dialect, integer, type Row, SEAT_COLUMNS, storedSeat, text } from './rows.ts'
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

export function seatQueries(dialect: Dialect) {
  const seen = seatIsVisible(dialect)
  return {
    byId: seatById(dialect),
    /** No row if the name is free. `seen`: 1 if the caller may see the Seat with the name. */
    byName: `SELECT CASE WHEN ${seen} THEN 1 ELSE 0 END AS seen FROM seats s WHERE s.tenant = :tenant AND s.name = :name`,
    administrator: administratorBeside(dialect),
    insert: `INSERT INTO seats (tenant, id, name, version, spaces, permissions, created_by, created_at)
      VALUES (:tenant, :id, :name, :version, :spaces, :permissions, :by, :now)`,
    update: `UPDATE seats SET name = :name, version = :version, spaces = :spaces, permissions = :permissions,
      updated_by = :by, updated_at = :now WHERE tenant = :tenant AND id = :id`,
    /** Members and assignments to API keys are deleted by cascade. */
    delete: 'DELETE FROM seats WHERE tenant = :tenant AND id = :id',
    keysOf:
      'SELECT api_key_id FROM api_key_seats WHERE tenant = :tenant AND seat_id = :id ORDER BY api_key_id',
  }
}

/** Marks the given-up names with the later of the writer's and the store's time, in whole seconds. */
export function giveUpNames(dialect: Dialect): string {
  const later = (a: string, b: string) => `CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`
  return `INSERT INTO names_given_up AS g (tenant, name, at)
    SELECT :tenant, n.name, ${later('CAST(:given_up_at AS bigint)', `${dialect.clock} / 1000`)}
    FROM ${dialect.records(':given_up', 'n', { name: 'text' })} WHERE n.name IS NOT NULL
    ON CONFLICT (tenant, name) DO UPDATE SET at = ${later('g.at', 'excluded.at')}`
}

/** Whatever the caller may see. */
export const seatByName = `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = :tenant AND s.name = :name`

/** The parameters of `insert` and `update`. */
export function seatValues(
  { tenant, by, now }: Writer,
  { id, name, version, spaces, permissions }: StoredSeat,
) {
  const granting = { spaces: JSON.stringify(spaces), permissions: JSON.stringify(permissions) }
  return { tenant, id, name, version, ...granting, by, now }
}

/**
 * Finds another Seat that administrates the tenant. The index finds Seats with only the admin space; Seats with further
 * spaces are scanned only if there is none.
 */
function administratorBeside({ administrators, position, spacesColumn }: Dialect): string {
  const column = spacesColumn.replace(/^s\./, '')
  const others = `SELECT id FROM ${administrators}
    WHERE tenant = :tenant AND ${administrating({ position })} AND id <> :id`
  return `${others} AND ${column} = :alone
    UNION ALL ${others} AND ${position('spaces', ':listed')} > 0 LIMIT 1`
}

/**
 * @returns null if the name is free. A caller who may not see the Seat with the name gets the general refusal, which does
 * not reveal that the Seat exists.
 */
export function nameTaken(row: Row | undefined): AdminRefusal | null {
  if (row === undefined) return null
  return integer(row, 'seen') === 1 ? seatNameTaken : grantExceedsOwn
}

/** The parameters of `administrator`. */
export function otherAdministratorValues(tenant: string, id: string, scope: Scope) {
  return { tenant, id, alone: spacesOf(scope), listed: JSON.stringify(scope.space) }
}
