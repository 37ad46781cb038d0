/**
 * Ownership of the store: `counter.owner` holds the identity of the owner's lock file (`gateway-lock.ts`).
 * These rules prevent two gateways from deciding on one store:
 *
 * 1. A starting gateway holds the lock on a lock file. If the store names that file, the former owner's lock
 *    has ended, and so has the former owner. Otherwise the gateway becomes the owner only while no other
 *    process has the database open. A store without an owner is also taken beside other processes, because
 *    the lock file is held. Each connection to a WAL database holds a shared lock on the file's inode while
 *    it is open, so a running gateway is detected even if its lock file was deleted, moved or copied, and
 *    under any name of the database file.
 * 2. The owner reads the column with each reading of the change feed, in the same snapshot, and in each write
 *    transaction. If the column differs, it stops writing and deciding. A lease that it still holds began
 *    before it was superseded and ends within LEASE.
 * 3. Another process that has the database open may be a worker of the former gateway, with a lease. When the
 *    owner changes, the former gateway may have a lease even if it has closed the file, or has it open under
 *    a moved name. In both cases writes are acknowledged only after LEASE and its margin (`Ownership.alone`).
 * 4. A running gateway that finds another file at the store's path takes it only if that file names this
 *    gateway or none, and no other process has it open. Otherwise the gateway is superseded.
 */

import type { DatabaseSync } from 'node:sqlite'
import { monotonic } from '../monotonic.ts'
import { counterRow, type Row, text } from '../rows.ts'
import { UnusableStore } from '../unavailable.ts'
import { checkIntegrity, connect, connectImmutable, faultOf, isBusy } from './sqlite-connection.ts'
import { migrate } from './sqlite-migrations.ts'

/** Milliseconds for other programs to close the file; commands of `seatgate` take about two seconds. */
const WAIT = 5000
/** Longest pause between attempts, in ms; random, so that concurrent starts don't collide repeatedly. */
const PAUSE = 60
/** Milliseconds to wait for another program's write. */
const WRITE_TIMEOUT = 1000

/** The statement of {@link checkOwner}. */
export const OWNER = 'SELECT owner FROM counter'

/** Another gateway owns the store. */
export class Superseded extends Error {
  constructor() {
    super('another gateway has taken over this store: this one no longer decides requests')
    this.name = 'Superseded'
  }
}

/**
 * `created`: the gateway has just created the file. `found`: the file existed at the start. `again`: a
 * running gateway reopens the file at the path.
 */
export type FileOrigin = 'created' | 'found' | 'again'

/**
 * Makes the holder of the lock file the owner.
 *
 * @param lock the identity of the lock file
 * @param check throws for a damaged file, before anything is written to it
 * @returns false when another gateway or worker may have a lease on this store
 * @throws when another process that may be a gateway has the file open; at a reopening {@link Superseded}
 */
export function takeOwnership(
  path: string,
  lock: string,
  origin: FileOrigin,
  check: Check = checkIntegrity,
): boolean {
  const until = monotonic() + WAIT
  for (;;) {
    const before = takeExclusively(path, lock, origin, check)
    if (before !== null) return before === lock || (origin === 'created' && before === '')
    const owner = ownerInFile(path)
    if (owner === lock) return false
    if (origin === 'again') refuseOther(owner ?? '')
    if (monotonic() > until) {
      if (origin === 'again') throw new Superseded()
      if (owner === '' && takeShared(path, lock, check)) return false
      throw new UnusableStore('IN_USE', IN_USE)
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * PAUSE)
  }
}

type Check = (database: DatabaseSync) => void

const IN_USE =
  'another process has the file open, and the lock file is not the one of the last gateway: ' +
  'stop that process if it is a gateway, otherwise make it close the file'

/** @returns the former owner; null when another process has the file open */
function takeExclusively(path: string, lock: string, origin: FileOrigin, check: Check): string | null {
  // Closing the connection checkpoints the WAL, so that the owner is visible under all names of the file.
  using database = connect(path, 'rw', 0)
  try {
    // Held until the connection closes. Before the first read, it needs no shared-memory index.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
    check(database)
    migrate(database)
    const before = ownerOf(database)
    if (before === lock) return before
    if (origin === 'again') refuseOther(before)
    database.prepare('UPDATE counter SET owner = ?').run(lock)
    return before
  } catch (cause) {
    if (isBusy(cause)) return null
    throw cause
  }
}

function refuseOther(owner: string): void {
  if (owner !== '') throw new Superseded()
}

/**
 * Takes a store without an owner while other processes, such as a replicator, have it open. The owner is
 * written to the WAL that those processes share; a read transaction may prevent its checkpoint.
 *
 * @returns false when another gateway was faster or another program writes
 */
function takeShared(path: string, lock: string, check: Check): boolean {
  using database = connect(path, 'rw', WRITE_TIMEOUT)
  try {
    check(database)
    migrate(database)
    const taking = database.prepare("UPDATE counter SET owner = :lock WHERE owner IN ('', :lock)")
    if (taking.run({ lock }).changes !== 1) return false
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    return true
  } catch (cause) {
    if (isBusy(cause)) return false
    throw cause
  }
}

/**
 * The owner in the file itself, because the WAL beside one of its names may be older. Empty for a version
 * without owners; null when unreadable.
 */
function ownerInFile(path: string): string | null {
  using database = connectImmutable(path)
  try {
    return ownerOf(database)
  } catch (cause) {
    return faultOf(cause) === 'schema' ? '' : null
  }
}

function ownerOf(database: DatabaseSync): string {
  return ownerIn(database.prepare(OWNER).get())
}

function ownerIn(row: Row | undefined): string {
  return text(counterRow(row), 'owner')
}

/**
 * Called in each write transaction.
 *
 * @param row of {@link OWNER};
 * @throws {@link Superseded} when another gateway owns the store
 */
export function checkOwner(row: Row | undefined, lock: string): void {
  if (ownerIn(row) !== lock) throw new Superseded()
}
