/** Connections to the database file, and transactions. */

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isRefusal } from '../../model/refusal.ts'
import { monotonic } from '../monotonic.ts'
import { codeIn, messageOf, type StoreFault, StoreUnavailable, UnusableStore } from '../unavailable.ts'

/** WAL bytes kept on disk after a checkpoint. */
const JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024

/** Timeout of the lock as a share of the remaining call time; leaves time for the write or the error. */
const LOCK_SHARE = 0.75
/** Milliseconds. */
const LOCK_STEP = 50

/** SQLITE_ERROR and SQLITE_BUSY (sqlite.org/rescode.html). */
const ERROR = 1
const BUSY = 5

/** Whether another connection holds the lock. The low byte of an extended code is the primary code. */
export function isBusy(cause: unknown): boolean {
  return (codeOf(cause) & 0xff) === BUSY
}

/** SQLite's extended result code; 0 for an error of another origin. */
function codeOf(cause: unknown): number {
  return cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : 0
}

interface Result {
  readonly fault: StoreFault
  /** SQLite's name, if a start can meet it. */
  readonly name: string | null
}

/** By the low byte of the result code (sqlite.org/rescode.html). */
const RESULTS = new Map<number, Result>([
  [3, { fault: 'denied', name: 'SQLITE_PERM' }],
  [BUSY, { fault: 'locked', name: 'SQLITE_BUSY' }],
  [6, { fault: 'locked', name: null }],
  [8, { fault: 'read_only', name: 'SQLITE_READONLY' }],
  [10, { fault: 'io_error', name: null }],
  [11, { fault: 'corrupt', name: 'SQLITE_CORRUPT' }],
  [13, { fault: 'disk_full', name: 'SQLITE_FULL' }],
  [14, { fault: 'io_error', name: 'SQLITE_CANTOPEN' }],
  [26, { fault: 'corrupt', name: 'SQLITE_NOTADB' }],
])

/** Null for errors that a caller's value can cause. */
export function faultOf(cause: unknown): StoreFault | null {
  if (codeOf(cause) === ERROR) return /no such (table|column)/.test(String(cause)) ? 'schema' : null
  return RESULTS.get(codeOf(cause) & 0xff)?.fault ?? null
}

/** The disk has no room for the index (SQLITE_IOERR_SHMSIZE). */
const NO_ROOM_FOR_INDEX = 4874

/** SQLITE_FULL, and the index's form of it. */
export function isDiskFull(cause: unknown): boolean {
  return codeOf(cause) === NO_ROOM_FOR_INDEX || (codeOf(cause) & 0xff) === 13
}

/** {@link StoreUnavailable.code} of an error while the file is opened. */
export function openingCode(cause: unknown): string | null {
  if (isDiskFull(cause)) return 'SQLITE_FULL'
  return codeOf(cause) === 0 ? codeIn(cause) : (RESULTS.get(codeOf(cause) & 0xff)?.name ?? null)
}

/** @param how as in `cannot be opened` */
export function unopened(path: string, how: string, cause: unknown): StoreUnavailable {
  const message = `the store ${path} ${how}: ${messageOf(cause)}`
  return new StoreUnavailable(message, { cause, code: openingCode(cause) })
}

/** Opens an existing file; never creates or writes one by itself. */
export function connect(path: string, mode: 'ro' | 'rw', busyTimeout: number): DatabaseSync {
  const url = pathToFileURL(path)
  url.searchParams.set('mode', mode)
  const database = new DatabaseSync(url, {
    readOnly: mode === 'ro',
    timeout: busyTimeout,
    enableForeignKeyConstraints: true,
    allowExtension: false,
    defensive: true,
  })
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON')
  // In WAL mode only FULL waits for the disk at each commit: an acknowledged write survives a loss of power.
  if (mode === 'rw') database.exec('PRAGMA synchronous = FULL')
  return database
}

/**
 * Reads the file itself and ignores its WAL. SQLite takes no lock and neither creates nor reads other files.
 *
 * An interrupted checkpoint leaves a file that is shorter than its first page states and complete only with
 * its WAL. `writable_schema` permits that; writes stay impossible.
 */
export function connectImmutable(path: string): DatabaseSync {
  const url = pathToFileURL(path)
  url.searchParams.set('mode', 'ro')
  url.searchParams.set('immutable', '1')
  const database = new DatabaseSync(url, { readOnly: true, allowExtension: false, defensive: false })
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA writable_schema = ON')
  return database
}

/** Only for a file that is known to be a store. */
export function enableWal(database: DatabaseSync): void {
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = ${JOURNAL_SIZE_LIMIT}`)
}

/** Reads the whole file. @throws with the first damage found */
export function checkIntegrity(database: DatabaseSync): void {
  const row = database.prepare('PRAGMA quick_check(1)').get()
  const verdict = Object.values(row ?? {})[0]
  if (verdict !== 'ok') throw new UnusableStore('DAMAGED', `the file is damaged: ${String(verdict)}`)
}

/** The call's deadline has passed; nothing was written. */
export class CallExpired extends Error {
  constructor() {
    super('the call expired')
    this.name = 'CallExpired'
  }
}

/** Write transactions of a connection. Their statements are prepared once. */
export class WriteTransactions {
  readonly #database: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #rollback: StatementSync
  #lockTimeout = 0

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#begin = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#rollback = database.prepare('ROLLBACK')
  }

  /**
   * Runs `work` in a transaction that holds the write lock from its start, so that its reads stay valid until
   * the commit. A refusal rolls back. It commits before `deadline` or not at all.
   *
   * @param deadline monotonic ms, as `now` gives
   */
  async run<V>(deadline: number, work: () => Promise<V>, now: () => number = monotonic): Promise<V> {
    this.#waitAtMost(Math.floor((deadline - now()) * LOCK_SHARE))
    this.#begin.run()
    try {
      const value = await work()
      if (now() >= deadline) throw new CallExpired()
      if (isRefusal(value)) this.#rollback.run()
      else this.#commit.run()
      return value
    } catch (cause) {
      // SQLite rolls back by itself after some errors, such as a full disk.
      if (this.#database.isTransaction) this.#rollback.run()
      throw cause
    }
  }

  /** In whole steps, so that most transactions need not set the timeout. */
  #waitAtMost(milliseconds: number): void {
    if (milliseconds <= 0) throw new CallExpired()
    const timeout = milliseconds < LOCK_STEP ? milliseconds : milliseconds - (milliseconds % LOCK_STEP)
    if (timeout === this.#lockTimeout) return
    this.#database.exec(`PRAGMA busy_timeout = ${timeout}`)
    this.#lockTimeout = timeout
  }
}
