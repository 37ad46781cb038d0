/** What lies at a store's path, looked at without a trace: nothing is written or locked before it is known to be a store. */

import { accessSync, constants, readdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { StoreUnavailable } from '../store.ts'
import { connectUnseen } from './connection.ts'
import { DRAFT, identityOf } from './file.ts'
import { requireMark } from './migrations.ts'

/** Throws where what is there can't be a store to write to. */
export function checkFile(path: string): void {
  const found = statSync(path)
  if (!found.isFile()) throw new Error('it is no file')
  // A store is made whole, so this one was cut off; taking it for a new one would forget every Seat silently.
  if (found.size === 0) throw new Error('the file is empty: it is no Seatgate store')
  accessSync(path, constants.R_OK | constants.W_OK)
  accessSync(dirname(path), constants.R_OK | constants.W_OK)
  checkMark(path)
  if (found.nlink > 1) refuseOtherNames(path, found)
}

/** A missing file is none of another program. Throws a StoreUnavailable where the file can't be a store. */
export function refuseOthers(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return
  try {
    checkFile(path)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new StoreUnavailable(`the store ${path} can't be opened: ${message}`, { cause })
  }
}

function checkMark(path: string): void {
  const database = connectUnseen(path)
  try {
    requireMark(database)
  } finally {
    database.close()
  }
}

/**
 * SQLite keeps a log for each name of a file: two programs that use two names don't see each other's writes, and ruin
 * the file. The name of a draft is left where a process ended between giving the store its name and removing it.
 */
function refuseOtherNames(path: string, { nlink }: Stats): void {
  const folder = dirname(path)
  const drafts = readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith(DRAFT))
    .map((name) => join(folder, name))
    .filter((draft) => identityOf(draft) === identityOf(path))
  for (const draft of drafts) rmSync(draft, { force: true })
  if (statSync(path).nlink === 1) return
  throw new Error(
    `the file has ${nlink} names (hard links), and each would have a log of its own: leave it one`,
  )
}
