/**
 * What is said on one client connection: requests in, one at a time, and their answers out. The next request is not
 * even read before the last one is answered: so no answer can be taken for another's, and nothing can be said out of
 * turn. What its client sends meanwhile waits, a few reads' worth of it, and then the client does.
 */

import type { Socket } from 'node:net'
import { type BodyFlow, ClientRequest } from './client-request.ts'
import { ClientResponse, type ResponseOwner } from './client-response.ts'
import { type DirectReads, readDirectly } from './direct-reads.ts'
import { type Grammar, MessageParser, type MessageSink } from '../wire/message-parser.ts'
import { MalformedRequest } from '../wire/malformed-request.ts'
import type { RequestHead } from '../wire/request-parser.ts'
import { nextStage } from '../../lib/batched-stages.ts'
import type { DeferredQueue, DeferredTask } from '../../lib/deferred-queue.ts'

/** Who is told. */
export interface Http1ConnectionOwner {
  /** Bytes of a head have come, but not all of it. */
  headStarted(): void
  /** A request's head has come. */
  requestReceived(request: ClientRequest, response: ClientResponse): void
  /** Whether the connection leaves HTTP with this request: then it is given to `upgraded`. */
  acceptsUpgrade(request: ClientRequest): boolean
  /** @param rest what came behind it in the same read. The conversation is over: it listens to the socket no longer */
  upgraded(request: ClientRequest, rest: Buffer): void
  /** The answer is out, or its connection is gone. */
  exchangeEnded(): void
  /** And another request may come. */
  becameIdle(): void
  /** Bytes of messages that are in memory for this connection now; told when that changes by more than what passes. */
  memoryChanged(bytes: number): void
  /** What came is no request, or not what its head has announced. Nothing more is read. */
  malformed(fault: MalformedRequest): void
  /** The last answer is out. @param unread the client may be sending still */
  closing(unread: boolean): void
}

/** How long a connection is kept for its next request, as clients are told. */
export interface KeepAlive {
  /** Whole ones. May change, for all connections that there are. */
  seconds: number
}

export interface Http1ConnectionSettings {
  readonly grammar: Grammar<RequestHead>
  /** Bytes of a head, and of trailers. */
  readonly headerBytes: number
  readonly keepAlive: KeepAlive
  /** Where those wait whose last request was refused. */
  readonly deferred: DeferredQueue
}

/** Bytes that the system gives with one read at most. One of so many has more behind it. */
const FULL_READ = 64 * 1024
/** Bytes behind a request under way from which on no more are read. */
const MAX_PIPELINED = 16 * 1024
/** Bytes of a head that is counted while its request is under way. */
const LARGE_HEAD = 4 * 1024

export class Http1Connection implements MessageSink<RequestHead>, BodyFlow, ResponseOwner, DeferredTask {
  readonly socket: Socket
  /** Being answered, or being read to its end after that. */
  request: ClientRequest | null = null
  response: ClientResponse | null = null
  readonly #settings: Http1ConnectionSettings
  readonly #owner: Http1ConnectionOwner
  readonly #parser: MessageParser<RequestHead>
  readonly #direct: DirectReads
  /** Read off the connection, and not yet looked at. */
  #unparsed: Buffer | null = null
  #parsing = false
  /** It will be, in the next stage. */
  #parseDue = false
  #stopped = false
  /** The last request was refused: the next one waits for its turn. */
  #deferredNext = false
  /** What its client is sending behind the request under way is not taken. */
  #discardsPipelined = false
  /** Bytes that its owner was told of, and whether some of an answer are among them. */
  #reportedBytes = 0
  #backpressured = false
  /** It leaves HTTP with this request. */
  #upgrading: ClientRequest | null = null

  constructor(socket: Socket, settings: Http1ConnectionSettings, owner: Http1ConnectionOwner) {
    this.socket = socket
    this.#settings = settings
    this.#owner = owner
    this.#parser = new MessageParser(settings.grammar, settings.headerBytes, this)
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

  /** Nothing of a next request has come. */
  get quiet(): boolean {
    return this.request === null && this.#parser.atStart && this.#unparsed === null
  }

  /** What has come is not looked at yet. */
  get hasUnreadBytes(): boolean {
    return this.#parseDue
  }

  /** It is idle, and may be so for long. */
  forget(): void {
    if (this.quiet) this.#parser.forget()
  }

  /** No more is read: whoever has the connection now says the rest. */
  stop(): void {
    this.#stopped = true
    this.#parser.stop()
    this.#unparsed = null
    this.#direct.end()
    this.#reportMemory()
    this.socket.off('data', this.#onData).off('end', this.#onEnd)
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.#receive(chunk)) this.socket.pause()
  }

  /** @returns false: no more is to be read, for now */
  readonly #receive = (chunk: Buffer): boolean => {
    if (this.#discardsPipelined) return false
    this.#unparsed = this.#unparsed === null ? chunk : Buffer.concat([this.#unparsed, chunk])
    if (!this.#mayParse) return this.#mayReadAhead(this.#unparsed)
    // A body goes on at once, and so does what is more than a read's worth: else it would be copied again and again.
    if (this.request === null && !this.#parseDue) {
      this.#parseDue = true
      nextStage(parseScheduled, this)
      return chunk.length < FULL_READ
    }
    this.#parse()
    return this.#unparsed === null || this.#mayParse
  }

  /** @returns whether more may be read all the same */
  #mayReadAhead(unparsed: Buffer): boolean {
    this.#reportMemory()
    return unparsed.length < MAX_PIPELINED && this.request?.paused !== true
  }

  parseScheduled(): void {
    this.#parseDue = false
    if (this.#unparsed !== null) this.#parse()
  }

  /** Whether what has come may be looked at: not before the last request is answered, nor before its body is wanted. */
  get #mayParse(): boolean {
    if (this.request === null) return !this.#deferredNext
    return !(this.request.complete || this.request.paused)
  }

  #parse(): void {
    this.#parsing = true
    try {
      // Destroyed, it is told so only later: whoever asks there has no answer, so nothing is done for it.
      while (this.#unparsed !== null && this.#mayParse && !this.socket.destroyed) {
        const unparsed = this.#unparsed
        this.#unparsed = null
        const at = this.#parser.read(unparsed, 0, unparsed.length)
        if (this.#upgrading !== null) return this.#upgrade(this.#upgrading, unparsed.subarray(at))
        if (this.#stopped) return
        if (at < unparsed.length) this.#unparsed = unparsed.subarray(at)
      }
    } catch (error) {
      return this.#parseFailed(error)
    } finally {
      this.#parsing = false
    }
    if (this.request === null && !this.#parser.atStart) this.#owner.headStarted()
    if (this.#mayHoldMemory) this.#reportMemory()
    // What is sent ahead is read up to a bound: a client that goes away is noticed only by reading.
    if ((this.#unparsed?.length ?? 0) < MAX_PIPELINED && this.request?.paused !== true) this.#resumeReading()
  }

  #resumeReading(): void {
    if (this.socket.isPaused()) this.socket.resume()
    this.#direct.more()
  }

  /** It may hold anything but what passes. */
  get #mayHoldMemory(): boolean {
    const { request } = this
    if (this.#reportedBytes !== 0 || this.#unparsed !== null) return true
    return request === null ? !this.#parser.atStart : request.section.text.length > LARGE_HEAD
  }

  /** Tells how many bytes are in memory. */
  #reportMemory(): void {
    const bytes = this.#stopped
      ? 0
      : this.#inputBytes + (this.#backpressured ? this.socket.writableLength : 0)
    if (bytes === this.#reportedBytes) return
    this.#reportedBytes = bytes
    this.#owner.memoryChanged(bytes)
  }

  get #inputBytes(): number {
    const head = this.request?.section.text.length ?? 0
    return (
      this.#parser.partialBytes +
      this.#compactUnparsed() +
      this.socket.readableLength +
      (head > LARGE_HEAD ? head : 0)
    )
  }

  /** A small part of what was read is copied, or all of it would be kept. */
  #compactUnparsed(): number {
    const unparsed = this.#unparsed
    if (unparsed === null) return 0
    if (unparsed.length * 2 >= unparsed.buffer.byteLength) return unparsed.buffer.byteLength
    const copy = Buffer.allocUnsafeSlow(unparsed.length)
    unparsed.copy(copy)
    this.#unparsed = copy
    return copy.length
  }

  /** The client does not take its answer: it waits here. */
  backpressure(): void {
    this.#backpressured = true
    this.#reportMemory()
  }

  /**
   * Gives up what is held for it, if that is most of what it holds and the request under way does not need it. Then the
   * answer is the last one: what came behind its request is not answered, nor is it read.
   *
   * @returns false: nothing could be given up
   */
  dropPipelined(): boolean {
    if (
      this.request?.complete !== true ||
      this.#unparsed === null ||
      this.#compactUnparsed() * 2 < this.#reportedBytes
    )
      return false
    this.#discardsPipelined = true
    this.#unparsed = null
    if (this.response?.headersSent === false) this.response.shouldKeepAlive = false
    this.#reportMemory()
    return true
  }

  #parseFailed(error: unknown): void {
    if (!(error instanceof MalformedRequest)) throw error
    const answered = this.request !== null && this.response === null
    this.stop()
    // The rest of a body whose request has its answer: there is nobody to have another one.
    if (answered) this.#owner.closing(true)
    else this.#owner.malformed(error)
  }

  #upgrade(request: ClientRequest, rest: Buffer): void {
    this.stop()
    this.socket.off('drain', this.#onDrain).off('close', this.#onClose)
    this.#owner.upgraded(request, rest)
    // It may have waited behind another request.
    this.socket.resume()
  }

  head(head: RequestHead): void {
    const request = new ClientRequest(head, this)
    if (request.upgrade !== null && this.#owner.acceptsUpgrade(request)) {
      this.#upgrading = request
      return this.#parser.stop()
    }
    const response = new ClientResponse(request, this)
    this.request = request
    this.response = response
    this.#owner.requestReceived(request, response)
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

  flushed(): void {
    const { request, response } = this
    if (request === null || response === null || this.socket.destroyed) return
    this.response = null
    response.finish(true)
    this.#owner.exchangeEnded()
    // Whoever heard of it may have read on.
    if (this.request !== request) return
    this.#backpressured = false
    if (
      this.#stopped ||
      this.#discardsPipelined ||
      !response.shouldKeepAlive ||
      !(request.complete || request.hasSink)
    )
      return this.#close()
    if (!request.complete) return
    this.#startNext()
    if (response.refused) this.#defer()
    else if (this.#unparsed !== null) this.#parse()
  }

  #defer(): void {
    this.#deferredNext = true
    this.#settings.deferred.add(this)
  }

  run(): void {
    this.#deferredNext = false
    if (!this.#stopped) this.#parse()
  }

  #startNext(): void {
    this.request = null
    this.#parser.begin()
    if (this.#reportedBytes !== 0) this.#reportMemory()
    this.#owner.becameIdle()
  }

  #close(): void {
    const unread = this.request?.complete === false || this.#unparsed !== null || this.#discardsPipelined
    this.stop()
    this.#owner.closing(unread)
  }

  /** A client that ends its side has no use for an answer any more: so do most of those that go away. */
  readonly #onEnd = (): void => {
    // What came before it is read first.
    setImmediate(clientEnded, this)
  }

  clientEnded(): void {
    if (this.#stopped || this.socket.destroyed) return
    if (this.quiet) this.socket.end()
    else if (this.request === null)
      this.#parseFailed(new MalformedRequest('malformed', 'The request is incomplete.'))
    else if (this.response?.ended !== true || !this.request.complete) this.socket.destroy()
    // The answer is on its way, and the last one.
    else this.#stopped = true
  }

  readonly #onDrain = (): void => {
    this.#backpressured = false
    if (this.#reportedBytes !== 0) this.#reportMemory()
    this.response?.drained()
  }

  readonly #onClose = (): void => {
    const { request, response } = this
    this.stop()
    this.response = null
    response?.finish(false)
    if (response !== null) this.#owner.exchangeEnded()
    request?.connectionClosed()
  }
}

function parseScheduled(connection: Http1Connection): void {
  connection.parseScheduled()
}

function clientEnded(connection: Http1Connection): void {
  connection.clientEnded()
}

function ignore(): void {}
