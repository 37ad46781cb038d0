/** One connection to the PostgreSQL server. */

import { Socket } from 'node:net'
import pg, { type QueryConfig, type QueryResult } from 'pg'
import { monotonic } from '../monotonic.ts'
import type { Row } from '../rows.ts'
import { UnusableStore } from '../unavailable.ts'
import { connectionLost, tooLate, unavailable } from './postgres-errors.ts'
import type { Values } from '../statements.ts'
import { sql, valuesOf } from './sql.ts'
import type { Target } from './url.ts'

/** Milliseconds for a clean close. */
const CLOSE_TIMEOUT = 500
/** Milliseconds of idle time before TCP keep-alive probes. */
const KEEP_ALIVE = 10_000
const MIN_SERVER_VERSION = 130_000
/** Limit of the whole login, in multiples of `answerTimeout`. */
const MAX_RESPONSES = 5

/** OID of bigint. Numbers and times of the store are far below 2^53. */
const BIGINT = 20

const types = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/** Settings of each connection. */
export interface Session {
  /** Milliseconds for the TCP connect. */
  readonly connectTimeout: number
  /** Milliseconds for each response during login and setup; with TLS there are six. */
  readonly answerTimeout: number
  readonly statementTimeout: number
  readonly lockTimeout: number
  /** Milliseconds that a transaction may be idle: a frozen process must not block the other writers. */
  readonly idleTimeout: number
  /** Whether a commit is on disk before it is acknowledged. */
  readonly durable: boolean
}

type StatementResult = Pick<QueryResult<Row>, 'command' | 'rows'>

export class Connection {
  readonly #client: pg.Client
  readonly #place: string
  /** Monotonic ms; see `../monotonic.ts`. */
  readonly openedAt = monotonic()
  /** Monotonic ms of the completed login. */
  readyAt = Number.POSITIVE_INFINITY
  #broken = false
  #pending = 0
  /** Called when an idle connection breaks. */
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

  /**
   * Rejects with a StoreUnavailable.
   *
   * @param check called after the login, before any setting of the session is made
   */
  static async open(
    target: Target,
    session: Session,
    check: (connection: Connection) => Promise<void> = async () => {},
  ): Promise<Connection> {
    return Connection.#login(target, session, async (connection) => {
      await check(connection)
      await connection.#begin(session)
    })
  }

  /**
   * A connection without settings of its own: nothing is left where sessions are shared. As {@link open}
   * rejects.
   */
  static openBare(target: Target, session: Session): Promise<Connection> {
    return Connection.#login(target, session, async () => {})
  }

  static async #login(
    target: Target,
    session: Session,
    begin: (connection: Connection) => Promise<void>,
  ): Promise<Connection> {
    const connection = new Connection(target)
    let late: string | null = null
    const end = connection.#watch(session, (how) => {
      late = how
      connection.destroy()
    })
    try {
      await connection.#client.connect()
      await begin(connection)
      connection.readyAt = monotonic()
      return connection
    } catch (cause) {
      connection.destroy()
      throw late === null ? unavailable(target.place, cause) : tooLate(target.place, late)
    } finally {
      end()
    }
  }

  /** Milliseconds of connect and login, which take at least two responses. */
  get connectTime(): number {
    return this.readyAt - this.openedAt
  }

  /** The process that the login named: a pooler names one of its own. Null: none. */
  get namedProcess(): number | null {
    // Left out of the driver's types.
    return (this.#client as pg.Client & { readonly processID?: number | null }).processID ?? null
  }

  /** Whether the connection can run another query. */
  get usable(): boolean {
    return !this.#broken && this.#client.getTransactionStatus() === 'I'
  }

  /**
   * Rejects with a StoreUnavailable; with a ConnectionLost when the query's outcome is unknown.
   *
   * @param isPrepared whether the server parses the statement once for the connection, which frequent ones
   *   are worth
   */
  async query(statement: string, values: Values, isPrepared = false): Promise<Row[]> {
    const question = sql(statement)
    const config: QueryConfig = { text: question.text, values: valuesOf(question, values) }
    if (isPrepared) config.name = question.prepared
    return (await this.#query<QueryResult<Row>>(config)).rows
  }

  /** Runs statements without parameters in one message. @returns the result of the last one */
  async run(script: string): Promise<StatementResult> {
    return (await this.runEach(script)).at(-1) ?? { command: '', rows: [] }
  }

  /** Like {@link run}. @returns the result of each statement */
  async runEach(script: string): Promise<StatementResult[]> {
    const results = await this.#query<QueryResult<Row> | QueryResult<Row>[]>({ text: script })
    return Array.isArray(results) ? results : [results]
  }

  /** Closes at once: the pending query rejects, and its late response is dropped. */
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
      if (cause instanceof pg.DatabaseError) throw unavailable(this.#place, cause)
      throw this.#broken ? connectionLost(this.#place, cause) : cause
    } finally {
      this.#keepAlive(false)
    }
  }

  /**
   * Waits for a slow server while it responds, and gives up a silent one: a busy server is reached, and a new
   * attempt follows soon after a network failure.
   */
  #watch({ connectTimeout, answerTimeout }: Session, late: (how: string) => void): () => void {
    const startedAt = monotonic()
    let [lastActivity, bytes] = [startedAt, 0]
    const check = () => {
      const { stream } = this.#client.connection
      const now = monotonic()
      if (stream instanceof Socket && !stream.connecting && stream.bytesRead !== bytes)
        [lastActivity, bytes] = [now, stream.bytesRead]
      const connecting = stream instanceof Socket && stream.connecting
      const limit = connecting ? connectTimeout : answerTimeout
      if (now - lastActivity >= limit) late(`no ${connecting ? 'connection' : 'response'} within ${limit} ms`)
      else if (now - startedAt >= MAX_RESPONSES * answerTimeout)
        late('the server does not complete the login')
    }
    const timer = setInterval(check, Math.ceil(connectTimeout / 20))
    return () => clearInterval(timer)
  }

  /** Only a pending query keeps the process alive. */
  #keepAlive(pending: boolean): void {
    this.#pending += pending ? 1 : -1
    const { stream } = this.#client.connection
    if (!(stream instanceof Socket)) return
    if (this.#pending > 0) stream.ref()
    else stream.unref()
  }

  async #begin(session: Session): Promise<void> {
    const { rows } = await this.run(settingsOf(session))
    const { encoding, version, standby } = rows[0] ?? {}
    if (Number(version) < MIN_SERVER_VERSION)
      throw new UnusableStore('OLD_SERVER', 'PostgreSQL 13 or later is required')
    if (encoding !== 'UTF8')
      throw new UnusableStore('ENCODING', `the encoding of the database is ${encoding}: it must be UTF8`)
    // A standby may lag behind.
    if (standby === true)
      throw new UnusableStore('STANDBY', 'the server is a standby: connect to the primary')
  }
}

/** `search_path` excludes tables of the same name in other schemas. */
function settingsOf({ statementTimeout, lockTimeout, idleTimeout, durable }: Session): string {
  const settings = {
    search_path: 'seatgate, pg_temp',
    client_min_messages: 'error',
    synchronous_commit: durable ? 'on' : 'off',
    // Overrides the database's default: a statement that waited for a row must re-read it, not fail.
    default_transaction_isolation: `'read committed'`,
    statement_timeout: statementTimeout,
    lock_timeout: lockTimeout,
    idle_in_transaction_session_timeout: idleTimeout,
    // Also ends the session when the client disappears or stops reading during a response.
    tcp_user_timeout: idleTimeout,
    tcp_keepalives_idle: KEEP_ALIVE / 1000,
  }
  const script = Object.entries(settings).map(([name, value]) => `SET ${name} = ${value}`)
  script.push(`SELECT current_setting('server_encoding') AS encoding,
    current_setting('server_version_num') AS version, pg_is_in_recovery() AS standby`)
  return script.join('; ')
}
