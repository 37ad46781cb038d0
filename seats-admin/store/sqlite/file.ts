/** The store's file: found, or made whole before it gets its name. Used by the writer's thread at opening. */

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
} from 'node:fs'
import { dirname } from 'node:path'
import { connect, writeAhead } from './connection.ts'
import { mark, migrate } from './migrations.ts'

const FOLDER_MODE = 0o700
/** SQLite gives its `-wal` and `-shm` files the mode of the database. */
export const FILE_MODE = 0o600

/** Ends the name of a store that is being made: see {@link create}. */
export const DRAFT = '.new'

/**
 * Makes the file, and its folder, if there is none.
 * @returns whether this call has made the file
 */
export function ensureFile(path: string): boolean {
  makeFolder(path)
  return statSync(path, { throwIfNoEntry: false }) === undefined && create(path)
}

/** Makes the folder that the file is to lie in, for its owner only, if it is missing. */
export function makeFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE })
}

/**
 * Makes the database under another name and links it to its own, which fails if another process was faster and never
 * replaces anything: nobody ever sees half a store.
 * @returns false where another process was faster
 */
function create(path: string): boolean {
  // Applied to a new database, the log of a lost one would ruin it.
  if (existsSync(`${path}-wal`)) throw new Error(`the file is missing, but its log ${path}-wal is there`)
  const draft = `${path}.${randomUUID()}${DRAFT}`
  let linked = false
  closeSync(openSync(draft, 'wx', FILE_MODE))
  try {
    const database = connect(draft, 'rw', 0)
    try {
      writeAhead(database)
      mark(database)
      migrate(database)
    } finally {
      database.close()
    }
    linked = linkUnlessThere(draft, path)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
  }
  syncFolder(dirname(path))
  return linked
}

function linkUnlessThere(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    return false
  }
}

/** So that the name is on disk too. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Which files are behind a store's name: device and inode of the database, and of its log. */
export interface StoreFiles {
  readonly database: string
  /** There from the first read on, and the same one while any connection is open. */
  readonly log: string
}

/** @returns null where there is no such file */
export function identityOf(path: string): string | null {
  // As BigInt: an inode of 64 bits is no exact number, and some file systems use the highest.
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}

/** SQLite puts it beside the database itself, not beside a symbolic link to it. */
export function logOf(path: string): string {
  return `${realpathSync(path)}-wal`
}

/**
 * What is wrong, if `path` and `log` are no longer these files; null if they are. A connection would go on with files
 * that were moved away or deleted, and acknowledge writes that nobody will ever find.
 */
export function departure(path: string, log: string, files: StoreFiles): string | null {
  if (identityOf(path) !== files.database) return `the store ${path} was moved, deleted or replaced`
  if (identityOf(log) !== files.log) return `the log ${log} of the store was moved, deleted or replaced`
  return null
}

/** SQLite would apply to a file that took the place of another what is in the log of that one, and ruin it. */
export function refuseLogOf(before: StoreFiles, path: string): void {
  const log = logOf(path)
  if (identityOf(path) === before.database || identityOf(log) !== before.log) return
  throw new Error(
    `another file has its place, but the log of the one before is still there: remove ${log} first`,
  )
}
