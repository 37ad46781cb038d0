/** The store's three threads, which open one file together and leave it together. Used by `store.ts` only. */

import { StoreUnavailable } from '../store.ts'
import type { Role, ThreadData } from './calls.ts'
import type { StoreFiles } from './file.ts'
import type { ListerOperations, ReaderOperations, WriterOperations } from './operations.ts'
import { Thread, type ThreadOwner } from './thread.ts'

/** Milliseconds that opening may take: making or migrating the file, recovery of its log, the check of all pages. */
const OPEN_TIMEOUT = 30_000

export class Threads implements ThreadOwner {
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

  /** @param timeout ms until a call is given up */
  constructor(path: string, timeout: number) {
    this.#path = path
    this.#timeout = timeout
    this.reader = new Thread(this, 'reader', timeout)
    this.lister = new Thread(this, 'lister', timeout)
    this.writer = new Thread(this, 'writer', timeout)
  }

  async open(): Promise<void> {
    await this.#openFile()
    await this.reader.open(OPEN_TIMEOUT)
  }

  async close(): Promise<void> {
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
      files: this.#files,
    }
  }

  gate(): Promise<void> | null {
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

  async #openFile(): Promise<void> {
    this.#files = await this.writer.open(OPEN_TIMEOUT)
    this.#open = true
  }
}
