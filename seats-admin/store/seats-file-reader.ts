/** Reads what a file of Seats would change, and who holds the Seats. */

import type { HoldingKeys, SeatChange, SeatsReader } from '../model/planned-seats.ts'
import { type AdminRefusal, inputInvalid, isRefusal, MAX_FAULTS, pointerTo } from '../model/refusal.ts'
import type { WantedSeats } from '../model/seat.ts'
import type { SeatsFrom } from '../model/seats-from.ts'
import { everyInShares, mapInShares, TimeShare } from '../model/time-share.ts'
import type { Database } from './database.ts'
import { apiKeyIsVisible, seatIsVisible, visibilityOf } from './pages.ts'
import { type Dialect, integer, listedSeat, type Row, text } from './rows.ts'
import {
  dueChanges,
  faultsIn,
  idsBefore,
  MAX_CHANGES,
  MAX_KEY_NAMES,
  MAX_READ,
  MAX_UNNAMED,
  namesOf,
  readsTooMuch,
  type SeatsReading,
  tooLargeIn,
  tooMany,
} from './seats-file-rules.ts'
import { listedSeatColumns } from './seats-of-users.ts'
import type { Statements } from './statements.ts'
import { isStorable, storableOrEmpty } from './storable-text.ts'
import type { AdminStore } from './store.ts'

export function seatsFileReader({ dialect, lists }: Database) {
  const queries = seatsFileQueries(dialect)
  return {
    async planSeats(reader, wanted) {
      const { tenant, scope, now } = reader
      const reading = await readSeats(lists, dialect, reader, wanted)
      if (isRefusal(reading)) return reading
      const due = await dueChanges(wanted, reading)
      if (isRefusal(due)) return due
      let tooLarge: AdminRefusal | null = null
      const isAllowed = (change: SeatChange) => (tooLarge = tooLargeIn(reader, change)) === null
      if (!(await everyInShares(due.changes, isAllowed)) && tooLarge !== null) return tooLarge
      const ids = JSON.stringify(idsBefore(due.changes))
      const keys = holdingKeys(await lists.all(queries.keys, { tenant, now, ids, ...visibilityOf(scope) }))
      const usersAfter = await counterAfter(reader, due.changes)
      return {
        unchanged: due.unchanged,
        changes: due.changes.map((change) => ({
          ...change,
          keys: keys.get(change.before?.id ?? '') ?? NO_KEYS,
          usersAfter: usersAfter(change),
        })),
        unnamed: wanted.prune ? { count: 0, names: [] } : await unnamed(namedValues(reader, wanted)),
      }
    },

    async seatHolders({ tenant, scope, now, seatsFrom = null }, id) {
      const values = { tenant, now, ids: JSON.stringify([storableOrEmpty(id)]), ...visibilityOf(scope) }
      const row = await lists.get(queries.users(seatsFrom), values)
      if (row === undefined) return { users: 0, keys: NO_KEYS }
      const keys = holdingKeys(await lists.all(queries.keys, values))
      return { users: integer(row, 'member_count'), keys: keys.get(id) ?? NO_KEYS }
    },
  } satisfies Partial<AdminStore>

  /** By groups, a Seat under a new name has the users of another group. */
  async function counterAfter({ tenant, seatsFrom = null }: SeatsReader, changes: readonly SeatChange[]) {
    const renamed = changes.filter(({ name, before, after }) => after !== null && before?.name !== name)
    const names = JSON.stringify(renamed.map(({ name }) => ({ name })))
    const rows =
      seatsFrom === null || renamed.length === 0 ? [] : await lists.all(queries.groups, { tenant, names })
    const byGroup = new Map(rows.map((row) => [text(row, 'display_name'), integer(row, 'active_count')]))
    return ({ name, before, after }: SeatChange): number => {
      if (after === null) return 0
      return seatsFrom === null || before?.name === name
        ? (before?.memberCount ?? 0)
        : (byGroup.get(name) ?? 0)
    }
  }

  async function unnamed(values: NamedValues) {
    const others = await lists.get(queries.othersSize, values)
    const rows = await lists.all(queries.unnamed, values)
    return { count: integer(others ?? {}, 'count'), names: rows.map((row) => text(row, 'name')) }
  }
}

/** The Seats that a file names, and with `prune` all others that the reader may see. */
export async function readSeats(
  statements: Statements,
  dialect: Dialect,
  reader: Pick<SeatsReader, 'tenant' | 'scope' | 'seatsFrom'>,
  wanted: WantedSeats,
  share = new TimeShare(),
): Promise<SeatsReading | AdminRefusal> {
  const faults = faultsIn(wanted) ?? unstorable(wanted)
  if (faults !== null) return faults
  const queries = seatsFileQueries(dialect, reader.seatsFrom)
  const values = namedValues(reader, wanted)
  const sum = async (query: string) => (await statements.get(query, values)) ?? {}
  let size = integer(await sum(queries.namedSize), 'size')
  if (wanted.prune) {
    const others = await sum(queries.othersSize)
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

/** A name that PostgreSQL's text type cannot hold. */
function unstorable(wanted: WantedSeats): AdminRefusal | null {
  const names = namesOf(wanted).filter((name) => !isStorable(name))
  if (names.length === 0) return null
  const message = 'has characters that the store cannot hold'
  return inputInvalid(
    names.slice(0, MAX_FAULTS).map((name) => ({ path: pointerTo('/seats', name), message })),
  )
}

function seatsFileQueries(dialect: Dialect, seatsFrom: SeatsFrom = null) {
  const visible = seatIsVisible(dialect)
  const named = `s.tenant = :tenant AND s.name IN (${dialect.texts(':names')})`
  const others = `s.tenant = :tenant AND ${visible} AND s.name NOT IN (${dialect.texts(':names')})`
  const columns = listedSeatColumns(seatsFrom)
  const size = 'coalesce(sum(length(s.spaces) + length(s.permissions)), 0) AS size'
  return {
    namedSize: `SELECT ${size} FROM seats s WHERE ${named} AND ${visible}`,
    named: `SELECT ${columns} FROM seats s WHERE ${named} AND ${visible}`,
    hidden: `SELECT s.name FROM seats s WHERE ${named} AND NOT ${visible}`,
    othersSize: `SELECT count(*) AS count, ${size} FROM seats s WHERE ${others}`,
    others: `SELECT ${columns} FROM seats s WHERE ${others} ORDER BY s.name LIMIT ${MAX_CHANGES + 1}`,
    unnamed: `SELECT s.name FROM seats s WHERE ${others} ORDER BY s.name LIMIT ${MAX_UNNAMED}`,
    keys: `SELECT seat_id, name, total FROM (
        SELECT ks.seat_id, k.name, count(*) OVER (PARTITION BY ks.seat_id) AS total,
          row_number() OVER (PARTITION BY ks.seat_id ORDER BY k.id) AS at
        FROM api_key_seats ks JOIN api_keys k ON k.tenant = ks.tenant AND k.id = ks.api_key_id
        WHERE ks.tenant = :tenant AND ks.seat_id IN (${dialect.texts(':ids')}) AND k.revoked_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > :now) AND ${apiKeyIsVisible(dialect)}
      ) held WHERE at <= ${MAX_KEY_NAMES} ORDER BY seat_id, at`,
    groups: `SELECT l.display_name, l.active_count FROM ${dialect.records(':names', 'w', { name: 'text' })}
      ${dialect.lookup('scim_groups', 'l.tenant = :tenant AND l.display_name = w.name')}`,
    users: (seatsFrom: SeatsFrom) =>
      `SELECT ${listedSeatColumns(seatsFrom)} FROM seats s
        WHERE s.tenant = :tenant AND s.id IN (${dialect.texts(':ids')}) AND ${visible}`,
  }
}

type NamedValues = ReturnType<typeof namedValues>

/** The parameters of the queries of names. */
function namedValues({ tenant, scope }: Pick<SeatsReader, 'tenant' | 'scope'>, wanted: WantedSeats) {
  return { tenant, names: JSON.stringify(namesOf(wanted)), ...visibilityOf(scope) }
}

/** By the id of the Seat. */
function holdingKeys(rows: readonly Row[]): Map<string, HoldingKeys> {
  const groups = Map.groupBy(rows, (row) => text(row, 'seat_id'))
  return new Map(
    [...groups].map(([id, held]) => [
      id,
      { count: integer(held[0] ?? {}, 'total'), names: held.map((row) => text(row, 'name')) },
    ]),
  )
}

const NO_KEYS: HoldingKeys = { count: 0, names: [] }
