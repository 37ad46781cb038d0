/**
 * The turns in which an HTTP/2 connection reads. One read can hold a thousand requests, which would all be
 * decided in one iteration of the event loop. A connection reads some of them, and continues in the next
 * iteration. If one was refused, it reads fewer, and takes its turn with all other connections of such
 * clients.
 */

import { compactBuffer } from '../../lib/compact-buffer.ts'
import type { DeferredQueue, DeferredTask } from '../../lib/deferred-queue.ts'

/** The number of requests in a turn. A connection may carry the requests of many clients. */
const PER_TURN = 32
const PER_TURN_AFTER_REFUSAL = 1

/** The connection that reads. */
export interface TurnReader {
  /** @returns the rest after {@link pause}, or null if all is read */
  read(bytes: Buffer): Buffer | null
  /** Ends the read in progress after the current frame. */
  pause(): void
  /** Reads from the socket again. */
  resume(): void
  /** The number of unread bytes may have changed. */
  unreadChanged(): void
}

export class ReadTurns implements DeferredTask {
  readonly #reader: TurnReader
  readonly #deferred: DeferredQueue
  /** Received, and not read yet. */
  #unread: Buffer | null = null
  /** The number of requests since the last turn. */
  #requests = 0
  #afterRefusal = false
  /** It waits for its turn, and reads nothing. */
  #waits = false
  #stopped = false

  constructor(reader: TurnReader, deferred: DeferredQueue) {
    this.#reader = reader
    this.#deferred = deferred
  }

  /** Bytes that unread input takes in memory. */
  get unreadBytes(): number {
    return this.#unread?.buffer.byteLength ?? 0
  }

  /** @returns false: reading from the socket stops until {@link TurnReader.resume} */
  receive(chunk: Buffer): boolean {
    const bytes = this.#unread === null ? chunk : Buffer.concat([this.#unread, chunk])
    if (this.#waits || this.#afterRefusal) this.#keep(bytes)
    else this.#read(bytes)
    return this.#unread === null
  }

  /** A turn. */
  #read(bytes: Buffer): void {
    this.#requests = 0
    this.#keep(this.#reader.read(bytes))
  }

  #keep(rest: Buffer | null): void {
    this.#unread = rest === null ? null : compactBuffer(rest)
    if (this.#unread !== null) this.#wait()
  }

  /** A request has been read, or what should be one. */
  requestRead(): void {
    const most = this.#afterRefusal ? PER_TURN_AFTER_REFUSAL : PER_TURN
    if (++this.#requests >= most) this.#reader.pause()
  }

  refused(): void {
    this.#afterRefusal = true
  }

  /** A response that is no refusal is with the client. */
  answered(): void {
    this.#afterRefusal = false
  }

  #wait(): void {
    if (this.#waits || this.#stopped) return
    this.#waits = true
    if (this.#afterRefusal) this.#deferred.add(this)
    else setImmediate(takeTurn, this)
  }

  /** Its turn. */
  run(): void {
    const bytes = this.#unread
    this.#waits = false
    this.#unread = null
    if (bytes === null || this.#stopped) return
    this.#read(bytes)
    this.#reader.unreadChanged()
    if (this.#unread === null && !this.#stopped) this.#reader.resume()
  }

  /** Unread input is dropped. */
  stop(): void {
    this.#stopped = true
    this.#unread = null
  }
}

function takeTurn(turns: ReadTurns): void {
  turns.run()
}
