/** One connection to the server: how it is opened, asked and left. Used by the pools, and for migrations. */

import { Socket } from 'node:net'
import pg, { type QueryConfig, type QueryResult } from 'pg'
import { monotonic } from '../clock.ts'
import type { Row } from '../rows.ts'
import { isRefusedByServer, lost, unavailable } from './errors.ts'
import { type Sql, type Values, valuesOf } from './sql.ts'
import type { Target } from './url.ts'

/** Milliseconds for a goodbye. */
const CLOSE_TIMEOUT = 500
/** Milliseconds after which the other side is asked whether it is still there. */
const KEEP_ALIVE = 10_000
const OLDEST_SERVER = 130_000
/** Answers that a connection may take in all, in units of the longest that one may take. */
const MOST_ANSWERS = 5

/** OID of bigint. Numbers and times of the store are far below 2^53. */
const BIGINT = 20

const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** What each connection is told at its start. */
export interface Session {
  /** Milliseconds until the server's machine has accepted the connection, or isn't there. */
  readonly connectTimeout: number
  /** Milliseconds for each answer of the server until it has let us in and taken these settings: six with TLS. */
  readonly answerTimeout: number
  readonly statementTimeout: number
  readonly lockTimeout: number
  /** For which a transaction may stand still: a frozen owner must not keep the others out. */
  readonly idleTimeout: number
  /** Whether a commit is on disk before it is acknowledged. */
  readonly durable: boolean
}

export class Connection {
  readonly #client: pg.Client
  readonly #place: string
  /** When it was, by the clock of `../clock.ts`. */
  readonly opened = monotonic()
  /** When the server had let us in. */
  ready = Number.POSITIVE_INFINITY
  #broken = false
  #asking = 0
  /** Called when it breaks while nobody uses it. */
  onBroken: () => void = () => {}

  private constructor(target: Target) {
    this.#place = target.place
    this.#client = new pg.Client({
      ...target.client,
      types,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE,
    })
    const broken = () => {
      this.#broken = true
      this.onBroken()
    }
    this.#client.on('error', broken)
    this.#client.on('end', broken)
  }

  /** Rejects with a StoreUnavailable. */
  static async open(target: Target, session: Session): Promise<Connection> {
    const connection = new Connection(target)
    let late: string | null = null
    const end = connection.#watch(session, (how) => {
      late = how
      connection.destroy()
    })
    try {
      await connection.#client.connect()
      await connection.#begin(session)
      connection.ready = monotonic()
      return connection
    } catch (cause) {
      connection.destroy()
      throw late === null ? unavailable(target.place, cause) : lost(target.place, late)
    } finally {
      end()
    }
  }

  /** Milliseconds that it took the server to let us in: two answers at least. */
  get entry(): number {
    return this.ready - this.opened
  }

  /** May be asked again. */
  get usable(): boolean {
    return !this.#broken && this.#client.getTransactionStatus() === 'I'
  }

  /** Rejects with a StoreUnavailable: a ConnectionLost where it is not known what became of the question. */
  async ask(question: Sql, values: Values): Promise<Row[]> {
    const { text, prepared } = question
    const config: QueryConfig = { text, values: valuesOf(question, values) }
    if (prepared !== null) config.name = prepared
    return (await this.#query<QueryResult<Row>>(config)).rows
  }

  /** Statements without parameters, in one message; what the last one gives. */
  async run(script: string): Promise<{ readonly command: string; readonly rows: Row[] }> {
    const results = await this.#query<QueryResult<Row> | QueryResult<Row>[]>({ text: script })
    const last = Array.isArray(results) ? results.at(-1) : results
    return { command: last?.command ?? '', rows: last?.rows ?? [] }
  }

  /** At once: what it is at is rejected, and its answer, however late, reaches nobody. */
  destroy(): void {
    this.#broken = true
    this.#client.connection.stream.destroy()
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), CLOSE_TIMEOUT)
    await this.#client.end()
    clearTimeout(timer)
  }

  async #query<R>(config: QueryConfig): Promise<R> {
    this.#keepAlive(true)
    try {
      return (await this.#client.query(config)) as R
    } catch (cause) {
      if (this.#broken && !isRefusedByServer(cause)) throw lost(this.#place, cause)
      if (!this.#broken && !isRefusedByServer(cause)) throw cause
      throw unavailable(this.#place, cause)
    } finally {
      this.#keepAlive(false)
    }
  }

  /**
   * A server that is slow but answers is waited for, one that is silent is given up: so a busy server is reached, and a
   * line that was cut is tried again soon after it is whole.
   */
  #watch({ connectTimeout, answerTimeout }: Session, late: (how: string) => void): () => void {
    const begun = monotonic()
    let [moved, bytes] = [begun, 0]
    const look = () => {
      const { stream } = this.#client.connection
      const now = monotonic()
      if (stream instanceof Socket && !stream.connecting && stream.bytesRead !== bytes)
        [moved, bytes] = [now, stream.bytesRead]
      const connecting = stream instanceof Socket && stream.connecting
      const limit = connecting ? connectTimeout : answerTimeout
      if (now - moved >= limit) late(`no ${connecting ? 'connection' : 'answer'} within ${limit} ms`)
      else if (now - begun >= MOST_ANSWERS * answerTimeout) late('it lets nobody in')
    }
    const timer = setInterval(look, Math.ceil(connectTimeout / 20))
    return () => clearInterval(timer)
  }

  /** A process that forgot to close the store may end; one that waits for an answer may not. */
  #keepAlive(asking: boolean): void {
    this.#asking += asking ? 1 : -1
    const { stream } = this.#client.connection
    if (!(stream instanceof Socket)) return
    if (this.#asking > 0) stream.ref()
    else stream.unref()
  }

  async #begin(session: Session): Promise<void> {
    const { rows } = await this.run(settingsOf(session))
    const { encoding, version, standby } = rows[0] ?? {}
    if (Number(version) < OLDEST_SERVER) throw new Error(`PostgreSQL 13 or later is needed`)
    if (encoding !== 'UTF8') throw new Error(`the database is encoded in ${encoding}: it must be UTF8`)
    // It may lag behind, and what it says would be stale.
    if (standby === true) throw new Error('the server is a standby: the primary is needed')
  }
}

/** `search_path`: the store's tables, and nothing of the same name that somebody else made elsewhere. */
function settingsOf({ statementTimeout, lockTimeout, idleTimeout, durable }: Session): string {
  const settings = {
    search_path: 'seatgate, pg_temp',
    client_min_messages: 'error',
    synchronous_commit: durable ? 'on' : 'off',
    // Whatever the database's default: what had to wait for a row is to look at it again, not to fail.
    default_transaction_isolation: `'read committed'`,
    statement_timeout: statementTimeout,
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: idleTimeout,
    // Ends the session also where the other side has gone, or stands still and reads nothing, amidst an answer.
    tcp_user_timeout: idleTimeout,
    tcp_keepalives_idle: KEEP_ALIVE / 1000,
  }
  const script = Object.entries(settings).map(([name, value]) => `SET ${name} = ${value}`)
  script.push(`SELECT current_setting('server_encoding') AS encoding,
    current_setting('server_version_num') AS version, pg_is_in_recovery() AS standby`)
  return script.join('; ')
}
