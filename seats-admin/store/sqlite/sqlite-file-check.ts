/** Checks the file at a store's path without locks or writes. */

import { accessSync, constants, readdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { StoreUnavailable } from '../store.ts'
import { UnusableStore } from '../unavailable.ts'
import { connectImmutable, openingCode } from './sqlite-connection.ts'
import { DRAFT, identityOf } from './file.ts'
import { requireMark } from './sqlite-migrations.ts'

/** @throws when the file can't be a writable store */
export function checkFile(path: string): void {
  const found = requireStore(path)
  if (found.nlink > 1) refuseOtherNames(path, found)
}

/** As {@link checkFile}, but removes nothing: only more names than a start removes are a fault. */
export function inspectFile(path: string): void {
  const found = requireStore(path)
  if (found.nlink - draftsOf(path).length > 1) throw otherNames(found)
}

function requireStore(path: string): Stats {
  const found = statSync(path)
  if (!found.isFile()) throw new UnusableStore('NOT_A_STORE', 'it is not a regular file')
  // A store is created complete, so this file was truncated. Treating it as new would lose every Seat silently.
  if (found.size === 0)
    throw new UnusableStore('NOT_A_STORE', 'the file is empty: it is not a Seatgate store')
  accessSync(path, constants.R_OK | constants.W_OK)
  accessSync(dirname(path), constants.R_OK | constants.W_OK)
  using database = connectImmutable(path)
  requireMark(database)
  return found
}

/** Accepts a missing file. @throws StoreUnavailable when the file can't be a store */
export function refuseOthers(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return
    checkFile(path)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new StoreUnavailable(`the store ${path} cannot be opened: ${message}`, {
      cause,
      code: openingCode(cause),
    })
  }
}

/**
 * SQLite keeps a WAL for each name of a file: programs that use different names don't see each other's writes and corrupt
 * the file. The name of a draft remains when a process ended between the link and the removal of the draft.
 */
function refuseOtherNames(path: string, found: Stats): void {
  for (const draft of draftsOf(path)) rmSync(draft, { force: true })
  if (statSync(path).nlink > 1) throw otherNames(found)
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
