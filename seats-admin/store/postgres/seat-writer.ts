/** Writes to Seats, each in its own transaction. */

import { type AdminRefusal, isRefusal, lastAdministrator } from '../../model/refusal.ts'
import type { StoredSeat } from '../../model/seat.ts'
import { unchangedAdministrationValues } from '../administration.ts'
import { seatEvent } from '../audit-forms.ts'
import { visibilityOf } from '../pages.ts'
import { storedSeat, text } from '../rows.ts'
import { nameTaken, otherAdministratorValues, seatQueries, seatValues } from '../seat-queries.ts'
import {
  changesOf,
  deletionChanges,
  endsAdministration,
  givenUpAt,
  newSeat,
  planDeletion,
  planUpdate,
  refuseNewSeat,
} from '../seat-rules.ts'
import { isStorable, storableOrEmpty } from '../storable-text.ts'
import type { AdminStore, Writer } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { nameNotStorable, postgres, storableWriter } from './dialect.ts'
import { sql } from './sql.ts'
import { recorded, recordedWithAdministration, type Transaction } from './transaction.ts'

const queries = seatQueries(postgres)
const BY_ID = sql(queries.byId)
const BY_NAME = sql(queries.byName)
const ADMINISTRATOR = sql(queries.administrator)
const KEYS_OF = sql(
  'SELECT api_key_id FROM api_key_seats WHERE tenant = :tenant AND seat_id = :id ORDER BY api_key_id',
)

const INSERT = recordedWithAdministration(`made AS (${queries.insert}),`)

/** Marks a given-up name with the later of the writer's and the server's time. */
export const GIVE_UP = `
  given_up AS (INSERT INTO names_given_up AS g (tenant, name, at)
    SELECT :tenant, name, greatest(:given_up_at::bigint, floor(extract(epoch FROM clock_timestamp()))::bigint)
    FROM unnest(:given_up::text[]) AS given_up (name)
    ON CONFLICT (tenant, name) DO UPDATE SET at = greatest(g.at, excluded.at)),`

const UPDATE = recordedWithAdministration(`${GIVE_UP} updated AS (${queries.update}),`)

/** Members and assignments to API keys are deleted by cascade. */
const DELETE = recorded(`${GIVE_UP} deleted AS (DELETE FROM seats WHERE tenant = :tenant AND id = :id),`)

export function seatWritesOf(
  pools: ConnectionPools,
): Pick<AdminStore, 'createSeat' | 'updateSeat' | 'deleteSeat'> {
  return {
    async createSeat(author, input) {
      const refusal = refuseNewSeat(author, input) ?? (isStorable(input.name) ? null : nameNotStorable)
      if (refusal !== null) return refusal
      const writer = storableWriter(author)
      return pools.write(async (transaction) => {
        const taken = await refuseTaken(transaction, writer, input.name)
        if (taken !== null) return taken
        const seat = newSeat(writer, transaction.idTime(writer.now), input)
        transaction.record(seatEvent('seat.create', null, seat), writer.now)
        const values = { ...seatValues(writer, seat), ...unchangedAdministrationValues(writer) }
        const committed = await transaction.write(INSERT, changesOf(seat), values)
        return { ...committed, value: seat }
      }, writer)
    },

    updateSeat(author, id, patch) {
      const writer = storableWriter(author)
      return pools.write(async (transaction) => {
        const plan = planUpdate(writer, await find(transaction, writer, id), patch)
        if (isRefusal(plan)) return plan
        const { before, after, givenUp, changes } = plan
        if (!isStorable(after.name)) return nameNotStorable
        const taken = givenUp === null ? null : await refuseTaken(transaction, writer, after.name)
        if (taken !== null) return taken
        if (plan.endsAdministration && (await isLast(transaction, writer, id))) return lastAdministrator
        transaction.record(seatEvent('seat.update', before, after), writer.now)
        const others = unchangedAdministrationValues(writer, [id])
        const values = { ...seatValues(writer, after), ...others, ...giving(transaction, writer, givenUp) }
        return { ...(await transaction.write(UPDATE, changes, values)), value: after }
      }, writer)
    },

    deleteSeat(author, id) {
      const writer = storableWriter(author)
      const { tenant } = writer
      return pools.write(async (transaction) => {
        const seat = planDeletion(writer, await find(transaction, writer, id))
        if (isRefusal(seat)) return seat
        if (endsAdministration(writer, seat, null) && (await isLast(transaction, writer, id)))
          return lastAdministrator
        const keys = (await transaction.query(KEYS_OF, { tenant, id })).map((row) => text(row, 'api_key_id'))
        transaction.record(seatEvent('seat.delete', seat, null), writer.now)
        const values = { tenant, id, ...giving(transaction, writer, seat.name) }
        return { ...(await transaction.write(DELETE, deletionChanges(seat, keys), values)), value: null }
      }, writer)
    },
  }
}

async function find(
  transaction: Transaction,
  { tenant, scope }: Writer,
  id: string,
): Promise<StoredSeat | null> {
  const [row] = await transaction.query(BY_ID, { tenant, id: storableOrEmpty(id), ...visibilityOf(scope) })
  return row === undefined ? null : storedSeat(row)
}

async function refuseTaken(
  transaction: Transaction,
  { tenant, scope }: Writer,
  name: string,
): Promise<AdminRefusal | null> {
  return nameTaken((await transaction.query(BY_NAME, { tenant, name, ...visibilityOf(scope) }))[0])
}

/** Whether no other Seat administrates the tenant. Writers are serialized, so this holds until the commit. */
async function isLast(transaction: Transaction, { tenant, scope }: Writer, id: string): Promise<boolean> {
  return (await transaction.query(ADMINISTRATOR, otherAdministratorValues(tenant, id, scope))).length === 0
}

function giving({ call }: Transaction, writer: Writer, name: string | null) {
  return { given_up: name === null ? [] : [name], given_up_at: givenUpAt(writer, call.elapsed) }
}
