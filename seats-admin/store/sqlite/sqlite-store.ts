/** The embedded store: an SQLite file, accessed by three threads. */

import { resolve } from 'node:path'
import { Health } from '../health.ts'
import { type Store, StoreUnavailable } from '../store.ts'
import type { StoreMethods } from '../store-methods.ts'
import { type MethodName, type Owner, type Role, ROLES, type ThreadData } from './calls.ts'
import type { StoreFiles } from './file.ts'
import { Thread, type ThreadOwner } from './thread.ts'

/** Milliseconds until a call rejects. */
const DEFAULT_TIMEOUT = 2000

export interface SqliteOptions {
  /** The database file. A missing file or folder is created; a file that is not a store is refused. */
  readonly path: string
  /** Milliseconds until a call rejects with StoreUnavailable; 2,000 by default. */
  readonly timeout?: number | undefined
  /** Set by a process of a gateway, which decides on this store only as its owner. */
  readonly owner?: Owner
}

/** Rejects with a StoreUnavailable whose message states the fault. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, timeout = DEFAULT_TIMEOUT, owner = null } = options
  const threads = new Threads(resolve(path), timeout, owner)
  try {
    await threads.open()
    return storeOf(threads, owner)
  } catch (cause) {
    await threads.close()
    throw cause
  }
}

function storeOf(threads: Threads, owner: Owner | null): Store {
  const { reader, health, alone, supersession } = threads
  const { changesSince, ...methods } = methodsOf(threads)
  /** The reader's start count at the last feed reading. */
  let followed = 1
  return {
    ...methods,
    registry: null,
    ownership: owner === null ? null : { alone, superseded: supersession },
    health,
    /**
     * A restarted thread may have opened another file. Its marks would show that; to be safe, the memory is
     * also cleared once. A reading from null has no earlier state.
     */
    async changesSince(position) {
      const reading = await changesSince(position)
      const { starts } = reader
      if (position === null || starts === followed) return reading
      followed = starts
      return { head: reading.head, changes: null }
    },
    close: () => threads.close(),
  }
}

/** The methods of the store, each as a call of its thread. */
function methodsOf(threads: Readonly<Record<Role, Thread>>): StoreMethods {
  const groups: Record<string, Record<string, unknown>> = { '': {}, sessions: {}, audit: {} }
  for (const name of Object.keys(ROLES) as MethodName[]) {
    const [method = '', group = ''] = name.split('.').reverse()
    Object.assign(groups[group] ?? {}, { [method]: threads[ROLES[name]].method(name) })
  }
  const { '': own, ...others } = groups
  return { ...own, ...others } as unknown as StoreMethods
}

/**
 * Milliseconds to open the file: creation, migration, waiting for other users, WAL recovery and the integrity
 * check.
 */
const OPEN_TIMEOUT = 30_000

/** They open and leave one file together. */
class Threads implements ThreadOwner {
  readonly health = new Health()
  readonly reader: Thread
  /** Started at the first call, so that an idle gateway has one thread less. */
  readonly lister: Thread
  readonly writer: Thread
  readonly #path: string
  readonly #timeout: number
  /** The files that the writer opened last. */
  #files: StoreFiles | null = null
  #open = false
  #reopening: Promise<void> | null = null
  /** Resolves when the threads of a moved file have closed it. */
  #draining: Promise<void> = Promise.resolve()
  readonly #owner: Owner | null
  /** Whether no other gateway or worker may have had a lease at the first opening. */
  alone = true
  /** The rejection of all calls after supersession; otherwise null. */
  #superseded: StoreUnavailable | null = null
  readonly #supersession = Promise.withResolvers<StoreUnavailable>()

  /**
   * @param timeout ms until a call rejects
   * @param owner the gateway; null for other programs
   */
  constructor(path: string, timeout: number, owner: Owner | null) {
    this.#path = path
    this.#timeout = timeout
    this.#owner = owner
    this.reader = new Thread(this, 'reader', timeout)
    this.lister = new Thread(this, 'lister', timeout)
    this.writer = new Thread(this, 'writer', timeout)
  }

  async open(): Promise<void> {
    this.alone = await this.#openFile()
    await this.reader.open(OPEN_TIMEOUT)
  }

  async close(): Promise<void> {
    this.health.close()
    await Promise.all([this.reader.close(), this.lister.close()])
    await this.writer.close()
    await this.#draining
  }

  dataOf(role: Role): ThreadData {
    const opening = this.#files === null ? 'first' : 'again'
    return {
      role,
      path: this.#path,
      busyTimeout: this.#timeout,
      opening: role === 'writer' && !this.#open ? opening : null,
      owner: this.#owner,
      files: this.#files,
    }
  }

  /** Resolves when another gateway becomes the owner. */
  get supersession(): Promise<StoreUnavailable> {
    return this.#supersession.promise
  }

  gate(): Promise<void> | null {
    if (this.#superseded !== null) return Promise.reject(this.#superseded)
    if (this.#open) return null
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = null
    })
    return this.#reopening
  }

  moved(message: string): void {
    if (!this.#open) return
    this.#open = false
    const cause = new StoreUnavailable(message)
    for (const thread of [this.reader, this.lister, this.writer]) thread.drop(cause)
    this.#draining = this.#drain()
  }

  superseded(message: string): void {
    if (this.#superseded !== null) return
    const cause = new StoreUnavailable(message)
    this.#superseded = cause
    for (const thread of [this.reader, this.lister, this.writer]) thread.drop(cause)
    this.#supersession.resolve(cause)
  }

  /**
   * The writer closes last: if only the WAL has lost its name, the close checkpoints acknowledged writes into
   * the file. No thread reopens the file before: SQLite would give it the shared index of the old WAL.
   */
  async #drain(): Promise<void> {
    await Promise.all([this.reader.gone(), this.lister.gone()])
    await this.writer.gone()
  }

  async #reopen(): Promise<void> {
    await this.#draining
    await this.#openFile()
  }

  async #openFile(): Promise<boolean> {
    const { files, alone } = await this.writer.open(OPEN_TIMEOUT)
    this.#files = files
    this.#open = true
    return alone
  }
}
