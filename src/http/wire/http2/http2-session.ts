/**
 * One HTTP/2 connection (RFC 9113), on either side: frames in, events of streams out. It knows nothing of
 * requests and routes. A violation ends a stream or the connection, as the RFC says; a peer can make it hold
 * only what its settings bound.
 */

import type { Socket } from 'node:net'
import {
  CANCEL,
  COMPRESSION_ERROR,
  HpackError,
  Http2Error,
  INTERNAL_ERROR,
  NO_ERROR,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
  STREAM_CLOSED,
} from './http2-errors.ts'
import { ControlFrames, type FrameSession } from './control-frames.ts'
import { DataFrames } from './data-frames.ts'
import { FieldBlocks, type FieldSection } from './field-blocks.ts'
import { FloodGuard } from './flood-guard.ts'
import { FrameReader, type FrameSink } from './frame-reader.ts'
import {
  ACK,
  CONTINUATION,
  DATA,
  frame,
  GOAWAY,
  HEADERS,
  MAX_STREAM,
  numberFrame,
  PING,
  PREFACE,
  RST_STREAM,
  SETTINGS,
} from './http2-frames.ts'
import type { SessionOwner } from './session-owner.ts'
import { type SessionSettings, settingsFrame } from './settings.ts'
import { type ScarceWindow, Sender, type SenderOwner, unreadRoom } from './sender.ts'
import { Http2Stream, type StreamReceiver } from './stream.ts'
import { StreamGaps } from './stream-gaps.ts'
import { StreamTable } from './stream-table.ts'

/**
 * Ended streams whose last frames wait for the socket, as a multiple of the limit of open ones. A client that
 * reads stays below three: it may know of an end, and open the next stream, before this side learns that a
 * large write is accepted.
 */
const UNFLUSHED_FACTOR = 4
/** Unread bytes of a stream, as a multiple of the rest of the window: beside others at most 2/3 of it. */
const UNREAD_SHARE = 2
/** Ids of ended streams that are remembered. */
const MAX_ENDED_EARLY = 1000

export class Http2Session implements FrameSink, FrameSession, SenderOwner {
  readonly streams: StreamTable<Http2Stream> = new StreamTable()
  /**
   * Streams that this side has reset, or that ended before their responses, oldest first: frames of them may
   * be under way.
   */
  readonly endedEarly: Set<number> = new Set()
  readonly #settings: SessionSettings
  readonly #owner: SessionOwner
  readonly #isServer: boolean
  readonly #reader: FrameReader
  readonly #sender: Sender
  readonly #control: ControlFrames
  readonly #blocks: FieldBlocks
  readonly #data: DataFrames
  readonly #guard: FloodGuard
  #prefaceBytes = 0
  #lastPeerStream = 0
  readonly #gaps = new StreamGaps()
  #nextOwnStream = 1
  /** Streams above this one are refused, once we have announced the end of the connection. */
  #lastServed = MAX_STREAM
  #goAwaySent = false
  #ended = false

  constructor(socket: Socket, settings: SessionSettings, owner: SessionOwner) {
    this.#settings = settings
    this.#owner = owner
    this.#isServer = settings.role === 'server'
    this.#guard = new FloodGuard(settings.shared)
    this.#reader = new FrameReader(this)
    this.#sender = new Sender(socket, this.#guard, this, settings.sections)
    this.#control = new ControlFrames(this, this.#sender, this.#guard, owner, this.#isServer)
    this.#blocks = new FieldBlocks(settings, this.#guard)
    if (!this.#isServer) this.#sender.write(PREFACE)
    this.#sender.write(settingsFrame(settings))
    this.#data = new DataFrames(settings.connectionWindow, this, this.#sender, this.#guard)
  }

  /** A new stream would be served. */
  get canOpen(): boolean {
    return (
      !this.#ended &&
      !this.#control.goAwayReceived &&
      !this.#goAwaySent &&
      this.streams.size < this.#control.peer.concurrentStreams &&
      this.#nextOwnStream < MAX_STREAM
    )
  }

  /** The streams that the peer permits at once. */
  get permittedStreams(): number {
    return this.#control.peer.concurrentStreams
  }

  /** How many new streams would be served. */
  get streamRoom(): number {
    return this.canOpen ? this.#control.peer.concurrentStreams - this.streams.size : 0
  }

  /** The peer accepts some more DATA, of whatever stream. */
  get hasWindow(): boolean {
    return this.#sender.hasWindow
  }

  /** No new stream will ever be served. */
  get isEnding(): boolean {
    return (
      this.#ended || this.#control.goAwayReceived || this.#goAwaySent || this.#nextOwnStream >= MAX_STREAM
    )
  }

  /** Nothing of a further frame has arrived. */
  get atStart(): boolean {
    return this.#reader.atStart && this.#blocks.startedAt === Infinity
  }

  /** The monotonic ms at which an incomplete field block, or frame but DATA, began; Infinity without one. */
  get incompleteSince(): number {
    return Math.min(this.#blocks.startedAt, this.#reader.startedAt)
  }

  /** Bytes that are held for streams and peer. */
  get heldBytes(): number {
    const { pending, bufferedBytes } = this.#sender
    return this.#reader.heldBytes + this.#blocks.heldBytes + pending + bufferedBytes
  }

  /**
   * Reads bytes of the socket.
   *
   * @returns the rest after a pause, for the next call, or null if all is read
   */
  receive(chunk: Buffer): Buffer | null {
    if (this.#ended) return null
    try {
      const from = this.#isServer ? this.#readPreface(chunk) : 0
      const bytes = from === 0 ? chunk : chunk.subarray(from)
      const read = this.#reader.read(bytes)
      return read < bytes.length && !this.#ended ? bytes.subarray(read) : null
    } catch (error) {
      this.fail(error)
      return null
    }
  }

  /** Stops reading after the current frame. */
  pause(): void {
    this.#reader.pause()
  }

  #readPreface(chunk: Buffer): number {
    const missing = PREFACE.length - this.#prefaceBytes
    if (missing === 0) return 0
    const length = Math.min(missing, chunk.length)
    if (!chunk.subarray(0, length).equals(PREFACE.subarray(this.#prefaceBytes, this.#prefaceBytes + length)))
      throw new Http2Error(PROTOCOL_ERROR, 'the connection preface is not that of HTTP/2')
    this.#prefaceBytes += length
    return length
  }

  /**
   * Opens a stream, where `canOpen`. Throws a SectionTooLarge.
   *
   * @param pseudo name, value, …
   * @param lines all other fields, as lines of HTTP/1.1
   */
  open(pseudo: readonly string[], lines: string, endStream: boolean, receiver: StreamReceiver): Http2Stream {
    this.#guard.requestStarted()
    const section = this.#sender.encode(pseudo, lines)
    const stream = this.#addStream(this.#nextOwnStream)
    this.#nextOwnStream += 2
    stream.receivedBy(receiver)
    stream.open(section, endStream)
    return stream
  }

  #addStream(id: number): Http2Stream {
    const stream = new Http2Stream(
      id,
      this.#sender,
      this.#control.peer.initialWindow,
      this.#settings.streamWindow,
    )
    this.streams.add(stream)
    return stream
  }

  /** Asks the peer whether it is there. */
  ping(): void {
    this.#sender.write(frame(PING, 0, 0, Buffer.alloc(8)))
  }

  /**
   * Announces the end of the connection (RFC 9113, section 6.8). Open streams go on.
   *
   * @param soon streams that arrive from now on are refused; otherwise the peer is only asked to open no more
   */
  goAway(soon = true): void {
    if (this.#ended) return
    if (soon) this.#lastServed = Math.min(this.#lastServed, this.#lastPeerStream)
    this.#goAwaySent = true
    this.#sender.write(goAwayFrame(this.#lastServed, NO_ERROR))
  }

  /** The connection is closed. All streams fail. */
  close(): void {
    this.#end(CANCEL, false)
  }

  /** Writes what waits, before the connection is closed. */
  flush(): void {
    this.#sender.flush()
  }

  #end(code: number, local: boolean): void {
    this.#ended = true
    this.#reader.stop()
    this.#blocks.stop()
    this.#sender.end()
    for (const stream of [...this.streams]) stream.fail(code, local)
  }

  /** Ends the connection with an error of our own finding. */
  fail(cause: unknown): void {
    if (this.#ended) return
    const error = connectionError(cause)
    this.#owner.failing?.(error)
    this.#end(error.code, true)
    this.#sender.write(goAwayFrame(this.#lastPeerStream, error.code))
    this.#sender.flush()
    this.#owner.failed(error)
  }

  // Frames of the peer.

  frameStarted(type: number, flags: number, id: number, length: number): void {
    if (this.#control.settingsDue && (type !== SETTINGS || (flags & ACK) !== 0))
      throw new Http2Error(PROTOCOL_ERROR, 'the first frame is not SETTINGS')
    this.#blocks.admit(type, id)
    if (type === DATA) this.#data.started(id, length)
  }

  frame(type: number, flags: number, id: number, payload: Buffer): void {
    switch (type) {
      case HEADERS:
        return this.#received(this.#blocks.headers(flags, id, payload))
      case CONTINUATION:
        return this.#received(this.#blocks.continuation(flags, payload))
      default:
        return this.#control.frame(type, flags, id, payload)
    }
  }

  data(_id: number, chunk: Buffer): void {
    this.#data.received(chunk)
  }

  dataEnded(flags: number): void {
    this.#data.ended(flags)
  }

  #received(section: FieldSection | null): void {
    if (section === null) return
    if (this.#isServer) this.#requestHeaders(section)
    else this.#responseHeaders(section)
  }

  #requestHeaders(section: FieldSection): void {
    const { stream: id, fields, complete, endStream } = section
    if (id % 2 === 0) throw new Http2Error(PROTOCOL_ERROR, 'a client has opened a stream with an even id')
    const isNew = id > this.#lastPeerStream
    if (!isNew && this.#gaps.has(id))
      throw new Http2Error(PROTOCOL_ERROR, 'a client has opened a stream below its newest one')
    if (isNew) {
      this.#gaps.opened(this.#lastPeerStream, id)
      this.#lastPeerStream = id
    }
    if (section.isFaulty) return this.streamError(id, PROTOCOL_ERROR)
    if (!isNew) return this.#furtherHeaders(section)
    if (id > this.#lastServed || this.#isFull) return this.streamError(id, REFUSED_STREAM)
    this.#guard.requestStarted()
    const stream = this.#addStream(id)
    stream.remoteEnded = endStream
    const receiver = this.#owner.streamOpened(stream, fields, complete, endStream)
    if (receiver !== null) stream.receivedBy(receiver)
  }

  /**
   * A stream that has ended still holds its request until its response leaves: a client that does not read
   * gets no more.
   */
  get #isFull(): boolean {
    const { concurrentStreams } = this.#settings
    return (
      this.streams.size >= concurrentStreams || this.#sender.unflushed >= concurrentStreams * UNFLUSHED_FACTOR
    )
  }

  #responseHeaders(section: FieldSection): void {
    const { stream: id } = section
    if (id % 2 === 0 || id >= this.#nextOwnStream)
      throw new Http2Error(PROTOCOL_ERROR, 'HEADERS of a stream that was not opened')
    this.#furtherHeaders(section)
  }

  /** Trailers of a request; responses and their trailers. */
  #furtherHeaders({ stream: id, fields, complete, endStream }: FieldSection): void {
    const stream = this.streams.get(id)
    if (stream === undefined) return this.lateFrame(id)
    if (stream.remoteEnded) return this.streamError(id, STREAM_CLOSED)
    if (this.#isServer && !endStream) return this.streamError(id, PROTOCOL_ERROR)
    stream.receivedHeaders(fields, complete, endStream)
    if (endStream && !stream.closed) stream.receivedEnd()
  }

  /** A frame of a stream that has ended: it was under way, or the peer is faulty (RFC 9113, section 5.1). */
  lateFrame(id: number): void {
    const isExpected = this.endedEarly.has(id)
    // A response may be under way in thousands of frames, which are no flood: clients of other streams would
    // pay for it.
    if (isExpected && !this.#isServer) return
    this.#guard.overhead()
    if (!isExpected) this.#writeReset(id, STREAM_CLOSED)
  }

  /** No frame has opened the stream. */
  isIdle(id: number): boolean {
    if (id % 2 === 0) return true
    return this.#isServer ? id > this.#lastPeerStream : id >= this.#nextOwnStream
  }

  /** Ends a stream because of its peer (RFC 9113, section 5.4.2). */
  streamError(id: number, code: number): void {
    // The peer makes this side reset: as cheap for it as a reset of its own (CVE-2025-8671).
    this.#guard.reset()
    const stream = this.streams.get(id)
    this.#writeReset(id, code)
    this.#noteEndedEarly(id)
    stream?.fail(code, true)
  }

  #noteEndedEarly(id: number): void {
    this.endedEarly.add(id)
    if (this.endedEarly.size <= MAX_ENDED_EARLY) return
    for (const oldest of this.endedEarly) return void this.endedEarly.delete(oldest)
  }

  #writeReset(id: number, code: number): void {
    this.#sender.writeControl(numberFrame(RST_STREAM, id, code))
  }

  shareOf(stream: Http2Stream, window: ScarceWindow): number {
    if (this.#owner.shareOf !== undefined) return this.#owner.shareOf(stream, window)
    return this.streams.size === 1 ? Infinity : unreadRoom(stream.unreadBytes, UNREAD_SHARE, window)
  }

  streamClosed(stream: Http2Stream): void {
    this.streams.delete(stream.id)
    if (stream.wasReset || (!this.#isServer && !stream.remoteEnded)) this.#noteEndedEarly(stream.id)
    this.#owner.streamClosed(stream)
  }
}

/** @param last the last stream that is served */
export function goAwayFrame(last: number, code: number): Buffer {
  const payload = Buffer.allocUnsafe(8)
  payload.writeUInt32BE(last, 0)
  payload.writeUInt32BE(code, 4)
  return frame(GOAWAY, 0, 0, payload)
}

/** Faults of our own end the connection too: its state is unknown. */
function connectionError(cause: unknown): Http2Error {
  if (cause instanceof Http2Error) return cause
  if (cause instanceof HpackError) return new Http2Error(COMPRESSION_ERROR, cause.message)
  return new Http2Error(INTERNAL_ERROR, `a fault of the gateway: ${String(cause)}`)
}
