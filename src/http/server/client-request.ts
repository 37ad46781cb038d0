/** A request as its client sent it. Its body waits until somebody takes it. */

import type { Socket } from 'node:net'
import type { HeaderSection } from '../wire/header-section.ts'
import { CHUNKED } from '../wire/message-parser.ts'
import type { RequestHead } from '../wire/request-parser.ts'

/** Who takes the body. */
export interface BodySink {
  data(chunk: Buffer): void
  /** All of it has come. */
  end(): void
  /** The connection is gone before that. */
  aborted(): void
}

/** What a request needs of its connection. */
export interface BodyFlow {
  readonly socket: Socket
  /** Reading goes on. */
  resume(): void
  /** Nothing more is read, for now. */
  pause(): void
  /** The rest of the body is not waited for: the connection ends with the answer. */
  abandon(): void
}

export class ClientRequest {
  readonly method: string
  /** As it came. */
  readonly url: string
  /** HTTP/1.1, or 1.0. */
  readonly minor: 0 | 1
  readonly section: HeaderSection
  /** Name, value, … as latin1, in their order. */
  readonly rawHeaders: readonly string[]
  /** Host fields, and the value of the first; null without one. */
  readonly hosts: number
  readonly host: string | null
  /** All lines joined; null without one. */
  readonly upgrade: string | null
  readonly expect: string | null
  /** Bytes of body that the head announces: 0 for none, Infinity where chunks don't tell (RFC 9112, section 6). */
  readonly length: number
  readonly keepAlive: boolean
  /** All of it is here. */
  complete: boolean
  /** It would go on, but whoever takes the body is busy; or nobody has taken it yet. */
  paused: boolean
  readonly #flow: BodyFlow
  #sink: BodySink | null = null
  /** What of the body came with the head, until somebody takes it; null from then on, and where there is no body. */
  #buffered: Buffer[] | null

  constructor(head: RequestHead, flow: BodyFlow) {
    const { section } = head
    this.method = head.method
    this.url = head.target
    this.minor = head.minor
    this.section = section
    this.rawHeaders = section.fields
    this.hosts = section.hosts
    this.host = section.host
    this.upgrade = section.upgrade
    this.expect = section.expect
    this.length = head.length === CHUNKED ? Infinity : head.length
    this.keepAlive = head.keepAlive
    this.complete = head.length === 0
    this.paused = head.length !== 0
    this.#buffered = head.length === 0 ? null : []
    this.#flow = flow
  }

  get socket(): Socket {
    return this.#flow.socket
  }

  /** The body goes there from now on; null: nowhere. Before the first call, no more than a few reads' worth is taken in. */
  deliver(sink: BodySink | null): void {
    this.#sink = sink
    if (this.#buffered !== null) this.#deliverBuffered(this.#buffered)
    this.resume()
  }

  #deliverBuffered(chunks: readonly Buffer[]): void {
    this.#buffered = null
    for (const chunk of chunks) this.#sink?.data(chunk)
    if (this.complete) this.#sink?.end()
  }

  /** The sink has no use for the rest: unless another one has taken it over, it goes nowhere. */
  release(sink: BodySink): void {
    if (this.#sink === sink) this.deliver(null)
  }

  /** Somebody takes the body, if only to throw it away. */
  get hasSink(): boolean {
    return this.#sink !== null
  }

  pause(): void {
    if (this.complete || this.paused) return
    this.paused = true
    this.#flow.pause()
  }

  resume(): void {
    if (this.complete || !this.paused) return
    this.paused = false
    this.#flow.resume()
  }

  /** Nobody waits for the rest of the body: the connection ends with the answer to this request. */
  abandon(): void {
    if (!this.complete) this.#flow.abandon()
  }

  /** Told by its conversation. */
  receive(chunk: Buffer): void {
    if (this.#buffered === null) this.#sink?.data(chunk)
    else this.#buffered.push(chunk)
  }

  receiveEnd(): void {
    this.complete = true
    this.paused = false
    if (this.#buffered === null) this.#sink?.end()
  }

  connectionClosed(): void {
    if (!this.complete) this.#sink?.aborted()
  }
}
