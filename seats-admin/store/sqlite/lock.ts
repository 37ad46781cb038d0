/** One gateway a store file: two would each be deaf to the other's writes for as long as a lease. */

import { closeSync, openSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StoreUnavailable } from '../store.ts'
import { isBusy } from './connection.ts'
import { FILE_MODE, identityOf, makeFolder } from './file.ts'
import { refuseOthers } from './inspect.ts'

/** Two that try at the very same moment can each be in the other's way: a few tries, at moments of chance, part them. */
const TRIES = 5
/** Milliseconds between two of them, at most. */
const PAUSE = 40

export interface StoreLock {
  /** Of the lock file, as `device:inode`. The kernel gives it to no other file while the lock is held. */
  readonly id: string
  /** To be called once the store has been closed. Calling it twice is calling it once. */
  release(): void
}

/** Also of those whose owner forgot them: a connection that is collected as garbage lets go of its lock. */
const held = new Set<DatabaseSync>()

/**
 * At once, or after a moment where others try too; null when another process, or this one, has it. The lock is the
 * operating system's, on a file beside the store: it ends with the process, however that ends, and a file left over
 * means nothing. Makes the folder if it is missing. Throws a StoreUnavailable where the lock can't be tried, or where
 * the file at `path` is no store: then nothing was made.
 */
export function lockStore(path: string): StoreLock | null {
  refuseOthers(resolve(path))
  try {
    const file = lockFileOf(resolve(path))
    for (let tries = 1; ; tries++) {
      const lock = tryLock(file)
      if (lock !== null) return lock
      if (tries === TRIES) return null
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * PAUSE)
    }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new StoreUnavailable(`the store ${path} can't be locked: ${message}`, { cause })
  }
}

function lockOf(database: DatabaseSync, id: string): StoreLock {
  held.add(database)
  return {
    id,
    release() {
      if (held.delete(database)) database.close()
    },
  }
}

/** Beside the store itself, by whatever links it is reached. Made here, for the owner only: SQLite would let all read it. */
function lockFileOf(path: string): string {
  makeFolder(path)
  const file = `${realOf(path)}.lock`
  try {
    closeSync(openSync(file, 'wx', FILE_MODE))
  } catch (cause) {
    // Never opened where it is there: on closing it, this process would lose the lock it may have.
    if (!hasCode(cause, 'EEXIST')) throw cause
  }
  return file
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw cause
    return join(realpathSync(dirname(path)), basename(path))
  }
}

/**
 * Nothing is ever written: an open transaction that may write is the lock. A file that is replaced meanwhile would be
 * another one than the file that is locked.
 */
function tryLock(file: string): StoreLock | null {
  const id = identityOf(file)
  const database = new DatabaseSync(file, { timeout: 0, allowExtension: false, defensive: true })
  try {
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    if (id !== null && identityOf(file) === id) return lockOf(database, id)
    throw new Error(`${file} was deleted or replaced at this moment`)
  } catch (cause) {
    database.close()
    if (isBusy(cause)) return null
    throw cause
  }
}

function hasCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code
}
