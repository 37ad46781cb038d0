/** Looks at the file of an embedded store. No file is written, and none appears beside it. */

import { accessSync, constants, existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StoreInspection, StoreUnavailable } from '../store.ts'
import { connect, connectImmutable, isBusy, openingCode } from './sqlite-connection.ts'
import { logOf } from './file.ts'
import { inspectFile } from './sqlite-file-check.ts'
import { appliedSteps, MIGRATIONS } from './sqlite-migrations.ts'

/** Milliseconds between attempts while another program holds the lock. */
const RETRY_INTERVAL = 50

/** @param timeout ms for another program to give up its lock */
export async function inspectSqliteStore(path: string, timeout: number): Promise<StoreInspection> {
  const absolute = resolve(path)
  for (let waited = 0; ; waited += RETRY_INTERVAL) {
    try {
      return inspect(absolute)
    } catch (cause) {
      if (!isBusy(cause) || waited >= timeout) throw unopened(absolute, cause)
    }
    await sleep(RETRY_INTERVAL)
  }
}

function inspect(path: string): StoreInspection {
  const current = MIGRATIONS.length
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    requireCreatable(path)
    return { version: null, current }
  }
  inspectFile(path)
  using database = connectUnwritten(path)
  return { version: appliedSteps(database), current }
}

/** A start creates the file, and the folders that are missing above it. */
function requireCreatable(path: string): void {
  if (existsSync(`${path}-wal`)) throw new Error(`the file is missing, but its log ${path}-wal exists`)
  let folder = dirname(path)
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  if (!statSync(folder).isDirectory())
    throw Object.assign(new Error(`${folder} is not a folder`), { code: 'ENOTDIR' })
  accessSync(folder, constants.W_OK | constants.X_OK)
}

/** The newest state may be in the log. Without its index, SQLite would create one. */
function connectUnwritten(path: string): DatabaseSync {
  const log = logOf(path)
  const inUse = (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0
  const index = log.replace(/-wal$/, '-shm')
  return inUse && existsSync(index) ? connect(path, 'ro', 0) : connectImmutable(path)
}

function unopened(path: string, cause: unknown): StoreUnavailable {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new StoreUnavailable(`the store ${path} cannot be opened: ${message}`, {
    cause,
    code: openingCode(cause),
  })
}
