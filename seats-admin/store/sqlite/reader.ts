/** Point reads for the data plane, and the feed. Runs in the reader's thread. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { StoredApiKey } from '../../model/api-key.ts'
import type { Change, ChangeKind } from '../../model/change.ts'
import type { StoredSeat } from '../../model/seat.ts'
import type { AsOf, NameReading } from '../store.ts'
import { blob, integer, integerOrNull, type Row, SEAT_COLUMNS, storedSeat, text } from './rows.ts'

/** A reader further behind is told to forget everything: cheaper than to read on. */
const MAX_CHANGES = 1000

/** Each question is one statement that also reads the counter: value and seq are of one snapshot. */
const BY_NAME = `SELECT c.seq, ${SEAT_COLUMNS}, g.at AS given_up_at FROM counter c
  LEFT JOIN seats s ON s.tenant = ?1 AND s.name = ?2
  LEFT JOIN names_given_up g ON g.tenant = ?1 AND g.name = ?2`

const BY_ID = `SELECT c.seq, ${SEAT_COLUMNS} FROM counter c LEFT JOIN seats s ON s.tenant = ? AND s.id = ?`

const KEY_BY_ID = `SELECT c.seq, k.id, k.tenant, k.hash, k.expires_at, k.revoked_at,
  (SELECT json_group_array(ks.seat_id ORDER BY ks.position) FROM api_key_seats ks
   WHERE ks.tenant = k.tenant AND ks.api_key_id = k.id) AS seat_ids
  FROM counter c LEFT JOIN api_keys k ON k.tenant = ? AND k.id = ?`

const CHANGES = `SELECT c.seq AS head, ch.seq, ch.tenant, ch.kind, ch.key FROM counter c
  LEFT JOIN changes ch ON ch.seq > ?1 AND c.seq - ?1 <= ${MAX_CHANGES} ORDER BY ch.seq`

export class Reader {
  readonly #byName: StatementSync
  readonly #byId: StatementSync
  readonly #keyById: StatementSync
  readonly #changes: StatementSync

  constructor(database: DatabaseSync) {
    this.#byName = database.prepare(BY_NAME)
    this.#byId = database.prepare(BY_ID)
    this.#keyById = database.prepare(KEY_BY_ID)
    this.#changes = database.prepare(CHANGES)
  }

  seatByName(tenant: string, name: string): AsOf<NameReading> {
    // SQLite's UTF-8 would make U+FFFD of a lone surrogate, and find the Seat of another name.
    const row = counted(this.#byName.get(tenant, name.isWellFormed() ? name : ''))
    return {
      seq: integer(row, 'seq'),
      value: { seat: seatOrNull(row), givenUpAt: integerOrNull(row, 'given_up_at') },
    }
  }

  seatById(tenant: string, id: string): AsOf<StoredSeat | null> {
    const row = counted(this.#byId.get(tenant, id))
    return { seq: integer(row, 'seq'), value: seatOrNull(row) }
  }

  apiKeyById(tenant: string, id: string): AsOf<StoredApiKey | null> {
    const row = counted(this.#keyById.get(tenant, id))
    return { seq: integer(row, 'seq'), value: row.id === null ? null : storedApiKey(row) }
  }

  /** Each change has a number of its own and there are no gaps: missing ones are known by counting. */
  changesSince(seq: number): { seq: number; changes: Change[] | null } {
    const rows = this.#changes.all(seq)
    const head = integer(counted(rows[0]), 'head')
    const changes = rows.filter((row) => row.seq !== null).map(change)
    return { seq: head, changes: changes.length === Math.max(0, head - seq) ? changes : null }
  }
}

function counted(row: Row | undefined): Row {
  if (row === undefined) throw new Error('the store has no counter')
  return row
}

function seatOrNull(row: Row): StoredSeat | null {
  return row.id === null ? null : storedSeat(row)
}

function storedApiKey(row: Row): StoredApiKey {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    hash: blob(row, 'hash'),
    seatIds: JSON.parse(text(row, 'seat_ids')),
    expiresAt: integerOrNull(row, 'expires_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
  }
}

function change(row: Row): Change {
  return { tenant: text(row, 'tenant'), kind: text(row, 'kind') as ChangeKind, key: text(row, 'key') }
}
