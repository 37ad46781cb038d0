/**
 * Reserves disk space for opening the store: SQLite needs 32 KiB for its index and some pages for its WAL, and frees both
 * on close. A gateway that starts on a full disk deletes the reserve.
 */

import { rmSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { isDiskFull } from './sqlite-connection.ts'
import { FILE_MODE } from './file.ts'

const BYTES = 256 * 1024

function reserveOf(path: string): string {
  return `${path}.reserve`
}

/** Creates a missing reserve. A full disk is not an error: a later call tries again. */
export async function keepReserve(path: string): Promise<void> {
  const file = reserveOf(path)
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return
  const draft = `${file}.new`
  try {
    await using handle = await open(draft, 'w', FILE_MODE)
    // Not zeros, which some file systems store as a hole.
    await handle.writeFile(Buffer.alloc(BYTES, 'reserved for opening the store on a full disk\n'))
    await handle.sync()
    await rename(draft, file)
  } catch {
    await rm(draft, { force: true })
  }
}

/** Runs `work`. If the disk is full, deletes the reserve and runs it again. */
export function withReserve<V>(path: string, work: () => V): V {
  try {
    return work()
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause
    const file = reserveOf(path)
    if (statSync(file, { throwIfNoEntry: false }) === undefined) {
      const error = new Error('the disk is full: SQLite needs 32 KiB beside the file to open it', { cause })
      throw Object.assign(error, { code: 'SQLITE_FULL' })
    }
    rmSync(file)
    return withReserve(path, work)
  }
}
