/**
 * The HTTP/1.1 side of a client connection: reads requests one at a time and writes their responses. The next
 * request is not parsed before the current response is sent, so a response always belongs to the current
 * request. A few reads' worth of pipelined bytes are buffered; then backpressure stops the client.
 */

import type { Socket } from 'node:net'
import type { ClientConnection, Http1Side } from './client-connection.ts'
import { type BodyFlow, ClientRequest } from './client-request.ts'
import { Http1Response, type ResponseOwner } from './http1-response.ts'
import { type DirectReads, READ_BYTES, readDirectly } from './direct-reads.ts'
import { MessageParser } from '../wire/message-parser.ts'
import type { Grammar, MessageSink } from '../wire/message-grammar.ts'
import { WriteQueue } from '../wire/write-queue.ts'
import { MalformedRequest } from '../wire/malformed-request.ts'
import type { RequestHead } from '../wire/request-parser.ts'
import { HalfClosedClient } from './half-closed.ts'
import { HeldInput } from './held-input.ts'
import { inBatch } from '../../lib/batched-steps.ts'
import type { DeferredQueue, DeferredTask } from '../../lib/deferred-queue.ts'
import { ignore } from '../../lib/ignore.ts'

/** The idle timeout that is announced to clients. */
export interface KeepAlive {
  /** Whole seconds. A reload changes it for all existing connections. */
  seconds: number
}

export interface Http1ConnectionSettings {
  readonly grammar: Grammar<RequestHead>
  /** The limit of a head, and of trailers, in bytes. */
  readonly headerBytes: number
  readonly keepAlive: KeepAlive
  /** The queue of connections whose last request was refused. */
  readonly deferred: DeferredQueue
}

/** Pipelined bytes at which reading stops while a request is in flight. */
const MAX_PIPELINED = 16 * 1024

export class Http1Connection
  implements Http1Side, MessageSink<RequestHead>, BodyFlow, ResponseOwner, DeferredTask
{
  readonly socket: Socket
  readonly writes: WriteQueue
  request: ClientRequest | null = null
  response: Http1Response | null = null
  readonly #settings: Http1ConnectionSettings
  readonly #client: ClientConnection
  readonly #parser: MessageParser<RequestHead>
  readonly #direct: DirectReads
  readonly #held: HeldInput
  #parsing = false
  /** Parsing is scheduled with the next batch. */
  #parseDue = false
  #stopped = false
  /** The last request was refused: the next one waits for a turn in the deferred queue. */
  #afterRefusal = false
  /** It waits there. */
  #deferred = false
  /** Pipelined bytes after the current request are discarded. */
  #discardsPipelined = false
  /** The client has ended its side; no more bytes will come. */
  #clientEnded = false
  #halfClosed: HalfClosedClient | null = null
  /** The handshake with which the connection leaves HTTP. */
  #upgrading: ClientRequest | null = null

  constructor(client: ClientConnection, settings: Http1ConnectionSettings) {
    const { socket } = client
    this.socket = socket
    this.#client = client
    this.#settings = settings
    this.#parser = new MessageParser(settings.grammar, settings.headerBytes, this)
    this.writes = new WriteQueue(socket, this.#onDrain)
    this.#held = new HeldInput(client, this.#parser, this.writes)
    this.#parser.begin()
    socket.on('data', this.#onData)
    this.#direct = readDirectly(socket, this.#receive)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('close', this.#onClose)
    socket.on('error', ignore)
  }

  get keepAliveSeconds(): number {
    return this.#settings.keepAlive.seconds
  }

  get awaitsRequest(): boolean {
    return this.request === null && this.#parser.atStart && this.#held.unparsed === null
  }

  get hasUnreadBytes(): boolean {
    return this.#parseDue
  }

  stop(): void {
    this.#stopped = true
    this.#parser.stop()
    this.#held.drop()
    this.#direct.end()
    this.socket.off('data', this.#onData).off('end', this.#onEnd)
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.#receive(chunk)) this.socket.pause()
  }

  /** @returns false to stop reading for now */
  readonly #receive = (chunk: Buffer): boolean => {
    if (this.#discardsPipelined) return false
    const held = this.#held
    held.unparsed = held.unparsed === null ? chunk : Buffer.concat([held.unparsed, chunk])
    if (!this.#mayParse) {
      if (this.request === null) this.#defer()
      return this.#mayReadAhead(held.unparsed)
    }
    // A body is parsed at once. So is a full read, as more bytes follow it, which would be copied repeatedly.
    if (this.request === null && !this.#parseDue) {
      this.#parseDue = true
      inBatch(parseScheduled, this)
      return chunk.length < READ_BYTES
    }
    this.#parse()
    return held.unparsed === null || this.#mayParse
  }

  /** @returns whether reading may go on although parsing may not */
  #mayReadAhead(unparsed: Buffer): boolean {
    this.#held.report(this.request)
    return unparsed.length < MAX_PIPELINED && this.request?.paused !== true
  }

  parseScheduled(): void {
    this.#parseDue = false
    if (this.#held.unparsed !== null) this.#parse()
  }

  /** Whether bytes may be parsed: the current response is sent, or a sink takes the body. */
  get #mayParse(): boolean {
    if (this.request === null) return !this.#afterRefusal
    return !(this.request.complete || this.request.paused)
  }

  #parse(): void {
    const held = this.#held
    this.#parsing = true
    try {
      // A destroyed socket reports its end later, and no response can reach its client.
      while (held.unparsed !== null && this.#mayParse && !this.socket.destroyed) {
        const { unparsed } = held
        held.unparsed = null
        const at = this.#parser.read(unparsed, 0, unparsed.length)
        if (this.#upgrading !== null) return this.#upgrade(this.#upgrading, unparsed.subarray(at))
        if (this.#stopped) return
        if (at < unparsed.length) held.unparsed = unparsed.subarray(at)
      }
    } catch (error) {
      return this.#parseFailed(error)
    } finally {
      this.#parsing = false
    }
    if (this.request === null && !this.#parser.atStart) this.#client.owner.headStarted(this.#client)
    if (this.request === null && held.unparsed !== null && !this.#mayParse) this.#defer()
    held.reportAny(this.request)
    // Reading continues up to a bound, as only reads reveal that a client has left.
    if ((held.unparsed?.length ?? 0) < MAX_PIPELINED && this.request?.paused !== true) this.#resumeReading()
    if (this.#clientEnded) this.clientEnded()
  }

  #resumeReading(): void {
    if (this.socket.isPaused()) this.socket.resume()
    this.#direct.more()
  }

  /** The client does not read its response: bytes are buffered. */
  backpressure(): void {
    this.#held.backpressure(this.request)
  }

  dropPipelined(): boolean {
    if (this.request?.complete !== true || !this.#held.isMostlyUnparsed) return false
    this.#discardsPipelined = true
    this.#held.unparsed = null
    if (this.response?.headersSent === false) this.response.shouldKeepAlive = false
    this.#held.report(this.request)
    return true
  }

  #parseFailed(error: unknown): void {
    if (!(error instanceof MalformedRequest)) throw error
    const hasResponse = this.request !== null && this.response === null
    this.stop()
    // A malformed rest of a body whose request is already answered gets no second response.
    if (hasResponse) this.#client.closing(true)
    else this.#client.owner.malformed(this.#client, error)
  }

  #upgrade(request: ClientRequest, rest: Buffer): void {
    this.stop()
    this.socket.off('drain', this.#onDrain).off('close', this.#onClose)
    this.#client.owner.upgraded(this.#client, request, rest)
    // A handshake that was pipelined may have left the socket paused.
    this.socket.resume()
  }

  head(head: RequestHead): void {
    const request = new ClientRequest(head, this)
    if (request.upgrade !== null && this.#client.owner.acceptsUpgrade(request)) {
      this.#upgrading = request
      return this.#parser.stop()
    }
    const response = new Http1Response(request, this)
    this.request = request
    this.response = response
    const client = this.#client
    client.exchange = client.owner.requestReceived(client, request, response)
  }

  body(chunk: Buffer | string): void {
    if (typeof chunk !== 'string') this.request?.receive(chunk)
  }

  end(): void {
    if (this.request?.complete === false) this.request.receiveEnd()
    if (this.response === null) this.#startNext()
  }

  pause(): void {
    this.#parser.pause()
    if (!this.#parsing) this.socket.pause()
  }

  abandon(): void {
    if (this.#stopped) return
    if (this.response === null) this.#close()
    else this.response.shouldKeepAlive = false
  }

  resume(): void {
    if (!this.#parsing && !this.#stopped) this.#parse()
  }

  /** Parsing reports at its end. */
  heldChanged(): void {
    if (!this.#parsing) this.#held.reportAny(this.request)
  }

  flushed(): void {
    const { request, response } = this
    if (request === null || response === null || this.socket.destroyed) return
    this.response = null
    this.#halfClosed?.stop()
    this.#halfClosed = null
    response.finish(true)
    this.#client.exchangeEnded()
    // A listener may have read on.
    if (this.request !== request) return
    this.#held.drained()
    if (
      this.#stopped ||
      this.#discardsPipelined ||
      !response.shouldKeepAlive ||
      (this.#clientEnded && this.#held.unparsed === null) ||
      !(request.complete || request.hasSink)
    )
      return this.#close()
    this.#afterRefusal = response.refused
    if (!request.complete) return
    this.#startNext()
    if (this.#held.unparsed !== null) this.#parse()
  }

  #defer(): void {
    if (this.#deferred) return
    this.#deferred = true
    this.#settings.deferred.add(this)
  }

  run(): void {
    this.#deferred = false
    if (this.#stopped) return
    this.#afterRefusal = false
    this.#parse()
    // A part of a head alone: the rest of it waits for another turn.
    if (this.request === null) this.#afterRefusal = true
  }

  #startNext(): void {
    this.request = null
    this.#parser.begin()
    this.#held.reportLess(null)
    this.#client.owner.becameIdle(this.#client)
  }

  #close(): void {
    const unread = this.request?.complete === false || this.#held.unparsed !== null || this.#discardsPipelined
    this.stop()
    this.#client.closing(unread)
  }

  /** The client sends nothing more, but may wait for its response (RFC 9293, section 3.6). */
  readonly #onEnd = (): void => {
    // Bytes that arrived before the end are processed first.
    setImmediate(clientEnded, this)
  }

  clientEnded(): void {
    if (this.#stopped || this.socket.destroyed) return
    this.#clientEnded = true
    const { request, response } = this
    if (this.awaitsRequest) return void this.socket.end()
    // The rest is parsed when the request before it, or its sink, permits that.
    if (this.#held.unparsed !== null && (request !== null || this.#deferred || this.#parseDue))
      return this.#watchClient()
    if (request === null) this.#parseFailed(new MalformedRequest('malformed', 'The request is incomplete.'))
    else if (!request.complete) this.socket.destroy()
    else if (response !== null) {
      if (!response.headersSent) response.shouldKeepAlive = false
      this.#watchClient()
    }
  }

  #watchClient(): void {
    const { request, response } = this
    if (request !== null && response !== null) this.#halfClosed ??= new HalfClosedClient(request, response)
  }

  readonly #onDrain = (): void => {
    this.#held.drained()
    this.#held.reportLess(this.request)
    this.response?.drained()
  }

  readonly #onClose = (): void => {
    const { request, response } = this
    this.stop()
    this.#halfClosed?.stop()
    this.response = null
    response?.finish(false)
    if (response !== null) this.#client.exchangeEnded()
    request?.connectionClosed()
  }
}

function parseScheduled(connection: Http1Connection): void {
  connection.parseScheduled()
}

function clientEnded(connection: Http1Connection): void {
  connection.clientEnded()
}
