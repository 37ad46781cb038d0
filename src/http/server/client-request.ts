/** A received request. Its body stays on the connection until a sink takes it. */

import type { Socket } from 'node:net'
import type { HeaderSection } from '../wire/header-section.ts'
import { CHUNKED } from '../wire/message-grammar.ts'
import type { RequestHead } from '../wire/request-parser.ts'

/** Receives the body. */
export interface BodySink {
  data(chunk: Buffer): void
  /** The body is complete. */
  end(): void
  /** The connection was closed before the end of the body. */
  aborted(): void
}

/** The body controls of a connection. */
export interface BodyFlow {
  readonly socket: Socket
  /** Resumes reading. */
  resume(): void
  /** Stops reading for now. */
  pause(): void
  /** Gives up the rest of the body: the connection is closed after the response. */
  abandon(): void
  /** `heldBytes` of the request has changed. */
  heldChanged(): void
}

export class ClientRequest {
  readonly method: string
  /** The request target as received. */
  readonly url: string
  /** The minor version of HTTP/1; 1 for HTTP/2. */
  readonly minor: 0 | 1
  /** Whether the request came over HTTP/2. Its fields are in the form of HTTP/1.1. */
  readonly http2: boolean
  readonly section: HeaderSection
  /** The number of Host fields, and the value of the first; null without one. */
  readonly hosts: number
  readonly host: string | null
  /** The combined values of the repeated lines; null if absent. */
  readonly upgrade: string | null
  readonly expect: string | null
  /** The announced body length in bytes: 0 without a body, Infinity for chunked (RFC 9112, section 6). */
  readonly length: number
  readonly keepAlive: boolean
  /** The whole request is received. */
  complete: boolean
  /** Reading is stopped because the sink is busy, or because there is no sink yet. */
  paused: boolean
  /** Bytes of the body that wait in memory for their reader, except for those that the connection holds. */
  heldBytes = 0
  readonly #flow: BodyFlow
  #sink: BodySink | null = null
  /** Body parts that arrived with the head, until a sink takes them; then, and without a body, null. */
  #buffered: Buffer[] | null

  constructor(head: RequestHead, flow: BodyFlow) {
    const { section } = head
    this.method = head.method
    this.url = head.target
    this.minor = head.minor
    this.http2 = head.http2
    this.section = section
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

  /** Name, value, … as latin1, in order. */
  get rawHeaders(): readonly string[] {
    return this.section.fields.pairs
  }

  get socket(): Socket {
    return this.#flow.socket
  }

  /** Sets the receiver of the body; null discards it. Before that, a few reads' worth is buffered. */
  deliver(sink: BodySink | null): void {
    this.#sink = sink
    if (this.#buffered !== null) this.#deliverBuffered(this.#buffered)
    this.resume()
  }

  #deliverBuffered(chunks: readonly Buffer[]): void {
    this.#buffered = null
    this.heldBytes = 0
    for (const chunk of chunks) this.#sink?.data(chunk)
    if (this.complete) this.#sink?.end()
    if (chunks.length > 0) this.#flow.heldChanged()
  }

  /** Puts back the body that a sink has read whole. The next sink gets these bytes. */
  restore(body: Buffer): void {
    if (!this.complete) throw new Error('the body is not complete')
    this.#sink = null
    this.#buffered = [body]
    this.heldBytes = body.length
    this.#flow.heldChanged()
  }

  /** Reports how many bytes of the body wait in memory for the reader of the sink. */
  hold(sink: BodySink, bytes: number): void {
    if (this.#sink !== sink || bytes === this.heldBytes) return
    this.heldBytes = bytes
    this.#flow.heldChanged()
  }

  /** Discards the rest of the body, unless another sink has taken over. */
  release(sink: BodySink): void {
    if (this.#sink === sink) this.deliver(null)
  }

  /** The body has a receiver, even if that discards it. */
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

  /** Gives up the rest of the body: the connection is closed after the response. */
  abandon(): void {
    if (!this.complete) this.#flow.abandon()
  }

  /** The connection calls this and the following methods. */
  receive(chunk: Buffer): void {
    if (this.#buffered === null) return this.#sink?.data(chunk)
    this.#buffered.push(chunk)
    this.heldBytes += chunk.length
    this.#flow.heldChanged()
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
