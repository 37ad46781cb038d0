/**
 * One of the store's three threads. The reader serves decisions with small replies while the writer waits for
 * the disk or a lock. The lister serves administration's large reads. None of them blocks the gateway's event
 * loop.
 */

import { setPriority } from 'node:os'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { isRefusal } from '../../model/refusal.ts'
import { monotonic } from '../monotonic.ts'
import { codeIn, messageOf } from '../unavailable.ts'
import {
  type ThreadReply,
  type Call,
  CLOSE,
  LONG_CALLS,
  type Opened,
  READY,
  type RunningCall,
  type ThreadData,
} from './calls.ts'
import { checkIntegrity, connect, faultOf, CallExpired, openingCode, enableWal } from './sqlite-connection.ts'
import { methodsOn } from './sqlite-database.ts'
import {
  ensureFile,
  fileReplacement,
  identityOf,
  keepReserve,
  logOf,
  refuseStaleLog,
  withReserve,
} from './file.ts'
import { checkFile } from './sqlite-file-check.ts'
import { buffersIn, pack, unpack } from './packed-lists.ts'
import { migrate } from './sqlite-migrations.ts'
import { checkSchema } from './sqlite-schema.ts'
import { checkOwner, OWNER, type FileOrigin, Superseded, takeOwnership } from './ownership.ts'

if (parentPort === null) throw new Error('this file is a thread of the store')
const port = parentPort
/**
 * Niceness of the reader and the lister. On a shared core the event loop has priority and they get a tenth:
 * large Seats then delay other tenants half as much as with equal priorities.
 */
const NICENESS = 10
/** Milliseconds between retries without SQLite's page cache. */
const RETRY_INTERVAL = 250
let nextRetry = 0
const EXPIRED = 'the store responded too late'
const data: ThreadData = workerData
let call: Call | null = null
const running: RunningCall = {
  elapsed: () => (call === null ? 0 : monotonic() - call.startedAt),
  deadline: () => call?.deadline ?? 0,
  throwIfExpired() {
    if (call !== null && monotonic() >= call.deadline) throw new CallExpired()
  },
}

/** Whether {@link checkOnce} has found no damage. */
let isChecked = false
const { database, log, files, alone } = open()
// Only on Linux does a thread have its own priority.
if (data.role !== 'writer' && process.platform === 'linux') yieldToEventLoop()
const methods = storeOn(database)
/** Prepared at the first write: a statement reads the schema, which a replaced file may have broken. */
let totalChanges: StatementSync | null = null
/** Calls that wait for the end of the running one. */
const waiting: (Call | typeof CLOSE)[] = []
let isBusy = false

port.on('message', (message: Call | typeof CLOSE) => {
  waiting.push(message)
  if (!isBusy) void respondInTurn()
})

async function respondInTurn(): Promise<void> {
  isBusy = true
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (next === CLOSE) close()
    else {
      const reply = await respond(next)
      const isLong = LONG_CALLS.has(next.method) && 'value' in reply
      port.postMessage(reply, isLong ? buffersIn(reply.value) : [])
    }
  }
  isBusy = false
}

function yieldToEventLoop(): void {
  try {
    setPriority(NICENESS)
  } catch {
    // A sandbox may forbid the call; the thread then runs at normal priority.
  }
}

type Operation = (...args: readonly unknown[]) => Promise<unknown>

/** By {@link MethodName}. */
type MethodsByName = ReadonlyMap<string, Operation>

function storeOn(connection: DatabaseSync): MethodsByName {
  const { sessions, audit, ...methods } = methodsOn(connection, running, data.owner?.lock ?? null)
  const named = (prefix: string, group: object) =>
    Object.entries(group).map(([name, method]) => [prefix + name, method] as const)
  return new Map([...named('', methods), ...named('sessions.', sessions), ...named('audit.', audit)])
}

interface OpenStore extends Opened {
  readonly database: DatabaseSync
  readonly log: string
}

function open(): OpenStore {
  let taken = false
  try {
    if (data.opening === null) return openFile()
    const origin = locate(data.opening)
    const alone = withReserve(data.path, () => takeIfOwner(origin))
    taken = true
    const opened = withReserve(data.path, openFile)
    if (data.owner?.takes === true) keepReserve(data.path)
    return { ...opened, alone }
  } catch (cause) {
    const error = new Error(`the store ${data.path} cannot be opened: ${messageOf(cause)}`)
    // The main thread gets a structured clone, which keeps properties but not classes.
    Object.assign(error, { code: openingCode(cause) })
    // After the ownership was taken, another owner means that the file was replaced again.
    if (cause instanceof Superseded && !taken) error.name = cause.name
    throw error
  }
}

function locate(opening: 'first' | 'again'): FileOrigin {
  const created = opening === 'first' && ensureFile(data.path)
  checkFile(data.path)
  if (opening === 'first') return created ? 'created' : 'found'
  if (data.files !== null) refuseStaleLog(data.files, data.path)
  return 'again'
}

function takeIfOwner(origin: FileOrigin): boolean {
  return data.owner?.takes !== true || takeOwnership(data.path, data.owner.lock, origin, checkOnce)
}

function openFile(): OpenStore {
  const path = logOf(data.path)
  const before = identityOf(data.path)
  const connection = connect(data.path, data.role === 'writer' ? 'rw' : 'ro', data.busyTimeout)
  try {
    prepare(connection)
    const identities = { database: before ?? '', log: identityOf(path) ?? '' }
    const opened = (data.opening === null ? data.files : null) ?? identities
    return { database: connection, log: path, files: opened, alone: true }
  } catch (cause) {
    connection.close()
    throw cause
  }
}

/** The check reads the whole file. */
function checkOnce(connection: DatabaseSync): void {
  if (isChecked) return
  checkIntegrity(connection)
  checkSchema(connection)
  isChecked = true
}

/**
 * The first read takes a shared lock on the file until the connection closes. Nothing is written to a damaged
 * file.
 */
function prepare(connection: DatabaseSync): void {
  if (data.opening !== null) checkOnce(connection)
  if (data.role === 'writer') {
    migrate(connection)
    enableWal(connection)
    // The first read in this mode creates the log, whose identity `openFile` takes.
    connection.prepare('SELECT seq FROM counter').get()
  }
  if (data.owner !== null) checkOwner(connection.prepare(OWNER).get(), data.owner.lock)
}

async function respond(request: Call): Promise<ThreadReply> {
  const { id } = request
  if (request.method === READY) return { id, value: { files, alone }, stored: false }
  // The call has expired: skip it.
  if (monotonic() >= request.deadline) return { id, unavailable: EXPIRED, fault: 'timeout' }
  const moved = fileReplacement(data.path, log, files)
  if (moved !== null) return { moved }
  call = request
  try {
    const before = changedRows()
    const value = await perform(methods, request)
    // The rows of a refusal are counted, too, and rolled back.
    const stored = changedRows() !== before && !isRefusal(value)
    // A write to a WAL that has lost its name is not acknowledged.
    const lost = data.role === 'writer' ? fileReplacement(data.path, log, files) : null
    return lost === null ? { id, value, stored } : { moved: lost }
  } catch (cause) {
    if (cause instanceof Superseded) return { superseded: `the store ${data.path}: ${cause.message}` }
    if (cause instanceof CallExpired) return { id, unavailable: EXPIRED, fault: 'timeout' }
    if (codeIn(cause) === 'ERR_SQLITE_ERROR') return failure(request, cause)
    return { id, failed: messageOf(cause) }
  }
}

/** Since the connection was opened; for the writer. */
function changedRows(): unknown {
  if (data.role !== 'writer') return 0
  totalChanges ??= database.prepare('SELECT total_changes() AS count')
  return totalChanges.get()?.['count']
}

async function failure(request: Call, cause: unknown): Promise<ThreadReply> {
  const { id } = request
  const fault = faultOf(cause)
  if (fault === 'corrupt' && data.role !== 'writer' && monotonic() >= nextRetry) {
    nextRetry = monotonic() + RETRY_INTERVAL
    const retried = await retryUncached(request)
    if (retried !== null) return { id, ...retried, stored: false }
  }
  return { id, unavailable: `the store ${data.path}: ${messageOf(cause)}`, fault }
}

/**
 * SQLite's cache keeps a corrupt page after its repair on disk, but also intact pages from before the damage.
 * The cache is therefore dropped only when the call succeeds without it.
 *
 * @returns null when the call fails again
 */
async function retryUncached(request: Call): Promise<{ value: unknown } | null> {
  try {
    using connection = connect(data.path, 'ro', data.busyTimeout)
    const value = await perform(storeOn(connection), request)
    database.exec('PRAGMA shrink_memory')
    return { value }
  } catch {
    return null
  }
}

/** @param on of the connection to use */
function perform(on: MethodsByName, { method, args }: Call): Promise<unknown> {
  const operation = on.get(method)
  if (operation === undefined) throw new Error(`the store has no ${method}`)
  return LONG_CALLS.has(method) ? performPacked(operation, args) : operation(...args)
}

async function performPacked(operation: Operation, args: readonly unknown[]): Promise<unknown> {
  return pack(await operation(...(await Promise.all(args.map(unpack)))))
}

/** The last connection to close checkpoints the WAL. */
function close(): void {
  port.close()
  database.close()
}
