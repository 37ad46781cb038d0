/** Plans and makes changes to many Seats, in one transaction of few statements. */

import type { Change } from '../model/change.ts'
import type { HoldingKeys, SeatChange } from '../model/planned-seats.ts'
import {
  type AdminRefusal,
  inputInvalid,
  isRefusal,
  lastAdministrator,
  MAX_FAULTS,
  pointerTo,
} from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { WantedSeats } from '../model/seat.ts'
import { everyInShares, mapInShares, TimeShare, UrgentShare } from '../model/time-share.ts'
import { seatEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import { apiKeyIsVisible, seatIsVisible, visibilityOf } from './pages.ts'
import { type Columns, type Dialect, integer, listedSeat, type Row, SEAT_COLUMNS, text } from './rows.ts'
import { changesOf, deletionChanges } from './seat-rules.ts'
import { giveUpNames, givingUp, otherAdministratorValues, seatQueries, seatRow } from './seat-writer.ts'
import {
  appliedSeats,
  dueChanges,
  faultsIn,
  idsBefore,
  MAX_CHANGES,
  MAX_KEY_NAMES,
  MAX_READ,
  MAX_UNNAMED,
  mayEndAdministration,
  nameGivenUp,
  namesOf,
  PATIENCE,
  readsTooMuch,
  type SeatsReading,
  type SeatWrite,
  seatWritesDue,
  tooLargeIn,
  tooMany,
} from './seats-file-rules.ts'
import type { Statements, Values } from './statements.ts'
import { isStorable, storableOrEmpty } from './storable-text.ts'
import type { AdminStore, Writer } from './store.ts'
import type { Transaction } from './transaction.ts'

const COLUMNS: Columns = { id: 'text', name: 'text', version: 'bigint', spaces: 'text', permissions: 'text' }

/** No name that one part gives up is taken by another: a part may see the state before the others. */
function writeParts(dialect: Dialect): string[] {
  const { texts, records } = dialect
  return [
    giveUpNames(dialect),
    `DELETE FROM seats WHERE tenant = :tenant AND id IN (${texts(':deleted')})`,
    `UPDATE seats AS s SET name = u.name, version = u.version, spaces = u.spaces, permissions = u.permissions,
       updated_by = CAST(:by AS text), updated_at = CAST(:now AS bigint)
     FROM ${records(':updated', 'u', COLUMNS)} WHERE s.tenant = :tenant AND s.id = u.id`,
    `INSERT INTO seats (tenant, id, name, version, spaces, permissions, created_by, created_at)
     SELECT :tenant, m.id, m.name, m.version, m.spaces, m.permissions, CAST(:by AS text), CAST(:now AS bigint)
     FROM ${records(':made', 'm', COLUMNS)}`,
  ]
}

export function seatsFileWriter({ dialect, lists, write }: Database) {
  const queries = seatsFileQueries(dialect)
  const { administrator } = seatQueries(dialect)
  const parts = writeParts(dialect)
  return {
    async planSeats({ tenant, scope, now, ...limit }, wanted) {
      const reading = await readSeats(lists, tenant, scope, wanted)
      if (isRefusal(reading)) return reading
      const due = await dueChanges(wanted, reading)
      if (isRefusal(due)) return due
      let tooLarge: AdminRefusal | null = null
      const isAllowed = (change: SeatChange) => (tooLarge = tooLargeIn(limit, change)) === null
      if (!(await everyInShares(due.changes, isAllowed)) && tooLarge !== null) return tooLarge
      const ids = JSON.stringify(idsBefore(due.changes))
      const keys = holdingKeys(await lists.all(queries.keys, { tenant, now, ids, ...visibilityOf(scope) }))
      return {
        unchanged: due.unchanged,
        changes: due.changes.map((change) => ({
          ...change,
          keys: keys.get(change.before?.id ?? '') ?? NO_KEYS,
        })),
        unnamed: wanted.prune ? { count: 0, names: [] } : await unnamed(tenant, scope, wanted),
      }
    },

    async seatHolders({ tenant, scope, now }, id) {
      const values = { tenant, now, ids: JSON.stringify([storableOrEmpty(id)]), ...visibilityOf(scope) }
      const row = await lists.get(queries.users, values)
      if (row === undefined) return { users: 0, keys: NO_KEYS }
      const keys = holdingKeys(await lists.all(queries.keys, values))
      return { users: integer(row, 'member_count'), keys: keys.get(id) ?? NO_KEYS }
    },

    applySeats(author, wanted, versions) {
      const { tenant, scope } = author
      const apply = async (transaction: Transaction, writer: Writer) => {
        // All other writes wait for this one.
        const share = new UrgentShare()
        const reading = await readSeats(transaction, tenant, scope, wanted, share)
        if (isRefusal(reading)) return reading
        const due = await dueChanges(wanted, reading, share)
        if (isRefusal(due)) return due
        const writes = await seatWritesDue(writer, due, versions, () => transaction.idTime(), share)
        if (isRefusal(writes)) return writes
        if (writes.length === 0) return appliedSeats(writes, due, transaction.unchanged)
        const changes = await changesAfter(transaction, tenant, writes)
        await mapInShares(
          writes,
          ({ action, before, after }) => transaction.record(seatEvent(`seat.${action}`, before, after)),
          share,
        )
        const values = await valuesOf(transaction, writer, writes, share)
        const committed = await transaction.commitAdministrative(parts, changes, values, idsBefore(writes))
        if (mayEndAdministration(writer, writes)) {
          const others = otherAdministratorValues(tenant, '', scope)
          if ((await transaction.get(administrator, others)) === undefined) return lastAdministrator
        }
        return appliedSeats(writes, due, committed)
      }
      return write(author, apply, PATIENCE)
    },
  } satisfies Partial<AdminStore>

  async function readSeats(
    statements: Statements,
    tenant: string,
    scope: Scope,
    wanted: WantedSeats,
    share = new TimeShare(),
  ): Promise<SeatsReading | AdminRefusal> {
    const faults = faultsIn(wanted) ?? unstorable(wanted)
    if (faults !== null) return faults
    const values = namedValues(tenant, scope, wanted)
    const counted = async (query: string) => (await statements.get(query, values)) ?? {}
    let size = integer(await counted(queries.namedSize), 'size')
    if (wanted.prune) {
      const others = await counted(queries.othersSize)
      if (integer(others, 'count') > MAX_CHANGES) return tooMany(integer(others, 'count'))
      size += integer(others, 'size')
    }
    if (size > MAX_READ) return readsTooMuch
    const named = await statements.all(queries.named, values)
    const rows = wanted.prune ? [...named, ...(await statements.all(queries.others, values))] : named
    const hidden = await statements.all(queries.hidden, values)
    return {
      seats: await mapInShares(rows, listedSeat, share),
      hidden: new Set(hidden.map((row) => text(row, 'name'))),
    }
  }

  async function unnamed(tenant: string, scope: Scope, wanted: WantedSeats) {
    const values = namedValues(tenant, scope, wanted)
    const counted = await lists.get(queries.othersSize, values)
    const rows = await lists.all(queries.unnamed, values)
    return { count: integer(counted ?? {}, 'count'), names: rows.map((row) => text(row, 'name')) }
  }

  /** Read before the deletions, which take the Seats from the keys. */
  async function changesAfter(
    transaction: Transaction,
    tenant: string,
    writes: readonly SeatWrite[],
  ): Promise<Change[]> {
    const deleted = writes.filter(({ after }) => after === null)
    const rows =
      deleted.length === 0
        ? []
        : await transaction.all(queries.keysOf, { tenant, ids: JSON.stringify(idsBefore(deleted)) })
    const keys = Map.groupBy(rows, (row) => text(row, 'seat_id'))
    return writes.flatMap((each) => {
      const { before, after } = each
      if (after !== null) return changesOf(after, nameGivenUp(each))
      if (before === null) return []
      return deletionChanges(
        before,
        (keys.get(before.id) ?? []).map((row) => text(row, 'api_key_id')),
      )
    })
  }
}

/** A name that PostgreSQL's text type cannot hold. */
function unstorable(wanted: WantedSeats): AdminRefusal | null {
  const names = namesOf(wanted).filter((name) => !isStorable(name))
  if (names.length === 0) return null
  const message = 'has characters that the store cannot hold'
  return inputInvalid(
    names.slice(0, MAX_FAULTS).map((name) => ({ path: pointerTo('/seats', name), message })),
  )
}

async function valuesOf(
  transaction: Transaction,
  writer: Writer,
  writes: readonly SeatWrite[],
  share: TimeShare,
): Promise<Values> {
  const seats = async (action: SeatWrite['action']) => {
    const due = writes.filter((write) => write.action === action)
    const rows = await mapInShares(
      due,
      ({ after }) => (after === null ? '' : JSON.stringify(seatRow(after))),
      share,
    )
    return `[${rows.join()}]`
  }
  return {
    tenant: writer.tenant,
    by: writer.by,
    now: writer.now,
    made: await seats('create'),
    updated: await seats('update'),
    deleted: JSON.stringify(idsBefore(writes.filter(({ after }) => after === null))),
    ...givingUp(transaction, writer, writes.map(nameGivenUp)),
  }
}

function seatsFileQueries(dialect: Dialect) {
  const visible = seatIsVisible(dialect)
  const named = `s.tenant = :tenant AND s.name IN (${dialect.texts(':names')})`
  const others = `s.tenant = :tenant AND ${visible} AND s.name NOT IN (${dialect.texts(':names')})`
  const size = 'coalesce(sum(length(s.spaces) + length(s.permissions)), 0) AS size'
  return {
    namedSize: `SELECT ${size} FROM seats s WHERE ${named} AND ${visible}`,
    named: `SELECT ${SEAT_COLUMNS} FROM seats s WHERE ${named} AND ${visible}`,
    hidden: `SELECT s.name FROM seats s WHERE ${named} AND NOT ${visible}`,
    othersSize: `SELECT count(*) AS count, ${size} FROM seats s WHERE ${others}`,
    others: `SELECT ${SEAT_COLUMNS} FROM seats s WHERE ${others} ORDER BY s.name LIMIT ${MAX_CHANGES + 1}`,
    unnamed: `SELECT s.name FROM seats s WHERE ${others} ORDER BY s.name LIMIT ${MAX_UNNAMED}`,
    keys: `SELECT seat_id, name, found FROM (
        SELECT ks.seat_id, k.name, count(*) OVER (PARTITION BY ks.seat_id) AS found,
          row_number() OVER (PARTITION BY ks.seat_id ORDER BY k.id) AS at
        FROM api_key_seats ks JOIN api_keys k ON k.tenant = ks.tenant AND k.id = ks.api_key_id
        WHERE ks.tenant = :tenant AND ks.seat_id IN (${dialect.texts(':ids')}) AND k.revoked_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > :now) AND ${apiKeyIsVisible(dialect)}
      ) held WHERE at <= ${MAX_KEY_NAMES} ORDER BY seat_id, at`,
    users: `SELECT s.member_count FROM seats s WHERE s.tenant = :tenant AND s.id IN (${dialect.texts(':ids')}) AND ${visible}`,
    keysOf: `SELECT seat_id, api_key_id FROM api_key_seats
      WHERE tenant = :tenant AND seat_id IN (${dialect.texts(':ids')}) ORDER BY seat_id, api_key_id`,
  }
}

/** The parameters of the queries of names. */
function namedValues(tenant: string, scope: Scope, wanted: WantedSeats) {
  return { tenant, names: JSON.stringify(namesOf(wanted)), ...visibilityOf(scope) }
}

/** By the id of the Seat. */
function holdingKeys(rows: readonly Row[]): Map<string, HoldingKeys> {
  const groups = Map.groupBy(rows, (row) => text(row, 'seat_id'))
  return new Map(
    [...groups].map(([id, held]) => [
      id,
      { count: integer(held[0] ?? {}, 'found'), names: held.map((row) => text(row, 'name')) },
    ]),
  )
}

const NO_KEYS: HoldingKeys = { count: 0, names: [] }
