/** The embedded store: an SQLite file, accessed by three threads. */

import { resolve } from 'node:path'
import { Health } from '../health.ts'
import { PATIENCE } from '../seats-file-rules.ts'
import { type Store, StoreUnavailable } from '../store.ts'
import type { Owner, Role, ThreadData } from './calls.ts'
import type { StoreFiles } from './file.ts'
import { unpackedCalls } from './packed-calls.ts'
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

/** Assigns the methods to the threads. The reads of the request path must not wait for the writer's disk access. */
function storeOf(threads: Threads, owner: Owner | null): Store {
  const { reader, lister, writer, health, alone, supersession } = threads
  const changesSince = reader.method('changesSince')
  /** The reader's start count at the last feed reading. */
  let followed = 1
  return {
    registry: null,
    ownership: owner === null ? null : { alone, superseded: supersession },
    health,
    grantByName: reader.method('grantByName'),
    grantById: reader.method('grantById'),
    spacesByName: reader.method('spacesByName'),
    seatByName: reader.method('seatByName'),
    seatById: reader.method('seatById'),
    apiKeyById: reader.method('apiKeyById'),
    /**
     * A restarted thread may have opened another file. Its marks would show that; to be safe, the memory is also
     * cleared once. A reading from null has no earlier state.
     */
    async changesSince(position) {
      const found = await changesSince(position)
      const { starts } = reader
      if (position === null || starts === followed) return found
      followed = starts
      return { head: found.head, changes: null }
    },
    blocks: reader.method('blocks'),
    userBlock: reader.method('userBlock'),
    readSeat: lister.method('readSeat'),
    listSeats: lister.method('listSeats'),
    readApiKey: lister.method('readApiKey'),
    listApiKeys: lister.method('listApiKeys'),
    listBlocks: lister.method('listBlocks'),
    readUser: lister.method('readUser'),
    listUsers: lister.method('listUsers'),
    createSeat: writer.method('createSeat'),
    updateSeat: writer.method('updateSeat'),
    deleteSeat: writer.method('deleteSeat'),
    seatHolders: lister.method('seatHolders'),
    isAdministered: lister.method('isAdministered'),
    ...unpackedCalls({
      planSeats: lister.method('planSeats', PATIENCE),
      applySeats: writer.method('applySeats', PATIENCE),
    }),
    createApiKey: writer.method('createApiKey'),
    revokeApiKey: writer.method('revokeApiKey'),
    createBlock: writer.method('createBlock'),
    deleteBlock: writer.method('deleteBlock'),
    recordKeyUse: writer.method('recordKeyUse'),
    recordSignIn: writer.method('recordSignIn'),
    listSessions: lister.method('listSessions'),
    endSession: writer.method('endSession'),
    bootstrap: writer.method('bootstrap'),
    clock: reader.method('clock'),
    audit: {
      head: reader.method('audit.head'),
      list: lister.method('audit.list'),
      chain: lister.method('audit.chain'),
      prune: writer.method('audit.prune'),
    },
    sessions: {
      readSession: reader.method('sessions.readSession'),
      sessionById: reader.method('sessions.sessionById'),
      create: writer.method('sessions.create'),
      rotate: writer.method('sessions.rotate'),
      giveBack: writer.method('sessions.giveBack'),
      claimRenewal: writer.method('sessions.claimRenewal'),
      renew: writer.method('sessions.renew'),
      end: writer.method('sessions.end'),
      endByProvider: writer.method('sessions.endByProvider'),
      endSome: writer.method('sessions.endSome'),
      recordLogout: writer.method('sessions.recordLogout'),
      loggedOutSince: reader.method('sessions.loggedOutSince'),
      recordToken: writer.method('sessions.recordToken'),
      prune: writer.method('sessions.prune'),
    },
    close: () => threads.close(),
  }
}

/** Milliseconds to open the file: creation, migration, waiting for other users, WAL recovery and the integrity check. */
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
   * The writer closes last: if only the WAL has lost its name, the close checkpoints acknowledged writes into the file. No
   * thread reopens the file before: SQLite would give it the shared index of the old WAL.
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
