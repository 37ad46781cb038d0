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
import type { DeferredQueue, Waiting } from '../../lib/deferred-queue.ts'

/** Who is told. */
export interface Http1ConnectionOwner {
  /** Bytes of a head have come, but not all of it. */
  beginning(): void
  /** A request's head has come. */
  asked(request: ClientRequest, response: ClientResponse): void
  /** Whether the connection leaves HTTP with this request: then it is given to `upgraded`. */
  upgrades(request: ClientRequest): boolean
  /** @param rest what came behind it in the same read. The conversation is over: it listens to the socket no longer */
  upgraded(request: ClientRequest, rest: Buffer): void
  /** The answer is out, or its connection is gone. */
  ended(): void
  /** And another request may come. */
  answered(): void
  /** Bytes of messages that are in memory for this connection now; told when that changes by more than what passes. */
  holds(bytes: number): void
  /** What came is no request, or not what its head has announced. Nothing more is read. */
  unreadable(fault: MalformedRequest): void
  /** The last answer is out. @param unread the client may be sending still */
  over(unread: boolean): void
}

/** How long a connection is kept for its next request, as clients are told. */
export interface KeepTime {
  /** Whole ones. May change, for all connections that there are. */
  seconds: number
}

export interface Http1ConnectionSettings {
  readonly grammar: Grammar<RequestHead>
  /** Bytes of a head, and of trailers. */
  readonly headerBytes: number
  readonly kept: KeepTime
  /** Where those wait whose last request was refused. */
  readonly deferred: DeferredQueue
}

/** Bytes that the system gives with one read at most. One of so many has more behind it. */
const FULL_READ = 64 * 1024
/** Bytes behind a request under way from which on no more are read. */
const MOST_AHEAD = 16 * 1024
/** Bytes of a head that is counted while its request is under way. */
const LARGE_HEAD = 4 * 1024

export class Http1Connection implements MessageSink<RequestHead>, BodyFlow, ResponseOwner, Waiting {
  readonly socket: Socket
  /** Being answered, or being read to its end after that. */
  request: ClientRequest | null = null
  response: ClientResponse | null = null
  readonly #settings: Http1ConnectionSettings
  readonly #owner: Http1ConnectionOwner
  readonly #parser: MessageParser<RequestHead>
  readonly #direct: DirectReads
  /** Read off the connection, and not yet looked at. */
  #held: Buffer | null = null
  #reading = false
  /** It will be, in the next stage. */
  #due = false
  #over = false
  /** The last request was refused: the next one waits for its turn. */
  #waits = false
  /** What its client is sending behind the request under way is not taken. */
  #last = false
  /** Bytes that its owner was told of, and whether some of an answer are among them. */
  #counted = 0
  #behind = false
  /** It leaves HTTP with this request. */
  #upgrading: ClientRequest | null = null

  constructor(socket: Socket, settings: Http1ConnectionSettings, owner: Http1ConnectionOwner) {
    this.socket = socket
    this.#settings = settings
    this.#owner = owner
    this.#parser = new MessageParser(settings.grammar, settings.headerBytes, this)
    this.#parser.begin()
    socket.on('data', this.#onData)
    this.#direct = readDirectly(socket, this.#take)
    socket.on('end', this.#onEnd)
    socket.on('drain', this.#onDrain)
    socket.on('close', this.#onClose)
    socket.on('error', ignore)
  }

  get keptFor(): number {
    return this.#settings.kept.seconds
  }

  /** Nothing of a next request has come. */
  get quiet(): boolean {
    return this.request === null && this.#parser.untouched && this.#held === null
  }

  /** What has come is not looked at yet. */
  get hasNews(): boolean {
    return this.#due
  }

  /** It is idle, and may be so for long. */
  forget(): void {
    if (this.quiet) this.#parser.forget()
  }

  /** No more is read: whoever has the connection now says the rest. */
  stop(): void {
    this.#over = true
    this.#parser.stop()
    this.#held = null
    this.#direct.end()
    this.#count()
    this.socket.off('data', this.#onData).off('end', this.#onEnd)
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.#take(chunk)) this.socket.pause()
  }

  /** @returns false: no more is to be read, for now */
  readonly #take = (chunk: Buffer): boolean => {
    if (this.#last) return false
    this.#held = this.#held === null ? chunk : Buffer.concat([this.#held, chunk])
    if (!this.#mayRead) return this.#waitsFor(this.#held)
    // A body goes on at once, and so does what is more than a read's worth: else it would be copied again and again.
    if (this.request === null && !this.#due) {
      this.#due = true
      nextStage(readDue, this)
      return chunk.length < FULL_READ
    }
    this.#read()
    return this.#held === null || this.#mayRead
  }

  /** @returns whether more may be read all the same */
  #waitsFor(held: Buffer): boolean {
    this.#count()
    return held.length < MOST_AHEAD && this.request?.paused !== true
  }

  readDue(): void {
    this.#due = false
    if (this.#held !== null) this.#read()
  }

  /** Whether what has come may be looked at: not before the last request is answered, nor before its body is wanted. */
  get #mayRead(): boolean {
    if (this.request === null) return !this.#waits
    return !(this.request.complete || this.request.paused)
  }

  #read(): void {
    this.#reading = true
    try {
      // Destroyed, it is told so only later: whoever asks there has no answer, so nothing is done for it.
      while (this.#held !== null && this.#mayRead && !this.socket.destroyed) {
        const held = this.#held
        this.#held = null
        const at = this.#parser.read(held, 0, held.length)
        if (this.#upgrading !== null) return this.#upgrade(this.#upgrading, held.subarray(at))
        if (this.#over) return
        if (at < held.length) this.#held = held.subarray(at)
      }
    } catch (error) {
      return this.#failed(error)
    } finally {
      this.#reading = false
    }
    if (this.request === null && !this.#parser.untouched) this.#owner.beginning()
    if (this.#holdsMore) this.#count()
    // What is sent ahead is read up to a bound: a client that goes away is noticed only by reading.
    if ((this.#held?.length ?? 0) < MOST_AHEAD && this.request?.paused !== true) this.#goOn()
  }

  #goOn(): void {
    if (this.socket.isPaused()) this.socket.resume()
    this.#direct.more()
  }

  /** It may hold anything but what passes. */
  get #holdsMore(): boolean {
    const { request } = this
    if (this.#counted !== 0 || this.#held !== null) return true
    return request === null ? !this.#parser.untouched : request.section.text.length > LARGE_HEAD
  }

  /** Tells how many bytes are in memory. */
  #count(): void {
    const bytes = this.#over ? 0 : this.#readBytes + (this.#behind ? this.socket.writableLength : 0)
    if (bytes === this.#counted) return
    this.#counted = bytes
    this.#owner.holds(bytes)
  }

  get #readBytes(): number {
    const head = this.request?.section.text.length ?? 0
    return (
      this.#parser.heldBytes + this.#ownHeld() + this.socket.readableLength + (head > LARGE_HEAD ? head : 0)
    )
  }

  /** A small part of what was read is copied, or all of it would be kept. */
  #ownHeld(): number {
    const held = this.#held
    if (held === null) return 0
    if (held.length * 2 >= held.buffer.byteLength) return held.buffer.byteLength
    const own = Buffer.allocUnsafeSlow(held.length)
    held.copy(own)
    this.#held = own
    return own.length
  }

  /** The client does not take its answer: it waits here. */
  behind(): void {
    this.#behind = true
    this.#count()
  }

  /**
   * Gives up what is held for it, if that is most of what it holds and the request under way does not need it. Then the
   * answer is the last one: what came behind its request is not answered, nor is it read.
   *
   * @returns false: nothing could be given up
   */
  giveUpAhead(): boolean {
    if (this.request?.complete !== true || this.#held === null || this.#ownHeld() * 2 < this.#counted)
      return false
    this.#last = true
    this.#held = null
    if (this.response?.headersSent === false) this.response.shouldKeepAlive = false
    this.#count()
    return true
  }

  #failed(error: unknown): void {
    if (!(error instanceof MalformedRequest)) throw error
    const answered = this.request !== null && this.response === null
    this.stop()
    // The rest of a body whose request has its answer: there is nobody to have another one.
    if (answered) this.#owner.over(true)
    else this.#owner.unreadable(error)
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
    if (request.upgrade !== null && this.#owner.upgrades(request)) {
      this.#upgrading = request
      return this.#parser.stop()
    }
    const response = new ClientResponse(request, this)
    this.request = request
    this.response = response
    this.#owner.asked(request, response)
  }

  body(chunk: Buffer | string): void {
    if (typeof chunk !== 'string') this.request?.came(chunk)
  }

  end(): void {
    if (this.request?.complete === false) this.request.cameWhole()
    if (this.response === null) this.#next()
  }

  pause(): void {
    this.#parser.pause()
    if (!this.#reading) this.socket.pause()
  }

  abandon(): void {
    if (this.#over) return
    if (this.response === null) this.#close()
    else this.response.shouldKeepAlive = false
  }

  resume(): void {
    if (!this.#reading && !this.#over) this.#read()
  }

  flushed(): void {
    const { request, response } = this
    if (request === null || response === null || this.socket.destroyed) return
    this.response = null
    response.over(true)
    this.#owner.ended()
    // Whoever heard of it may have read on.
    if (this.request !== request) return
    this.#behind = false
    if (this.#over || this.#last || !response.shouldKeepAlive || !(request.complete || request.taken))
      return this.#close()
    if (!request.complete) return
    this.#next()
    if (response.refused) this.#wait()
    else if (this.#held !== null) this.#read()
  }

  #wait(): void {
    this.#waits = true
    this.#settings.deferred.add(this)
  }

  go(): void {
    this.#waits = false
    if (!this.#over) this.#read()
  }

  #next(): void {
    this.request = null
    this.#parser.begin()
    if (this.#counted !== 0) this.#count()
    this.#owner.answered()
  }

  #close(): void {
    const unread = this.request?.complete === false || this.#held !== null || this.#last
    this.stop()
    this.#owner.over(unread)
  }

  /** A client that ends its side has no use for an answer any more: so do most of those that go away. */
  readonly #onEnd = (): void => {
    // What came before it is read first.
    setImmediate(endedSide, this)
  }

  endedSide(): void {
    if (this.#over || this.socket.destroyed) return
    if (this.quiet) this.socket.end()
    else if (this.request === null)
      this.#failed(new MalformedRequest('malformed', 'The request is not whole.'))
    else if (this.response?.ended !== true || !this.request.complete) this.socket.destroy()
    // The answer is on its way, and the last one.
    else this.#over = true
  }

  readonly #onDrain = (): void => {
    this.#behind = false
    if (this.#counted !== 0) this.#count()
    this.response?.drained()
  }

  readonly #onClose = (): void => {
    const { request, response } = this
    this.stop()
    this.response = null
    response?.over(false)
    if (response !== null) this.#owner.ended()
    request?.gone()
  }
}

function readDue(connection: Http1Connection): void {
  connection.readDue()
}

function endedSide(connection: Http1Connection): void {
  connection.endedSide()
}

function ignore(): void {}
