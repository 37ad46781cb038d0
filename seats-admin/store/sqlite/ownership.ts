/**
 * Which gateway owns the store. The store itself says it, in `counter.owner`: the identity of the lock file that the
 * owner holds (`lock.ts`). The rules, and why no two gateways decide on one store:
 *
 * 1. A gateway that starts holds a lock on a lock file. Where the store names that very file, the owner before has
 *    ended: its lock has. Else the gateway makes itself the owner, and only while no other process has the database file
 *    open at all; a store that names no owner is taken beside other processes too, for the lock file is held. Each connection to a WAL database holds a shared lock on the database file, by inode, as long as it is
 *    open; so a running gateway is found also where its lock file was deleted, moved or copied, and under whatever other
 *    name the database file is reached.
 * 2. The owner reads the column with each reading of the change feed, in the same snapshot, and in each transaction that
 *    writes. Another name there: it writes and decides nothing any more. A lease that it still holds began before it was
 *    superseded, so it ends within LEASE of that.
 * 3. Where another process has the database open, that may be a worker of the gateway before, with a lease. Where the
 *    owner changes, the gateway before may have a lease although it has closed the file, or has it open under a name that
 *    was moved away. Both: writes are answered only after LEASE and its margin (`Ownership.alone`).
 * 4. A running gateway that finds another file under the name of the store takes it only where that file names this
 *    gateway or none, and where no other process has it open. Else it is superseded.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { monotonic } from '../clock.ts'
import { counted } from '../point-reads.ts'
import { text } from '../rows.ts'
import { connect, connectUnseen, faultOf, isBusy } from './connection.ts'
import { migrate } from './migrations.ts'

/** Milliseconds that other programs have to close the file: the commands of `seatgate` take about two seconds. */
const PATIENCE = 5000
/** Milliseconds between two tries, at most. Random, so that two that start at once don't meet each time. */
const PAUSE = 60
/** Milliseconds to wait for another program's write. */
const WRITE_PATIENCE = 1000

/** Another gateway has made itself the owner. */
export class Superseded extends Error {
  constructor() {
    super('another gateway has taken this store over: this one decides nothing any more')
    this.name = 'Superseded'
  }
}

/**
 * How the gateway comes by the file. `created`: it has just made the file. `found`: the file was there at the start.
 * `again`: the gateway runs, and opens what has the name of the store now.
 */
export type Finding = 'created' | 'found' | 'again'

/**
 * Makes the gateway that holds this lock file the owner. Throws where another process has the file open and may be a
 * gateway; opening again, {@link Superseded}.
 *
 * @param lock the identity of the lock file
 * @returns false where another gateway, or a worker of one, may have a lease on this store
 */
export function takeStore(path: string, lock: string, finding: Finding, patience = PATIENCE): boolean {
  const until = monotonic() + patience
  for (;;) {
    const before = takeAlone(path, lock, finding)
    if (before !== null) return before === lock || (finding === 'created' && before === '')
    const owner = ownerInFile(path)
    if (owner === lock) return false
    if (finding === 'again') refuseOther(owner ?? '')
    if (monotonic() > until) {
      if (finding === 'again') throw new Superseded()
      if (owner === '' && takeBeside(path, lock)) return false
      throw new Error(IN_USE)
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * PAUSE)
  }
}

const IN_USE =
  'another process has the file open, and its lock file is not the one that the last gateway held: ' +
  'if that process is a gateway, it has to end first; any other program has to close the file'

/** @returns the owner before; null where another process has the file open */
function takeAlone(path: string, lock: string, finding: Finding): string | null {
  const database = connect(path, 'rw', 0)
  try {
    // Kept until the connection is closed. Taken before the first reading, it needs no index beside the file.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
    migrate(database)
    // Closing the connection writes it from the log into the file, where it is seen under all of its names.
    const before = ownerOf(database)
    if (before === lock) return before
    if (finding === 'again') refuseOther(before)
    database.prepare('UPDATE counter SET owner = ?').run(lock)
    return before
  } catch (cause) {
    if (isBusy(cause)) return null
    throw cause
  } finally {
    database.close()
  }
}

function refuseOther(owner: string): void {
  if (owner !== '') throw new Superseded()
}

/**
 * Takes a store that no gateway owns while other processes have it open: readers, such as a replicator. The owner
 * stands in the log, which those processes share; a reader in a transaction keeps it from getting into the file.
 *
 * @returns false where another gateway was faster, or another program writes
 */
function takeBeside(path: string, lock: string): boolean {
  const database = connect(path, 'rw', WRITE_PATIENCE)
  try {
    migrate(database)
    const taking = database.prepare("UPDATE counter SET owner = :lock WHERE owner IN ('', :lock)")
    if (taking.run({ lock }).changes !== 1) return false
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    return true
  } catch (cause) {
    if (isBusy(cause)) return false
    throw cause
  } finally {
    database.close()
  }
}

/**
 * As the file itself has it: what the log beside one of its names says may be older. Empty where
 * the store is of a version that had no owner; null where it can't be read now.
 */
function ownerInFile(path: string): string | null {
  const database = connectUnseen(path)
  try {
    return ownerOf(database)
  } catch (cause) {
    return faultOf(cause) === 'schema' ? '' : null
  } finally {
    database.close()
  }
}

function ownerOf(database: DatabaseSync): string {
  return text(counted(database.prepare(OWNER).get()), 'owner')
}

const OWNER = 'SELECT owner FROM counter'

/** Throws {@link Superseded} once another gateway owns the store. To be called in each transaction that writes. */
export class Guard {
  readonly #owner: StatementSync
  readonly #lock: string

  constructor(database: DatabaseSync, lock: string) {
    this.#owner = database.prepare(OWNER)
    this.#lock = lock
  }

  check(): void {
    if (text(counted(this.#owner.get()), 'owner') !== this.#lock) throw new Superseded()
  }
}
