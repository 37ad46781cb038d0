/**
 * The bytes of messages that a connection of HTTP/1.1 holds in memory: received bytes that are not parsed
 * yet, an incomplete message, a large head while its request is in flight, the part of a body that waits for
 * its reader, and a response that its client does not read. Bytes that only pass do not count.
 */

import type { Socket } from 'node:net'
import { compactBuffer } from '../../lib/compact-buffer.ts'
import type { WriteQueue } from '../wire/write-queue.ts'
import type { ClientConnection } from './client-connection.ts'
import type { ClientRequest } from './client-request.ts'

/** The parser of the connection. */
interface Parser {
  /** Nothing of the next message has arrived. */
  readonly atStart: boolean
  /** Bytes of an incomplete message. */
  readonly partialBytes: number
}

/** The size from which a request in flight counts as buffered. */
const LARGE_REQUEST = 4 * 1024

export class HeldInput {
  /** Received and not parsed yet. */
  unparsed: Buffer | null = null
  readonly #socket: Socket
  readonly #parser: Parser
  readonly #writes: WriteQueue
  readonly #client: ClientConnection
  #reported = 0
  /** The client does not read its response: bytes are buffered. */
  #backpressured = false
  #dropped = false

  /** @param client its owner gets each change of the number of bytes that is reported here */
  constructor(client: ClientConnection, parser: Parser, writes: WriteQueue) {
    this.#client = client
    this.#socket = client.socket
    this.#parser = parser
    this.#writes = writes
  }

  /** @param request the request in progress, or null */
  report(request: ClientRequest | null): void {
    if (this.#dropped) return
    const held = bytesOf(request)
    this.#set(
      this.#parser.partialBytes +
        this.#compact() +
        this.#socket.readableLength +
        (held > LARGE_REQUEST ? held : 0) +
        (this.#backpressured ? this.#writes.bytes : 0),
    )
  }

  /** Reports if something was reported before, or there is something to report. */
  reportAny(request: ClientRequest | null): void {
    if (this.#reported !== 0 || this.unparsed !== null) return this.report(request)
    const holds = request === null ? !this.#parser.atStart : bytesOf(request) > LARGE_REQUEST
    if (holds) this.report(request)
  }

  /** Reports if something was reported before: it may be less now. */
  reportLess(request: ClientRequest | null): void {
    if (this.#reported !== 0) this.report(request)
  }

  /** The client does not read its response. */
  backpressure(request: ClientRequest | null): void {
    this.#backpressured = true
    this.report(request)
  }

  /** The response leaves, or has left. Nothing is reported. */
  drained(): void {
    this.#backpressured = false
  }

  /** Unparsed bytes are most of what was reported. */
  get isMostlyUnparsed(): boolean {
    return this.unparsed !== null && this.#compact() * 2 >= this.#reported
  }

  /** Nothing more is read, and nothing counts from now on. */
  drop(): void {
    this.#dropped = true
    this.unparsed = null
    this.#set(0)
  }

  #set(bytes: number): void {
    if (bytes === this.#reported) return
    this.#reported = bytes
    this.#client.owner.memoryChanged(this.#client, bytes)
  }

  /** @returns the bytes that unparsed input takes */
  #compact(): number {
    if (this.unparsed === null) return 0
    this.unparsed = compactBuffer(this.unparsed)
    return this.unparsed.buffer.byteLength
  }
}

/** The bytes of the head, and of the part of the body that waits for its reader. */
function bytesOf(request: ClientRequest | null): number {
  return request === null ? 0 : request.section.fields.bytes + request.heldBytes
}
