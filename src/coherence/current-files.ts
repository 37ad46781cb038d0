/**
 * Whether a process may decide by the configuration that it has. Under a lease it may: the instance shows the
 * hash of its tables with each sign of life, and others wait for it. Without one, others do not wait any
 * more. So a process that was frozen, or cut off from the store, has its files read again before it decides:
 * by the old ones, a table or a secret that was withdrawn everywhere else could still admit a request there.
 */

import type { Clock } from './clock.ts'

/**
 * Milliseconds that one reading of the files is valid without a lease. Who waits for the fleet waits longer.
 */
export const FILES_VALID = 100

/** Has the files of the configuration read. */
export interface FilesReader {
  /**
   * Resolves once the process decides by the files as they were at a moment after the call, or once they have
   * been refused. Rejects when the process that reads them does not respond.
   */
  checkFiles(): Promise<void>
}

export class CurrentFiles {
  readonly #lease: { live(): boolean }
  readonly #reader: FilesReader
  readonly #clock: Pick<Clock, 'now' | 'wall'>
  /** The times on both clocks before the newest reading began. */
  #read = { now: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }
  #reading: Promise<void> | null = null

  constructor(lease: { live(): boolean }, reader: FilesReader, clock: Pick<Clock, 'now' | 'wall'>) {
    this.#lease = lease
    this.#reader = reader
    this.#clock = clock
  }

  /** Whether a request that starts now may be decided. */
  areCurrent(): boolean {
    return this.#lease.live() || this.#isRecent()
  }

  /** Files are not part of the state on which a request is decided. */
  areReplaced(): boolean {
    return false
  }

  /** Resolves once a request that started before the call may be decided. Rejects as {@link FilesReader}. */
  async check(): Promise<void> {
    const since = this.#clock.now()
    await this.#readOnce()
    // The reading may have begun before the call: before this process was frozen, for example.
    if (this.#read.now < since) await this.#readOnce()
  }

  #isRecent(): boolean {
    const { now, wall } = this.#read
    return this.#clock.now() - now < FILES_VALID && this.#clock.wall() - wall < FILES_VALID
  }

  /** Single-flight. */
  #readOnce(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = null
    })
    return this.#reading
  }

  async #readNow(): Promise<void> {
    const begun = { now: this.#clock.now(), wall: this.#clock.wall() }
    await this.#reader.checkFiles()
    this.#read = begun
  }
}
