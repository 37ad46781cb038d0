/**
 * Fills a store faster than its own writes do, with thousands of rows in a statement, and leaves it in the
 * same state: ids in order, the counter at the last change, the newest changes in the feed.
 */

import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { openStore } from '../../seats-admin/index.ts'
import { ulid } from '../../seats-admin/model/ulid.ts'
import { drawMark, MAX_RETAINED } from '../../seats-admin/store/feed.ts'
import type { Seat } from './population.ts'

/** Rows of one statement. */
const BATCH = 5000

const SEATS = `INSERT INTO seatgate.seats (tenant, id, name, spaces, permissions, created_by, created_at)
  SELECT row.tenant, row.id, row.name, row.spaces, row.permissions, 'bench', row.at
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    AS row (tenant, id, name, spaces, permissions, at)`
const CHANGES = `INSERT INTO seatgate.changes (seq, mark, tenant, kind, key, audited)
  SELECT *, true FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[])`
const COUNTER = 'UPDATE seatgate.counter SET seq = $1, mark = $2, id_time = $3'
const SIZE = `SELECT pg_table_size('seatgate.seats') AS rows, pg_indexes_size('seatgate.seats') AS indexes`

interface Row extends Seat {
  readonly id: string
  readonly at: number
}

export interface Filled {
  readonly seats: number
  readonly seconds: number
  /** Bytes of the Seats and of their indexes, after VACUUM. */
  readonly rows: number
  readonly indexes: number
}

/**
 * Fills an empty database.
 *
 * @param count of all Seats
 */
export async function fill(url: string, count: number, seats: Iterable<Seat>): Promise<Filled> {
  // Opening creates the tables.
  await (await openStore({ kind: 'postgres', url })).close()
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const begun = performance.now()
    await insertAll(client, count, seats)
    const seconds = (performance.now() - begun) / 1000
    await client.query('VACUUM ANALYZE seatgate.seats')
    const [size] = (await client.query(SIZE)).rows
    return { seats: count, seconds, rows: Number(size.rows), indexes: Number(size.indexes) }
  } finally {
    await client.end()
  }
}

/** Inserts Seats created at one per millisecond, up to now: ids sort in order of creation. */
async function insertAll(client: Client, count: number, seats: Iterable<Seat>): Promise<void> {
  const first = Date.now() - count
  let made = 0
  let batch: Row[] = []
  const newest: Row[] = []
  for (const seat of seats) {
    const at = first + made++
    const row = { ...seat, id: ulid(at, randomBytes(16)), at }
    batch.push(row)
    if (made > count - MAX_RETAINED / 2) newest.push(row)
    if (batch.length < BATCH) continue
    await insert(client, batch)
    batch = []
  }
  await insert(client, batch)
  if (made !== count) throw new Error(`${made} Seats came, and not ${count}`)
  await announceAll(client, count, newest)
}

async function insert(client: Client, rows: readonly Row[]): Promise<void> {
  const column = (of: (row: Row) => string | number) => rows.map(of)
  await client.query(SEATS, [
    column(({ tenant }) => tenant),
    column(({ id }) => id),
    column(({ name }) => name),
    column(({ spaces }) => JSON.stringify(spaces)),
    column(({ permissions }) => JSON.stringify(permissions)),
    column(({ at }) => at),
  ])
}

/**
 * Writes the feed. Each Seat is two changes: the Seat, and the meaning of its name. The feed keeps the
 * newest.
 */
async function announceAll(client: Client, count: number, newest: readonly Row[]): Promise<void> {
  const from = 2 * (count - newest.length)
  const marked = newest.map((row) => ({ ...row, mark: drawMark() }))
  const changes = marked.flatMap(({ tenant, id, name, mark }, i) => [
    { seq: from + 2 * i + 1, mark, tenant, kind: 'seat', key: id },
    { seq: from + 2 * i + 2, mark, tenant, kind: 'seat-name', key: name },
  ])
  await client.query(CHANGES, [
    changes.map(({ seq }) => seq),
    changes.map(({ mark }) => mark),
    changes.map(({ tenant }) => tenant),
    changes.map(({ kind }) => kind),
    changes.map(({ key }) => key),
  ])
  const last = marked.at(-1)
  await client.query(COUNTER, [2 * count, last?.mark ?? 0, last?.at ?? 0])
}
