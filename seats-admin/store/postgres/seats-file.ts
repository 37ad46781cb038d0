/** Changes many Seats in one transaction of few statements. */

import type { Change } from '../../model/change.ts'
import {
  type AdminRefusal,
  inputInvalid,
  isRefusal,
  lastAdministrator,
  MAX_FAULTS,
} from '../../model/refusal.ts'
import { pointerTo } from '../../model/pointer.ts'
import type { Scope } from '../../model/scope.ts'
import type { StoredSeat, WantedSeats } from '../../model/seat.ts'
import {
  administratingKeyValues,
  administratingUserValues,
  administrationQueries,
  unchangedAdministrationValues,
} from '../administration.ts'
import { seatEvent } from '../audit-forms.ts'
import { blockReads, blocksReading } from '../blocks.ts'
import { visibilityOf } from '../pages.ts'
import { asOf } from '../point-reads.ts'
import { integer, type Row, text } from '../rows.ts'
import { otherAdministratorValues, seatQueries } from '../seat-queries.ts'
import { changesOf, deletionChanges, givenUpAt } from '../seat-rules.ts'
import {
  appliedSeats,
  changedSeats,
  dueChanges,
  faultsIn,
  MAX_CHANGES,
  MAX_READ,
  mayEndAdministration,
  nameGivenUp,
  namesOf,
  PATIENCE,
  readsTooMuch,
  type SeatsReading,
  type SeatWrite,
  seatWritesDue,
  tooMany,
} from '../seats-file.ts'
import {
  holdingKeys,
  idsOf,
  namedValues,
  NO_KEYS,
  seatsFileQueries,
  seatsReading,
} from '../seats-file-queries.ts'
import { isStorable, storableOrEmpty } from '../storable-text.ts'
import type { AdminStore, Writer } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { postgres, storableWriter } from './dialect.ts'
import { GIVE_UP } from './seat-writer.ts'
import { type Sql, sql, type Values } from './sql.ts'
import { recordedWithAdministration, type Transaction } from './transaction.ts'

type QueryName = keyof ReturnType<typeof seatsFileQueries>

const QUERIES = Object.fromEntries(
  Object.entries(seatsFileQueries(postgres)).map(([name, query]) => [name, sql(query)]),
) as Readonly<Record<QueryName, Sql>>
const ADMINISTRATING = administrationQueries(postgres)
const ADMINISTRATING_KEY = sql(ADMINISTRATING.administratingKey)
const ADMINISTRATING_USER = sql(ADMINISTRATING.administratingUser)
const BLOCKS = sql(blockReads(postgres).blocks)
const ADMINISTRATOR = sql(seatQueries(postgres).administrator)

/** Two statements with work between them, for which the transaction may be idle for longer than others. */
const PATIENT = sql(`SELECT set_config('idle_in_transaction_session_timeout', :idle, true),
  set_config('statement_timeout', :statement, true)`)

const COLUMNS = 'id text, name text, version bigint, spaces text, permissions text'

/** No name that one part gives up is taken by another: each part sees the state before the statement. */
const WRITE = recordedWithAdministration(`${GIVE_UP}
  deleted AS (DELETE FROM seats WHERE tenant = :tenant AND id IN (${postgres.texts(':deleted')})),
  updated AS (UPDATE seats s SET name = u.name, version = u.version, spaces = u.spaces, permissions = u.permissions,
      updated_by = :by::text, updated_at = :now::bigint
    FROM json_to_recordset(:updated::json) AS u (${COLUMNS}) WHERE s.tenant = :tenant AND s.id = u.id),
  made AS (INSERT INTO seats (tenant, id, name, version, spaces, permissions, created_by, created_at)
    SELECT :tenant, m.id, m.name, m.version, m.spaces, m.permissions, :by::text, :now::bigint
    FROM json_to_recordset(:made::json) AS m (${COLUMNS})),`)

type Read = (query: Sql, values: Values) => Promise<Row[]>

export function seatsFileOf(
  pools: ConnectionPools,
): Pick<AdminStore, 'planSeats' | 'seatHolders' | 'isAdministered' | 'applySeats'> {
  return {
    async planSeats({ tenant, scope, now }, wanted) {
      const read: Read = (query, values) => pools.query(pools.administration, query, values)
      const reading = await readSeats(read, tenant, scope, wanted)
      if (isRefusal(reading)) return reading
      const due = dueChanges(wanted, reading)
      if (isRefusal(due)) return due
      const ids = idsOf(due.changes)
      const keys = holdingKeys(await read(QUERIES.keys, { tenant, now, ids, ...visibilityOf(scope) }))
      return {
        unchanged: due.unchanged,
        changes: due.changes.map((change) => ({
          ...change,
          keys: keys.get(change.before?.id ?? '') ?? NO_KEYS,
        })),
        unnamed: wanted.prune ? { count: 0, names: [] } : await unnamed(read, tenant, scope, wanted),
      }
    },

    async seatHolders({ tenant, scope, now }, id) {
      const values = { tenant, now, ids: JSON.stringify([storableOrEmpty(id)]), ...visibilityOf(scope) }
      const [row] = await pools.query(pools.administration, QUERIES.users, values)
      if (row === undefined) return { users: 0, keys: NO_KEYS }
      const keys = holdingKeys(await pools.query(pools.administration, QUERIES.keys, values))
      return { users: integer(row, 'member_count'), keys: keys.get(id) ?? NO_KEYS }
    },

    async isAdministered(tenant, administration) {
      const read: Read = (query, values) => pools.query(pools.administration, query, values)
      const keys = await read(ADMINISTRATING_KEY, administratingKeyValues(tenant, administration))
      if (keys.length > 0) return true
      const { blocks } = asOf((await read(BLOCKS, { tenant }))[0], blocksReading).value
      const values = administratingUserValues(postgres, tenant, administration, blocks)
      return (await read(ADMINISTRATING_USER, values)).length > 0
    },

    applySeats(author, wanted, versions) {
      const writer = storableWriter(author)
      return pools.write(
        async (transaction) => {
          const milliseconds = `${transaction.call.timeout}`
          await transaction.query(PATIENT, { idle: milliseconds, statement: milliseconds })
          const read: Read = (query, values) => transaction.query(query, values)
          const reading = await readSeats(read, writer.tenant, writer.scope, wanted)
          if (isRefusal(reading)) return reading
          const due = dueChanges(wanted, reading)
          if (isRefusal(due)) return due
          const writes = seatWritesDue(writer, due, versions, () => transaction.idTime(writer.now))
          if (isRefusal(writes)) return writes
          if (writes.length === 0) return appliedSeats(writes, due, null)
          const changes = await changesAfter(transaction, writer, writes)
          for (const { action, before, after } of writes)
            transaction.record(seatEvent(`seat.${action}`, before, after), writer.now)
          const committed = await transaction.write(WRITE, changes, valuesOf(transaction, writer, writes))
          if (mayEndAdministration(writer, writes) && !(await isAdministrated(transaction, writer)))
            return lastAdministrator
          return appliedSeats(writes, due, committed)
        },
        writer,
        PATIENCE,
      )
    },
  }
}

async function readSeats(
  read: Read,
  tenant: string,
  scope: Scope,
  wanted: WantedSeats,
): Promise<SeatsReading | AdminRefusal> {
  const faults = faultsIn(wanted) ?? unstorable(wanted)
  if (faults !== null) return faults
  const values = namedValues(tenant, scope, wanted)
  const counted = async (query: Sql) => (await read(query, values))[0] ?? {}
  let size = integer(await counted(QUERIES.namedSize), 'size')
  if (wanted.prune) {
    const others = await counted(QUERIES.othersSize)
    if (integer(others, 'count') > MAX_CHANGES) return tooMany(integer(others, 'count'))
    size += integer(others, 'size')
  }
  if (size > MAX_READ) return readsTooMuch
  const named = await read(QUERIES.named, values)
  const rows = wanted.prune ? [...named, ...(await read(QUERIES.others, values))] : named
  return seatsReading(rows, await read(QUERIES.hidden, values))
}

async function unnamed(read: Read, tenant: string, scope: Scope, wanted: WantedSeats) {
  const values = namedValues(tenant, scope, wanted)
  const [counted] = await read(QUERIES.othersSize, values)
  const rows = await read(QUERIES.unnamed, values)
  return { count: integer(counted ?? {}, 'count'), names: rows.map((row) => text(row, 'name')) }
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

/** Read before the deletions, which take the Seats from the keys. */
async function changesAfter(
  transaction: Transaction,
  { tenant }: Writer,
  writes: readonly SeatWrite[],
): Promise<Change[]> {
  const deleted = writes.filter(({ after }) => after === null)
  const rows =
    deleted.length === 0 ? [] : await transaction.query(QUERIES.keysOf, { tenant, ids: idsOf(deleted) })
  const keys = Map.groupBy(rows, (row) => text(row, 'seat_id'))
  return writes.flatMap((write) => {
    const { before, after } = write
    if (after !== null) return changesOf(after, nameGivenUp(write))
    if (before === null) return []
    return deletionChanges(
      before,
      (keys.get(before.id) ?? []).map((row) => text(row, 'api_key_id')),
    )
  })
}

function valuesOf({ call }: Transaction, writer: Writer, writes: readonly SeatWrite[]): Values {
  const { by } = writer
  const seats = (action: SeatWrite['action']) =>
    JSON.stringify(
      writes.flatMap(({ action: own, after }) => (own === action && after !== null ? row(after) : [])),
    )
  return {
    ...unchangedAdministrationValues(writer, changedSeats(writes)),
    by,
    made: seats('create'),
    updated: seats('update'),
    deleted: idsOf(writes.filter(({ after }) => after === null)),
    given_up: writes.flatMap((write) => nameGivenUp(write) ?? []),
    given_up_at: givenUpAt(writer, call.elapsed),
  }
}

/** Lists as the text of their JSON. */
function row({ id, name, version, spaces, permissions }: StoredSeat) {
  return { id, name, version, spaces: JSON.stringify(spaces), permissions: JSON.stringify(permissions) }
}

async function isAdministrated(transaction: Transaction, { tenant, scope }: Writer): Promise<boolean> {
  return (await transaction.query(ADMINISTRATOR, otherAdministratorValues(tenant, '', scope))).length > 0
}
