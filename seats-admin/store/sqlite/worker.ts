/**
 * One of the store's three threads. The reader, whose answers are small, decides requests while the writer waits for
 * the disk or for another program's lock, and the lister reads what administration asks for, however large; none of
 * them ever stops the event loop of the gateway.
 */

import { setPriority } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { monotonic } from '../clock.ts'
import {
  type Answer,
  type Call,
  CLOSE,
  type Opened,
  type Operations,
  READY,
  type Running,
  type ThreadData,
} from './calls.ts'
import { checkIntegrity, connect, faultOf, TooLate, transact, writeAhead } from './connection.ts'
import { departure, ensureFile, identityOf, logOf, refuseLogOf } from './file.ts'
import { checkFile } from './inspect.ts'
import { migrate } from './migrations.ts'
import { listerOperations, readerOperations, writerOperations } from './operations.ts'
import { type Finding, Guard, Superseded, takeStore } from './ownership.ts'
import { withReserve } from './reserve.ts'

if (parentPort === null) throw new Error('this file is a thread of the store')
const port = parentPort
/**
 * Of the reader and the lister. On a core that they share with the event loop, the event loop goes first and they keep a
 * quarter of it: Seats that are long to read delay other tenants by half as much as with equal priorities.
 */
const NICENESS = 5
/** Milliseconds between two looks past the cache. */
const LOOK_EVERY = 250
let nextLook = 0
const TOO_LATE = 'the store was too slow to answer in time'
const data: ThreadData = workerData
let call: Call | null = null
const running: Running = {
  waited: () => (call === null ? 0 : monotonic() - call.asked),
  timely() {
    if (call !== null && monotonic() >= call.deadline) throw new TooLate()
  },
}

const { database, log, files, alone } = open()
// Elsewhere than on Linux the priority is the whole process's.
if (data.role !== 'writer' && process.platform === 'linux') yieldToEventLoop()
const guard = data.owner === null ? null : new Guard(database, data.owner.lock)
const operations = operationsOf(database)

port.on('message', (message: Call | typeof CLOSE) => {
  if (message === CLOSE) close()
  else port.postMessage(answer(message))
})

function yieldToEventLoop(): void {
  try {
    setPriority(NICENESS)
  } catch {
    // A sandbox may forbid the call. The thread then runs as the others do.
  }
}

function operationsOf(connection: DatabaseSync): Operations {
  if (data.role === 'reader') return readerOperations(connection, data.owner?.lock ?? null)
  if (data.role === 'lister') return listerOperations(connection, running)
  return writerOperations(connection, running)
}

interface OpenStore extends Opened {
  readonly database: DatabaseSync
  readonly log: string
}

function open(): OpenStore {
  let taken = false
  try {
    if (data.opening === null) return openFile()
    const finding = find(data.opening)
    const alone = withReserve(data.path, () => takes(finding))
    taken = true
    return { ...withReserve(data.path, openFile), alone }
  } catch (cause) {
    const error = new Error(`the store ${data.path} can't be opened: ${messageOf(cause)}`)
    // Once it is taken, another owner means only that the file was replaced again meanwhile.
    if (cause instanceof Superseded && !taken) error.name = cause.name
    throw error
  }
}

function find(opening: 'first' | 'again'): Finding {
  const created = opening === 'first' && ensureFile(data.path)
  checkFile(data.path)
  if (opening === 'first') return created ? 'created' : 'found'
  if (data.files !== null) refuseLogOf(data.files, data.path)
  return 'again'
}

function takes(finding: Finding): boolean {
  return data.owner?.takes !== true || takeStore(data.path, data.owner.lock, finding)
}

function openFile(): OpenStore {
  const path = logOf(data.path)
  const before = identityOf(data.path)
  const connection = connect(data.path, data.role === 'writer' ? 'rw' : 'ro', data.busyTimeout)
  try {
    prepare(connection)
    const found = { database: before ?? '', log: identityOf(path) ?? '' }
    const opened = (data.opening === null ? data.files : null) ?? found
    return { database: connection, log: path, files: opened, alone: true }
  } catch (cause) {
    connection.close()
    throw cause
  }
}

/** Its first reading takes a shared lock on the file, which is held until the connection is closed. */
function prepare(connection: DatabaseSync): void {
  if (data.role === 'writer') {
    migrate(connection)
    writeAhead(connection)
  }
  if (data.owner !== null) new Guard(connection, data.owner.lock).check()
  if (data.opening !== null) checkIntegrity(connection)
}

function answer(asked: Call): Answer {
  const { id } = asked
  if (asked.method === READY) return { id, value: { files, alone } }
  // The caller has given up; let the ones behind have their turn.
  if (monotonic() >= asked.deadline) return { id, unavailable: TOO_LATE, fault: 'timeout' }
  const moved = departure(data.path, log, files)
  if (moved !== null) return { moved }
  call = asked
  try {
    const value = perform(asked)
    // What has been written to a log that lost its name meanwhile is not acknowledged.
    const lost = data.role === 'writer' ? departure(data.path, log, files) : null
    return lost === null ? { id, value } : { moved: lost }
  } catch (cause) {
    if (cause instanceof Superseded) return { superseded: `the store ${data.path}: ${cause.message}` }
    if (cause instanceof TooLate) return { id, unavailable: TOO_LATE, fault: 'timeout' }
    if (isSqliteError(cause)) return failure(asked, cause)
    return { id, failed: messageOf(cause) }
  }
}

function failure(asked: Call, cause: Error): Answer {
  const { id } = asked
  const fault = faultOf(cause)
  if (fault === 'corrupt' && data.role !== 'writer' && monotonic() >= nextLook) {
    nextLook = monotonic() + LOOK_EVERY
    const afresh = readAfresh(asked)
    if (afresh !== null) return { id, ...afresh }
  }
  return { id, unavailable: `the store ${data.path}: ${cause.message}`, fault }
}

/**
 * A page that was read ruined stays in SQLite's cache after it has been mended on the disk; and pages that were read
 * before the damage stay in it, too, and are worth more than those on the disk. So the cache is dropped only once the
 * call succeeds without it. Null where it does not.
 */
function readAfresh({ method, args }: Call): { value: unknown } | null {
  try {
    const connection = connect(data.path, 'ro', data.busyTimeout)
    try {
      const value = operationsOf(connection)[method]?.(...(args as never[]))
      database.exec('PRAGMA shrink_memory')
      return { value }
    } finally {
      connection.close()
    }
  } catch {
    return null
  }
}

function perform({ method, args, deadline }: Call): unknown {
  const operation = operations[method]
  if (operation === undefined) throw new Error(`the store has no ${method}`)
  const run = () => operation(...(args as never[]))
  if (data.role !== 'writer') return run()
  return transact(database, deadline, () => {
    guard?.check()
    return run()
  })
}

/** The last connection to close writes the log back into the file. */
function close(): void {
  port.close()
  database.close()
}

function isSqliteError(cause: unknown): cause is Error {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_SQLITE_ERROR'
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
