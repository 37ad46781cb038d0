/** Creates, identifies and checks the store's files. */

import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { connect, enableWal, isDiskFull } from './sqlite-connection.ts'
import { mark, migrate } from './sqlite-migrations.ts'

const FOLDER_MODE = 0o700
/** SQLite gives its `-wal` and `-shm` files the mode of the database. */
export const FILE_MODE = 0o600

/** Suffix of an incomplete store; see {@link create}. */
export const DRAFT = '.new'

/**
 * Creates the file and its folder if they are missing.
 *
 * @returns whether this call created the file
 */
export function ensureFile(path: string): boolean {
  makeFolder(path)
  return statSync(path, { throwIfNoEntry: false }) === undefined && create(path)
}

/**
 * Creates the file's folder for its owner only, if it is missing. Below /proc, `recursive` of Node.js 26
 * tries forever: that file system answers ENOENT to each mkdir.
 */
export function makeFolder(path: string): void {
  const folder = dirname(path)
  if (existsSync(folder)) return
  makeFolder(folder)
  try {
    mkdirSync(folder, { mode: FOLDER_MODE })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  }
}

/**
 * Creates the database under a temporary name and links it to its final name. The link never replaces a file,
 * and no process ever sees an incomplete store.
 *
 * @returns false when another process was faster
 */
function create(path: string): boolean {
  // The WAL of a lost database would corrupt a new one.
  if (existsSync(`${path}-wal`)) throw new Error(`the file is missing, but its log ${path}-wal exists`)
  const draft = `${path}.${randomUUID()}${DRAFT}`
  let linked = false
  closeSync(openSync(draft, 'wx', FILE_MODE))
  try {
    writeSchema(draft)
    linked = linkUnlessExists(draft, path)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
  }
  syncFolder(dirname(path))
  return linked
}

function writeSchema(draft: string): void {
  using database = connect(draft, 'rw', 0)
  enableWal(database)
  mark(database)
  migrate(database)
}

function linkUnlessExists(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    return false
  }
}

/** Makes the name durable. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Device and inode of the database and of its WAL. */
export interface StoreFiles {
  readonly database: string
  /** Exists from the first read on, and does not change while any connection is open. */
  readonly log: string
}

/** @returns `device:inode`; null for a missing file */
export function identityOf(path: string): string | null {
  // BigInt, because 64-bit inodes exceed exact numbers, and some file systems use the highest ones.
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`
}

/** SQLite places the WAL beside the database itself, not beside a symbolic link. */
export function logOf(path: string): string {
  return `${realpathSync(path)}-wal`
}

/**
 * A connection to moved or deleted files continues to work and would acknowledge writes that are lost.
 *
 * @returns the fault if `path` and `log` are no longer these files; otherwise null
 */
export function fileReplacement(path: string, log: string, files: StoreFiles): string | null {
  if (identityOf(path) !== files.database) return `the store ${path} was moved, deleted or replaced`
  if (identityOf(log) !== files.log) return `the log ${log} of the store was moved, deleted or replaced`
  return null
}

/** SQLite would apply the WAL of the former file to its replacement and corrupt it. */
export function refuseStaleLog(before: StoreFiles, path: string): void {
  const log = logOf(path)
  if (identityOf(path) === before.database || identityOf(log) !== before.log) return
  throw new Error(`the file was replaced, but the log of the previous file still exists: remove ${log} first`)
}

/**
 * Bytes. SQLite needs 32 KiB for its index and some pages for its WAL to open the store, and frees both at
 * the close.
 */
const RESERVE = 256 * 1024

function reserveOf(path: string): string {
  return `${path}.reserve`
}

/** Reserves disk space for the next start. A full disk is not an error: a later start tries again. */
export function keepReserve(path: string): void {
  const file = reserveOf(path)
  // A crash may have left a part of it.
  if (statSync(file, { throwIfNoEntry: false })?.size === RESERVE) return
  // Not zeros, which some file systems store as a hole.
  const bytes = Buffer.alloc(RESERVE, 'reserved for opening the store on a full disk\n')
  try {
    rmSync(file, { force: true })
    writeFileSync(file, bytes, { flag: 'wx', mode: FILE_MODE, flush: true })
  } catch {
    rmSync(file, { force: true })
  }
}

/** Runs `work`. If the disk is full, deletes the reserve and runs it again. */
export function withReserve<V>(path: string, work: () => V): V {
  const file = reserveOf(path)
  try {
    return work()
  } catch (cause) {
    if (!isDiskFull(cause) || !existsSync(file)) throw cause
    rmSync(file)
    return work()
  }
}
