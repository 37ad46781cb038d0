/**
 * One of the store's three threads. The reader, whose answers are small, decides requests while the writer waits for
 * the disk or for another program's lock, and the lister reads what administration asks for, however large; none of
 * them ever stops the event loop of the gateway. Started by `thread.ts`, which says how calls look.
 */

import type { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { monotonic } from '../clock.ts'
import {
  type Answer,
  type Call,
  CLOSE,
  type Operations,
  READY,
  type Running,
  type ThreadData,
} from './calls.ts'
import { checkIntegrity, connect, TooLate, transact } from './connection.ts'
import { checkFile, departure, ensureFile, identityOf, logOf, refuseLogOf, type StoreFiles } from './file.ts'
import { migrate } from './migrations.ts'
import { listerOperations, readerOperations, writerOperations } from './operations.ts'

if (parentPort === null) throw new Error('this file is a thread of the store')
const port = parentPort
const TOO_LATE = 'the store was too slow to answer in time'
const data: ThreadData = workerData
let call: Call | null = null
const running: Running = {
  waited: () => (call === null ? 0 : monotonic() - call.asked),
  timely() {
    if (call !== null && monotonic() >= call.deadline) throw new TooLate()
  },
}

const { database, log, files } = open()
const operations = operationsOf(database)

port.on('message', (message: Call | typeof CLOSE) => {
  if (message === CLOSE) close()
  else port.postMessage(answer(message))
})

function operationsOf(connection: DatabaseSync): Operations {
  if (data.role === 'reader') return readerOperations(connection)
  if (data.role === 'lister') return listerOperations(connection, running)
  return writerOperations(connection, running)
}

function open(): { database: DatabaseSync; log: string; files: StoreFiles } {
  try {
    if (data.opening === 'first') ensureFile(data.path)
    if (data.opening !== null) checkFile(data.path)
    if (data.opening === 'again' && data.files !== null) refuseLogOf(data.files, data.path)
    const path = logOf(data.path)
    const before = identityOf(data.path)
    const connection = connect(data.path, data.role === 'writer' ? 'rw' : 'ro', data.busyTimeout)
    if (data.role === 'writer') migrate(connection)
    if (data.opening !== null) checkIntegrity(connection)
    const found = { database: before ?? '', log: identityOf(path) ?? '' }
    return { database: connection, log: path, files: (data.opening === null ? data.files : null) ?? found }
  } catch (cause) {
    throw new Error(`the store ${data.path} can't be opened: ${messageOf(cause)}`)
  }
}

function answer(asked: Call): Answer {
  const { id } = asked
  if (asked.method === READY) return { id, value: files }
  // The caller has given up; let the ones behind have their turn.
  if (monotonic() >= asked.deadline) return { id, unavailable: TOO_LATE }
  const moved = departure(data.path, log, files)
  if (moved !== null) return { moved }
  call = asked
  try {
    const value = perform(asked)
    // What has been written to a log that lost its name meanwhile is not acknowledged.
    const lost = data.role === 'writer' ? departure(data.path, log, files) : null
    return lost === null ? { id, value } : { moved: lost }
  } catch (cause) {
    if (cause instanceof TooLate) return { id, unavailable: TOO_LATE }
    if (isSqliteError(cause)) return { id, unavailable: `the store ${data.path}: ${cause.message}` }
    return { id, failed: messageOf(cause) }
  }
}

function perform({ method, args, deadline }: Call): unknown {
  const operation = operations[method]
  if (operation === undefined) throw new Error(`the store has no ${method}`)
  const run = () => operation(...(args as never[]))
  return data.role === 'writer' ? transact(database, deadline, run) : run()
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
