/**
 * Locks a store file for one gateway: two gateways would miss each other's writes for the length of a lease.
 */

import { closeSync, openSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isBusy, unopened } from './sqlite-connection.ts'
import { FILE_MODE, identityOf, makeFolder } from './file.ts'
import { refuseOthers } from './sqlite-file-check.ts'

/** Concurrent attempts can block each other; retries at random intervals resolve that. */
const TRIES = 5
/** Longest pause between attempts, in ms. */
const PAUSE = 40

export interface StoreLock {
  /** `device:inode` of the lock file. The kernel does not reuse it while the lock is held. */
  readonly id: string
  /** Must be called after the store is closed. Idempotent. */
  release(): void
}

/** Keeps the connections reachable: garbage collection of one would release its lock. */
const held = new Set<DatabaseSync>()

/**
 * Locks a file beside the store with a lock of the operating system, which always ends with the process; a
 * leftover file has no effect. Creates a missing folder.
 *
 * @returns null when another process or this one holds the lock
 * @throws StoreUnavailable when locking fails, or the file at `path` is not a store; nothing is created then
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
    throw unopened(path, 'cannot be locked', cause)
  }
}

/**
 * Beside the store itself, after symbolic links. Created here for the owner only: SQLite would make it
 * world-readable.
 */
function lockFileOf(path: string): string {
  makeFolder(path)
  const file = `${realOf(path)}.lock`
  try {
    closeSync(openSync(file, 'wx', FILE_MODE))
  } catch (cause) {
    // An existing file is not opened: closing it would release a lock of this process (POSIX locks).
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  }
  return file
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    return join(realpathSync(dirname(path)), basename(path))
  }
}

/**
 * The lock is an open exclusive transaction; nothing is written. The identity is compared to detect a
 * replaced file.
 */
function tryLock(file: string): StoreLock | null {
  const id = identityOf(file)
  const database = new DatabaseSync(file, { timeout: 0, allowExtension: false, defensive: true })
  try {
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    if (id === null || identityOf(file) !== id)
      throw new Error(`${file} was deleted or replaced while it was locked`)
    held.add(database)
    return {
      id,
      release() {
        if (held.delete(database)) database.close()
      },
    }
  } catch (cause) {
    database.close()
    if (isBusy(cause)) return null
    throw cause
  }
}
