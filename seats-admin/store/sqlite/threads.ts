/** The store's three threads, which open one file together and leave it together. */

import { Health } from '../health.ts'
import { StoreUnavailable } from '../store.ts'
import type { Owner, Role, ThreadData } from './calls.ts'
import type { StoreFiles } from './file.ts'
import type { ListerOperations, ReaderOperations, WriterOperations } from './operations.ts'
import { Thread, type ThreadOwner } from './thread.ts'

/** Milliseconds that opening may take: making or migrating the file, waiting for its other users, recovery of its log, the check of all pages. */
const OPEN_TIMEOUT = 30_000

export class Threads implements ThreadOwner {
  readonly health = new Health()
  readonly reader: Thread<ReaderOperations>
  /** Not started before administration asks: an idle gateway has one thread less. */
  readonly lister: Thread<ListerOperations>
  readonly writer: Thread<WriterOperations>
  readonly #path: string
  readonly #timeout: number
  /** As the writer has opened them last. */
  #files: StoreFiles | null = null
  #open = false
  #reopening: Promise<void> | null = null
  /** Until the threads of a file that went away have closed it. */
  #leaving: Promise<void> = Promise.resolve()
  readonly #owner: Owner | null
  #alone = true
  /** Why nothing is asked any more; null while the gateway owns the store, or needs not. */
  #superseded: StoreUnavailable | null = null
  readonly #supersession = Promise.withResolvers<StoreUnavailable>()

  /**
   * @param timeout ms until a call is given up
   * @param owner for whom the store is opened; null for a program that is no gateway
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
    this.#alone = await this.#openFile()
    await this.reader.open(OPEN_TIMEOUT)
  }

  async close(): Promise<void> {
    this.health.close()
    await Promise.all([this.reader.close(), this.lister.close()])
    await this.writer.close()
    await this.#leaving
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

  /** At the first opening, no other gateway, nor a worker of one, may have had a lease. */
  get alone(): boolean {
    return this.#alone
  }

  /** Resolves when another gateway has become the owner. */
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
    this.#leaving = this.#leave()
  }

  superseded(message: string): void {
    if (this.#superseded !== null) return
    const cause = new StoreUnavailable(message)
    this.#superseded = cause
    for (const thread of [this.reader, this.lister, this.writer]) thread.drop(cause)
    this.#supersession.resolve(cause)
  }

  /**
   * The writer goes last: where only the log has lost its name, its closing writes what was acknowledged back into the
   * file. And no thread opens anew before: SQLite would give it the others' index of the old log.
   */
  async #leave(): Promise<void> {
    await Promise.all([this.reader.gone(), this.lister.gone()])
    await this.writer.gone()
  }

  async #reopen(): Promise<void> {
    await this.#leaving
    await this.#openFile()
  }

  async #openFile(): Promise<boolean> {
    const { files, alone } = await this.writer.open(OPEN_TIMEOUT)
    this.#files = files
    this.#open = true
    return alone
  }
}
