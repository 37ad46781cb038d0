/**
 * Room on the disk that is kept for opening the store: SQLite needs 32 KiB for its index and some pages for its log,
 * which it has given back at the last closing. A gateway that is started on a full disk gives up the reserve for them.
 */

import { rmSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { codeOf } from './connection.ts'
import { FILE_MODE } from './file.ts'

const BYTES = 256 * 1024

/** SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: the index can't be made as long as it must be (sqlite.org/rescode.html). */
const NO_ROOM: ReadonlySet<number> = new Set([13, 4874])

function reserveOf(path: string): string {
  return `${path}.reserve`
}

/** Makes the reserve where it is missing. A disk without room for it is no fault: another time. */
export async function keepReserve(path: string): Promise<void> {
  const file = reserveOf(path)
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return
  const draft = `${file}.new`
  try {
    await using handle = await open(draft, 'w', FILE_MODE)
    // Not zeros, of which some file systems make a hole.
    await handle.writeFile(Buffer.alloc(BYTES, 'reserved for opening the store on a full disk\n'))
    await handle.sync()
    await rename(draft, file)
  } catch {
    await rm(draft, { force: true })
  }
}

/** Runs `work`; once more, after giving up the reserve, where it fails because the disk is full. */
export function withReserve<V>(path: string, work: () => V): V {
  try {
    return work()
  } catch (cause) {
    if (!NO_ROOM.has(codeOf(cause))) throw cause
    const file = reserveOf(path)
    if (statSync(file, { throwIfNoEntry: false }) === undefined) throw noRoom(cause)
    rmSync(file)
    return again(work)
  }
}

function again<V>(work: () => V): V {
  try {
    return work()
  } catch (cause) {
    throw NO_ROOM.has(codeOf(cause)) ? noRoom(cause) : cause
  }
}

function noRoom(cause: unknown): Error {
  return new Error('the disk is full: SQLite needs 32 KiB beside the file to open it', { cause })
}
