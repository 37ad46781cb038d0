/** One connection to the database file: how it is opened, and how a transaction runs. Used in the store's threads. */

import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isRefusal } from '../../model/refusal.ts'
import { monotonic } from '../clock.ts'
import type { StoreFault } from '../store.ts'

/** WAL bytes kept on disk after a checkpoint. */
const JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024

/** Of a call's time, what may be spent on waiting for the lock: the rest is for the write, and to say what was wrong. */
const LOCK_SHARE = 0.75

/** SQLITE_ERROR and SQLITE_BUSY (sqlite.org/rescode.html). */
const ERROR = 1
const BUSY = 5

/** Another connection holds the lock. Extended codes have it in their low byte. */
export function isBusy(cause: unknown): boolean {
  return (codeOf(cause) & 0xff) === BUSY
}

/** SQLite's extended result code; 0 for an error of another origin. */
export function codeOf(cause: unknown): number {
  return cause instanceof Error && 'errcode' in cause ? Number(cause.errcode) : 0
}

/** By the low byte of the result code (sqlite.org/rescode.html). */
const FAULTS: ReadonlyMap<number, StoreFault> = new Map([
  [3, 'denied'],
  [BUSY, 'locked'],
  [6, 'locked'],
  [8, 'read_only'],
  [10, 'io_error'],
  [11, 'corrupt'],
  [13, 'disk_full'],
  [14, 'io_error'],
  [26, 'corrupt'],
])

/** Null for what a value alone may bring about. */
export function faultOf(cause: unknown): StoreFault | null {
  if (codeOf(cause) === ERROR) return /no such (table|column)/.test(String(cause)) ? 'schema' : null
  return FAULTS.get(codeOf(cause) & 0xff) ?? null
}

/** Opens an existing file and never makes one. Writes nothing by itself. */
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
 * Reads what is in the file itself, whatever its log says. SQLite takes no lock, and neither makes nor reads a journal,
 * a log or an index beside the file.
 *
 * A checkpoint that a crash or a full disk has cut short leaves a file that is shorter than its first page says, and
 * whole only together with its log. `writable_schema` lets that be; nothing can be written all the same.
 */
export function connectUnseen(path: string): DatabaseSync {
  const url = pathToFileURL(path)
  url.searchParams.set('mode', 'ro')
  url.searchParams.set('immutable', '1')
  const database = new DatabaseSync(url, { readOnly: true, allowExtension: false, defensive: false })
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA writable_schema = ON')
  return database
}

/** Puts the file into WAL mode. Only for a file that is known to be a store. */
export function writeAhead(database: DatabaseSync): void {
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = ${JOURNAL_SIZE_LIMIT}`)
}

/** Throws, naming the first damage found. Reads the whole file. */
export function checkIntegrity(database: DatabaseSync): void {
  const found = database.prepare('PRAGMA quick_check(1)').get()
  const verdict = Object.values(found ?? {})[0]
  if (verdict !== 'ok') throw new Error(`the file is damaged: ${String(verdict)}`)
}

/** The caller's time is up; nothing was written. */
export class TooLate extends Error {
  constructor() {
    super('too late')
    this.name = 'TooLate'
  }
}

/**
 * Runs `work` in a transaction that holds the write lock from its start, so that what it reads stays true until it
 * commits. A refusal leaves no trace. It waits for the lock, and commits, before `deadline` or not at all.
 */
export function transact<V>(database: DatabaseSync, deadline: number, work: () => V): V {
  const patience = Math.floor((deadline - monotonic()) * LOCK_SHARE)
  if (patience <= 0) throw new TooLate()
  database.exec(`PRAGMA busy_timeout = ${patience}`)
  database.exec('BEGIN IMMEDIATE')
  try {
    const value = work()
    if (monotonic() >= deadline) throw new TooLate()
    database.exec(isRefusal(value) ? 'ROLLBACK' : 'COMMIT')
    return value
  } catch (cause) {
    // SQLite has rolled back by itself after some errors, a full disk among them.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw cause
  }
}
