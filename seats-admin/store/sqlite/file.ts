/** The store's file: found, or made whole before it gets its name. Used by the writer's thread at opening. */

import { randomUUID } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { connect } from './connection.ts'
import { mark, migrate } from './migrations.ts'

const FOLDER_MODE = 0o700
/** SQLite gives its `-wal` and `-shm` files the mode of the database. */
const FILE_MODE = 0o600

/** Makes the file, and its folder, if there is none. Throws where what is there can't be a store to write to. */
export function ensureFile(path: string): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
  if (statSync(path, { throwIfNoEntry: false }) === undefined) create(path)
  const found = statSync(path)
  if (!found.isFile()) throw new Error('it is no file')
  // A store is made whole, so this one was cut off; taking it for a new one would forget every Seat silently.
  if (found.size === 0) throw new Error('the file is empty: it is no Seatgate store')
  accessSync(path, constants.R_OK | constants.W_OK)
  accessSync(folder, constants.R_OK | constants.W_OK)
}

/**
 * Makes the database under another name and links it to its own, which fails if another process was faster and never
 * replaces anything: nobody ever sees half a store.
 */
function create(path: string): void {
  // Applied to a new database, the log of a lost one would ruin it.
  if (existsSync(`${path}-wal`)) throw new Error(`the file is missing, but its log ${path}-wal is there`)
  const draft = `${path}.${randomUUID()}.new`
  closeSync(openSync(draft, 'wx', FILE_MODE))
  try {
    const database = connect(draft, 'rw', 0)
    try {
      mark(database)
      migrate(database)
    } finally {
      database.close()
    }
    linkUnlessThere(draft, path)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true })
  }
  syncFolder(dirname(path))
}

function linkUnlessThere(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
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

/**
 * Tells whether `path` is still the file it is now. A connection would go on with a file that was moved away or
 * deleted, and acknowledge writes that nobody will ever find.
 */
export function fileWatch(path: string): () => boolean {
  const opened = statSync(path)
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    return now !== undefined && now.ino === opened.ino && now.dev === opened.dev
  }
}
