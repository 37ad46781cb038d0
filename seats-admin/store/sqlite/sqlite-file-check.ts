/** Checks the file at a store's path without locks or writes. */

import { accessSync, constants, existsSync, readdirSync, rmSync, type Stats, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreInspection } from '../store.ts'
import { UnusableStore } from '../unavailable.ts'
import { connect, connectImmutable, isBusy, unopened } from './sqlite-connection.ts'
import { DRAFT, identityOf, logOf } from './file.ts'
import { appliedSteps, MIGRATIONS, requireMark } from './sqlite-migrations.ts'
import { checkSchema } from './sqlite-schema.ts'

const CANNOT_OPEN = 'cannot be opened'

/** @throws when the file can't be a writable store */
export function checkFile(path: string): void {
  const stats = requireStore(path)
  if (stats.nlink > 1) refuseOtherNames(path, stats)
}

/** As {@link checkFile}, but removes nothing: only more names than a start removes are a fault. */
function inspectFile(path: string): void {
  const stats = requireStore(path)
  if (stats.nlink - draftsOf(path).length > 1) throw otherNames(stats)
}

function requireStore(path: string): Stats {
  const stats = statSync(path)
  if (!stats.isFile()) throw new UnusableStore('NOT_A_STORE', 'it is not a regular file')
  // A store is created complete, so this file was truncated. Treating it as new would lose every Seat
  // silently.
  if (stats.size === 0)
    throw new UnusableStore('NOT_A_STORE', 'the file is empty: it is not a Seatgate store')
  accessSync(path, constants.R_OK | constants.W_OK)
  accessSync(dirname(path), constants.R_OK | constants.W_OK)
  using database = connectImmutable(path)
  requireMark(database)
  return stats
}

/** Accepts a missing file. @throws StoreUnavailable when the file can't be a store */
export function refuseOthers(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return
    checkFile(path)
  } catch (cause) {
    throw unopened(path, CANNOT_OPEN, cause)
  }
}

/**
 * SQLite keeps a WAL for each name of a file: programs that use different names don't see each other's writes
 * and corrupt the file. The name of a draft remains when a process ended between the link and the removal of
 * the draft.
 */
function refuseOtherNames(path: string, stats: Stats): void {
  for (const draft of draftsOf(path)) rmSync(draft, { force: true })
  if (statSync(path).nlink > 1) throw otherNames(stats)
}

function draftsOf(path: string): string[] {
  const folder = dirname(path)
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith(DRAFT))
    .map((name) => join(folder, name))
    .filter((draft) => identityOf(draft) === identityOf(path))
}

function otherNames({ nlink }: Stats): Error {
  return new Error(
    `the file has ${nlink} hard links, and SQLite keeps a separate log for each: keep only one`,
  )
}

/** Milliseconds between attempts while another program holds the lock. */
const RETRY_INTERVAL = 50

/**
 * Looks at the file of an embedded store. No file is written, and none appears beside it.
 *
 * @param timeout ms for another program to give up its lock
 */
export async function inspectSqliteStore(path: string, timeout: number): Promise<StoreInspection> {
  const absolute = resolve(path)
  for (let waited = 0; ; waited += RETRY_INTERVAL) {
    try {
      return inspect(absolute)
    } catch (cause) {
      if (!isBusy(cause) || waited >= timeout) throw unopened(absolute, CANNOT_OPEN, cause)
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
  checkSchema(database)
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
