/**
 * Sign-in sessions in the shared store.
 *
 * What adds nothing to the feed is one statement, held apart from others by the lock of its row alone, on connections
 * of its own kind: however many sign in, writes to Seats don't wait for them. What does takes its turn among all
 * writers first, and then the row; nobody who holds the row waits for that turn.
 *
 * A statement may be sent again where its answer was lost. `create` and `rotate` know what they did themselves; the
 * others then find no more to do, and say so.
 */

import { integer, type Row } from '../rows.ts'
import { sessionOrNull, sessionValues, storedSession } from '../session-rows.ts'
import type { HandleProof, Renewal, Rotation, SessionStore, StoredSession } from '../session-store.ts'
import {
  CLAIM,
  CREATE,
  FIND,
  GIVE_BACK,
  idTaken,
  outcomeOf,
  USE,
  type Use,
  useOf,
} from '../session-writes.ts'
import type { Connection } from './connection.ts'
import { wanted } from './dialect.ts'
import type { Lanes } from './lanes.ts'
import { readSession } from './reader.ts'
import { endSession, renewSession, rotateInTurn } from './session-writer.ts'
import { type Sql, sql, type Values } from './sql.ts'

const INSERT = sql(CREATE)
const WHOLE = sql(FIND)
const HANDLE_USE = sql(USE)
const HANDLE_RETURN = sql(GIVE_BACK)
const RENEWAL_CLAIM = sql(CLAIM)

/** Leaves out what others are at: two that prune at once share the work. */
const PRUNE = sql(
  `WITH old AS MATERIALIZED (SELECT tenant, id FROM sessions WHERE expires_at < :before
     ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED),
   gone AS (DELETE FROM sessions s USING old WHERE s.tenant = old.tenant AND s.id = old.id RETURNING 1)
   SELECT count(*) AS gone FROM gone`,
)

export class PostgresSessions implements SessionStore {
  readonly #lanes: Lanes

  constructor(lanes: Lanes) {
    this.#lanes = lanes
  }

  async create(session: StoredSession): Promise<void> {
    if ((await this.#ask(INSERT, sessionValues(session))).length === 0) throw idTaken()
  }

  readSession(tenant: string, id: string) {
    return this.#lanes.ask(this.#lanes.reads, (connection) => readSession(connection, tenant, id))
  }

  async sessionById(tenant: string, id: string): Promise<StoredSession | null> {
    const values = { tenant, id: wanted(id) }
    const rows = await this.#lanes.ask(this.#lanes.reads, (connection) => connection.ask(WHOLE, values))
    return sessionOrNull(rows[0])
  }

  /** The turn is waited for only where a family is to be ended: what a stranger sends never gets so far. */
  async rotate(
    tenant: string,
    id: string,
    proof: HandleProof,
    next: Uint8Array,
    now: number,
  ): Promise<Rotation> {
    const asked = useOf(tenant, wanted(id), proof, next, now)
    const { signIns } = this.#lanes
    const rotation = await this.#lanes.ask(signIns, (connection) => rotateAtOnce(connection, asked))
    return rotation ?? this.#lanes.write((transaction) => rotateInTurn(transaction, asked))
  }

  async giveBack(
    tenant: string,
    id: string,
    from: Uint8Array | null,
    to: Uint8Array | null,
    sealed: string | null,
  ): Promise<boolean> {
    const values = { tenant, id: wanted(id), from_hash: from, to_hash: to, sealed }
    return (await this.#ask(HANDLE_RETURN, values)).length > 0
  }

  async claimRenewal(tenant: string, id: string, now: number, until: number): Promise<StoredSession | null> {
    return sessionOrNull((await this.#ask(RENEWAL_CLAIM, { tenant, id: wanted(id), now, until }))[0])
  }

  renew(tenant: string, id: string, handle: Uint8Array | null, renewal: Renewal) {
    return this.#lanes.write((transaction) => renewSession(transaction, tenant, wanted(id), handle, renewal))
  }

  end(tenant: string, id: string, now: number) {
    return this.#lanes.write((transaction) => endSession(transaction, tenant, wanted(id), now))
  }

  async prune(before: number, limit: number): Promise<number> {
    const [row] = await this.#ask(PRUNE, { before, limit })
    return row === undefined ? 0 : integer(row, 'gone')
  }

  #ask(question: Sql, values: Values): Promise<Row[]> {
    return this.#lanes.ask(this.#lanes.signIns, (connection) => connection.ask(question, values))
  }
}

/** @returns null where it takes a turn to tell, or to end the family */
async function rotateAtOnce(connection: Connection, asked: Use): Promise<Rotation | null> {
  const [row] = await connection.ask(HANDLE_USE, asked)
  if (row !== undefined) return { outcome: 'rotated', session: storedSession(row) }
  const outcome = outcomeOf((await connection.ask(WHOLE, asked))[0], asked)
  return outcome === 'rotated' || outcome === 'replayed' ? null : { outcome }
}
