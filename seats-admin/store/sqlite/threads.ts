/** The store's three threads, which open and leave one file together. */

import { Health } from '../health.ts'
import { StoreUnavailable } from '../store.ts'
import type { Owner, Role, ThreadData } from './calls.ts'
import type { StoreFiles } from './file.ts'
import { Thread, type ThreadOwner } from './thread.ts'

/** Milliseconds to open the file: creation, migration, waiting for other users, WAL recovery and the integrity check. */
const OPEN_TIMEOUT = 30_000

export class Threads implements ThreadOwner {
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
