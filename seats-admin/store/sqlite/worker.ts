/**
 * One of the store's two threads. The reader answers while the writer waits for the disk or for another program's
 * lock; neither ever stops the event loop of the gateway. Started by `thread.ts`, which says how calls look.
 */

import type { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { type Answer, type Call, CLOSE, monotonic, type Operations, READY, type ThreadData } from './calls.ts'
import { checkIntegrity, connect, TooLate, transact } from './connection.ts'
import { ensureFile, fileWatch } from './file.ts'
import { migrate } from './migrations.ts'
import { readerOperations, writerOperations } from './operations.ts'

if (parentPort === null) throw new Error('this file is a thread of the store')
const port = parentPort
const TOO_LATE = 'the store was too slow to answer in time'
const data: ThreadData = workerData
let running: Call | null = null

const { database, same } = open()
const operations: Operations =
  data.role === 'reader'
    ? readerOperations(database)
    : writerOperations(database, () => (running === null ? 0 : monotonic() - running.asked))

port.on('message', (message: Call | typeof CLOSE) => {
  if (message === CLOSE) close()
  else port.postMessage(answer(message))
})

function open(): { database: DatabaseSync; same: () => boolean } {
  try {
    if (data.opening) ensureFile(data.path)
    const watch = fileWatch(data.path)
    const connection = connect(data.path, data.role === 'reader' ? 'ro' : 'rw', data.busyTimeout)
    if (data.role === 'writer') migrate(connection)
    if (data.opening) checkIntegrity(connection)
    return { database: connection, same: watch }
  } catch (cause) {
    throw new Error(`the store ${data.path} can't be opened: ${messageOf(cause)}`)
  }
}

function answer(call: Call): Answer {
  const { id } = call
  if (call.method === READY) return { id, value: null }
  // The caller has given up; let the ones behind have their turn.
  if (monotonic() >= call.deadline) return { id, unavailable: TOO_LATE }
  // Not caught: it ends this thread, and the next call opens what is there by then.
  if (!same()) throw new Error(`the store ${data.path} was moved, deleted or replaced`)
  running = call
  try {
    return { id, value: perform(call) }
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
