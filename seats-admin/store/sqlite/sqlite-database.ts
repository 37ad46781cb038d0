/**
 * SQLite as the database of the store, in one of its threads. Each call runs to its end before the thread
 * takes another.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { headQuery } from '../audit-chain.ts'
import type { Database, Lists, Page, UnnumberedWrites } from '../database.ts'
import { PAGE_TEXT } from '../pages.ts'
import type { Columns, Dialect, Row } from '../rows.ts'
import {
  type Insertion,
  type Part,
  replaceParameters,
  type Statements,
  valueOf,
  type Values,
} from '../statements.ts'
import { feedParameters, feedQuery, feedReading } from '../feed.ts'
import { methodsOf, type StoreMethods } from '../store-methods.ts'
import { storableWriter } from '../storable-text.ts'
import type { Writer } from '../store.ts'
import { AUTHOR, authorValues, chainOf, COUNTER, keyAdministers, Transaction } from '../transaction.ts'
import { codeIn } from '../unavailable.ts'
import type { RunningCall } from './calls.ts'
import { WriteTransactions } from './sqlite-connection.ts'
import { checkOwner, OWNER, Superseded } from './ownership.ts'

/** SQLite's variants of the shared SQL. */
export const sqlite: Dialect = {
  spacesColumn: 's.spaces',
  list: (value, order) => `json_group_array(${value} ORDER BY ${order})`,
  texts: (parameter) => `SELECT value FROM json_each(${parameter})`,
  among: (_table, keys, column, parameter) =>
    `${keys} AND l.${column} IN (SELECT value FROM json_each(${parameter}))`,
  records(parameter, name, columns) {
    const selected = Object.keys(columns).map((column) => `value ->> '${column}' AS ${column}`)
    // With a LIMIT, a join has the records once and finds the rows of a table by its index. Without one, it
    // may parse the whole parameter again for each row of the table.
    return `(SELECT ${selected.join(', ')} FROM json_each(${parameter}) LIMIT -1) AS ${name}`
  },
  // The driver reads one row at a time, and stops.
  page: (rows) => rows,
  // A write excludes all others.
  forUpdate: '',
  skipLocked: '',
  ifNoSoleLock: 'WHERE 1 = 1',
  soleLock: '',
  instanceWithoutBlocks: null,
  instanceWithout: null,
  instanceWithOtherTables: null,
  instanceWithTables: null,
  administrators: 'seats INDEXED BY administrators',
  clock: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  wildcards: 'seats s INDEXED BY wildcards',
  position: (text, part) => `instr(${text}, ${part})`,
  // The order of a CROSS JOIN is kept.
  lookup: (table, condition, alias = 'l') => `CROSS JOIN ${table} ${alias} ON ${condition}`,
  seatNamed: (name) =>
    `CROSS JOIN (SELECT tenant, id AS seat_id, name FROM seats) l ON l.tenant = :tenant AND l.name = ${name}`,
  isMember: (sub) => `l.user = ${sub}`,
  member: 'l.user',
  memberOf: (sub) => sub,
  memberColumn: 'user',
  memberKey: (sub) => sub,
  // `LIKE` searches for its first literal character by `strcspn`, `instr` compares at each position.
  hasAsterisk: (text) => `${text} LIKE '%*%'`,
  // `instr` on 64 KiB takes ten times as long as reading the text and asking V8.
  narrowsInSql: false,
}

const ADMINISTRATION = keyAdministers(sqlite)
const FEED = feedQuery('c.owner,')

/**
 * The store's methods on a connection.
 *
 * @param owner the gateway, as which alone it writes and follows the feed; null for other programs
 */
export function methodsOn(
  connection: DatabaseSync,
  running: RunningCall,
  owner: string | null,
): StoreMethods {
  const prepared = new PreparedStatements(connection)
  const methods = methodsOf(new SqliteDatabase(connection, running, owner, prepared))
  if (owner === null) return methods
  return {
    ...methods,
    async changesSince(position) {
      const rows = prepared.all(FEED, feedParameters(position))
      // Same snapshot: no snapshot that names this owner contains writes of another owner.
      if (rows[0]?.owner !== owner) throw new Superseded()
      return feedReading(rows, position)
    },
  }
}

/** The database of a connection. */
export class SqliteDatabase implements Database {
  readonly dialect = sqlite
  readonly reads: Statements
  readonly lists: Lists
  readonly unnumbered: UnnumberedWrites
  readonly #connection: DatabaseSync
  readonly #running: RunningCall
  readonly #owner: string | null
  readonly #prepared: PreparedStatements
  #transactions: WriteTransactions | null = null

  /** @param owner the gateway, as which alone it writes; null for other programs */
  constructor(
    connection: DatabaseSync,
    running: RunningCall,
    owner: string | null = null,
    prepared = new PreparedStatements(connection),
  ) {
    this.#connection = connection
    this.#running = running
    this.#owner = owner
    this.#prepared = prepared
    const reads: Statements = {
      all: async (statement, values) => prepared.all(statement, values),
      get: async (statement, values) => prepared.get(statement, values),
    }
    this.reads = reads
    this.lists = {
      ...reads,
      page: async (statement, values, limit) =>
        prepared.page(statement, values, limit, () => running.throwIfExpired()),
    }
    const all: Statements['all'] = (...of) => this.#exclusively(() => reads.all(...of))
    this.unnumbered = {
      all,
      get: (...of) => this.#exclusively(() => reads.get(...of)),
      modify: (...of) => this.#exclusively(() => this.#modify(...of)),
      unobserved: async (...of) => void (await all(...of)),
    }
  }

  readonly write: Database['write'] = (author, work) => {
    const writer = storableWriter(author)
    return this.#exclusively(async () => work(this.#begun(writer), writer))
  }

  #exclusively<V>(work: () => Promise<V>): Promise<V> {
    this.#transactions ??= new WriteTransactions(this.#connection)
    return this.#transactions.run(this.#running.deadline(), () => {
      if (this.#owner !== null) checkOwner(this.#prepared.get(OWNER, {}), this.#owner)
      return work()
    })
  }

  #begun(writer: Writer | null): Transaction {
    const chain = writer === null ? null : chainOf(writer, this.#authorOf(writer))
    const elapsed = () => this.#running.elapsed()
    const bePatient = async () => {}
    const open = { ...this.reads, modify: this.#modify.bind(this), elapsed, bePatient }
    return new Transaction(open, ADMINISTRATION, this.#prepared.get(COUNTER, {}), chain)
  }

  /** Without the join where there is no key, which takes a third of the time. */
  #authorOf(writer: Writer): Row | undefined {
    const values = authorValues(writer)
    return this.#prepared.get(values.key === null ? headQuery : AUTHOR, values)
  }

  async #modify(parts: readonly Part[], result: string, values: Values): Promise<Row[]> {
    for (const part of parts) {
      this.#running.throwIfExpired()
      if (typeof part === 'string') this.#prepared.all(part, values)
      else this.#prepared.insert(part)
    }
    return this.#prepared.all(result, values)
  }
}

interface Prepared {
  readonly statement: StatementSync
  /** The name of the parameter at each position. */
  readonly names: readonly string[]
}

/** The statements of a connection, each prepared at its first use. */
class PreparedStatements {
  readonly #connection: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()
  readonly #insertions = new Map<Columns, string>()

  constructor(connection: DatabaseSync) {
    this.#connection = connection
  }

  all(text: string, values: Values): Row[] {
    const { statement, names } = this.#of(text)
    return statement.all(...parametersOf(names, values))
  }

  get(text: string, values: Values): Row | undefined {
    const { statement, names } = this.#of(text)
    return statement.get(...parametersOf(names, values))
  }

  /**
   * Reads one row at a time: bounds the memory of a page of large rows.
   *
   * @param next called before each row
   */
  page(text: string, values: Values, limit: number, next: () => void): Page {
    const { statement, names } = this.#of(text)
    const parameters = parametersOf(names, values)
    try {
      return pageOf(statement.iterate(...parameters), limit, next)
    } catch (cause) {
      if (codeIn(cause) !== 'ERR_OUT_OF_RANGE') throw cause
      return pageWithBigIntegers(statement, parameters, limit, next)
    }
  }

  insert({ table, columns, records }: Insertion): void {
    const text = this.#insertions.get(columns) ?? insertionInto(table, columns)
    this.#insertions.set(columns, text)
    for (const record of records) this.all(text, record)
  }

  #of(text: string): Prepared {
    const cached = this.#prepared.get(text)
    if (cached !== undefined) return cached
    const names: string[] = []
    // Bound by position, which takes half the time.
    const numbered = replaceParameters(text, (name) => {
      names.push(name)
      return '?'
    })
    const made = { statement: this.#connection.prepare(numbered), names }
    this.#prepared.set(text, made)
    return made
  }
}

function parametersOf(names: readonly string[], values: Values): Values[string][] {
  return names.map((name) => valueOf(values, name))
}

function insertionInto(table: string, columns: Columns): string {
  const names = Object.keys(columns)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')})`
}

function pageOf(source: Iterable<Row>, limit: number, next: () => void): Page {
  const rows: Row[] = []
  let size = 0
  for (const row of source) {
    next()
    if (rows.length === limit || size >= PAGE_TEXT) return { rows, hasMore: true }
    for (const value of Object.values(row)) if (typeof value === 'string') size += value.length
    rows.push(row)
  }
  return { rows, hasMore: false }
}

/** A row that was tampered with has an integer that no number has: reading it must not fail. */
function pageWithBigIntegers(
  statement: StatementSync,
  parameters: readonly Values[string][],
  limit: number,
  next: () => void,
): Page {
  statement.setReadBigInts(true)
  try {
    const { rows, hasMore } = pageOf(statement.iterate(...parameters), limit, next)
    return { rows: rows.map(withNumbers), hasMore }
  } finally {
    statement.setReadBigInts(false)
  }
}

/** Inexact above 2^53, where no row that was written has a number. */
function withNumbers(row: Row): Row {
  const number = (value: unknown) => (typeof value === 'bigint' ? Number(value) : value)
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, number(value)]))
}
