/**
 * One HTTP/2 connection (RFC 9113), on either side: frames in, events of streams out. It knows nothing of requests and
 * routes. A violation ends a stream or the connection, as the RFC says; a peer can make it hold only what its settings
 * bound.
 */

import type { Socket } from 'node:net'
import {
  CANCEL,
  FLOW_CONTROL_ERROR,
  COMPRESSION_ERROR,
  Http2Error,
  INTERNAL_ERROR,
  NO_ERROR,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
  STREAM_CLOSED,
} from './http2-errors.ts'
import { ControlFrames, type ControlledSession, type ControlListener } from './control-frames.ts'
import { FloodGuard } from './flood-guard.ts'
import { FrameReader, type FrameSink, headersContent } from './frame-reader.ts'
import {
  ACK,
  CONTINUATION,
  DATA,
  DEFAULT_WINDOW,
  END_HEADERS,
  END_STREAM,
  frame,
  GOAWAY,
  HEADERS,
  MAX_PAYLOAD,
  MAX_STREAM,
  numberFrame,
  PING,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from './http2-frames.ts'
import { HeaderBlock } from './header-block.ts'
import { HpackDecoder } from './hpack-decoder.ts'
import { HpackError } from './hpack-error.ts'
import { type OwnSettings, settingsFrame } from './settings.ts'
import { Sender } from './sender.ts'
import { Http2Stream, type StreamReceiver } from './stream.ts'

export interface SessionSettings extends OwnSettings {
  /** The receive window of the connection in bytes. What arrives is returned at once: streams have windows of their own. */
  readonly connectionWindow: number
}

export interface SessionOwner extends ControlListener {
  /**
   * Server: a request has arrived. @returns the receiver of the further events; null: the stream was reset or answered
   *
   * @param fields name, value, … raw and in order @param complete false: the list is over the limits, and cut
   */
  streamOpened(
    stream: Http2Stream,
    fields: readonly string[],
    complete: boolean,
    endStream: boolean,
  ): StreamReceiver | null
  /** A stream has ended. */
  streamClosed(stream: Http2Stream): void
  /** A connection error: GOAWAY is written, all streams have failed. The owner closes the connection. */
  failed(error: Http2Error): void
}

/** Bytes of field blocks before decoding, as a multiple of the limit of a decoded list. */
const BLOCK_FACTOR = 4
/** Ids of ended streams that are remembered. */
const MAX_ENDED_EARLY = 1000

export class Http2Session implements FrameSink, ControlledSession {
  readonly socket: Socket
  readonly #settings: SessionSettings
  readonly #owner: SessionOwner
  readonly #isServer: boolean
  readonly #reader: FrameReader
  readonly #sender: Sender
  readonly #decoder: HpackDecoder
  readonly #control: ControlFrames
  readonly #guard = new FloodGuard()
  readonly #streams = new Map<number, Http2Stream>()
  #prefaceBytes = 0
  #block: HeaderBlock | null = null
  #lastPeerStream = 0
  #nextOwnStream = 1
  #receiveWindow: number
  #received = 0
  /** The stream of the DATA frame that is arriving; null: its content is dropped. */
  #dataStream: Http2Stream | null = null
  /** Of that frame: bytes of content so far, and all others, which end up as those of its padding. */
  #dataBytes = 0
  #dataPadding = 0
  /** Streams that this side has reset, or that ended before their responses, oldest first: frames of them may be under way. */
  readonly #endedEarly = new Set<number>()
  /** Streams above this one are refused, once we have announced the end of the connection. */
  #lastServed = MAX_STREAM
  #goAwaySent = false
  #ended = false

  constructor(socket: Socket, settings: SessionSettings, owner: SessionOwner) {
    this.socket = socket
    this.#settings = settings
    this.#owner = owner
    this.#isServer = settings.role === 'server'
    this.#reader = new FrameReader(this)
    this.#sender = new Sender(socket, this.#guard, this)
    this.#control = new ControlFrames(this, this.#sender, this.#guard, owner, this.#isServer)
    this.#decoder = new HpackDecoder(this.#control.peer.headerTableSize)
    this.#receiveWindow = Math.max(settings.connectionWindow, DEFAULT_WINDOW)
    if (!this.#isServer) this.#sender.write(PREFACE)
    this.#sender.write(settingsFrame(settings))
    const room = this.#receiveWindow - DEFAULT_WINDOW
    if (room > 0) this.#sender.write(numberFrame(WINDOW_UPDATE, 0, room))
  }

  /** Streams that have not ended on both sides. */
  get openStreams(): number {
    return this.#streams.size
  }

  get streams(): Iterable<Http2Stream> {
    return this.#streams.values()
  }

  /** The stream, while it is open. */
  stream(id: number): Http2Stream | undefined {
    return this.#streams.get(id)
  }

  /** A new stream would be served. */
  get canOpen(): boolean {
    return (
      !this.#ended &&
      !this.#control.goAwayReceived &&
      !this.#goAwaySent &&
      this.#streams.size < this.#control.peer.concurrentStreams &&
      this.#nextOwnStream < MAX_STREAM
    )
  }

  /** No new stream will ever be served. */
  get isEnding(): boolean {
    return (
      this.#ended || this.#control.goAwayReceived || this.#goAwaySent || this.#nextOwnStream >= MAX_STREAM
    )
  }

  /** Nothing of a further frame has arrived. */
  get atStart(): boolean {
    return this.#reader.atStart && this.#block === null
  }

  /** Monotonic ms since when a field block is incomplete; Infinity: none is. */
  get blockStartedAt(): number {
    return this.#block?.startedAt ?? Infinity
  }

  /** Bytes that are held for streams and peer. */
  get heldBytes(): number {
    return (this.#block?.bytes ?? 0) + this.#sender.pending + this.#sender.bufferedBytes
  }

  /** Bytes from the socket. */
  receive(chunk: Buffer): void {
    if (this.#ended) return
    try {
      const from = this.#isServer ? this.#readPreface(chunk) : 0
      if (from < chunk.length) this.#reader.read(from === 0 ? chunk : chunk.subarray(from))
    } catch (error) {
      this.#fail(error)
    }
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

  /** Opens a stream, where `canOpen`. @param pseudo name, value, … @param lines all other fields, as lines of HTTP/1.1 */
  open(pseudo: readonly string[], lines: string, endStream: boolean, receiver: StreamReceiver): Http2Stream {
    this.#guard.requestStarted()
    const stream = this.#addStream(this.#nextOwnStream)
    this.#nextOwnStream += 2
    stream.receivedBy(receiver)
    stream.headers(pseudo, endStream, lines)
    return stream
  }

  #addStream(id: number): Http2Stream {
    const stream = new Http2Stream(
      id,
      this.#sender,
      this.#control.peer.initialWindow,
      this.#settings.streamWindow,
    )
    this.#streams.set(id, stream)
    return stream
  }

  /** Asks the peer whether it is there. `pingAnswered` follows. */
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
    this.#block = null
    this.#sender.end()
    for (const stream of [...this.#streams.values()]) stream.fail(code, local)
  }

  /** Ends the connection with an error of our own finding. */
  fail(error: Http2Error): void {
    this.#fail(error)
  }

  #fail(cause: unknown): void {
    if (this.#ended) return
    const error = connectionError(cause)
    this.#end(error.code, true)
    this.#sender.write(goAwayFrame(this.#lastPeerStream, error.code))
    this.#sender.flush()
    this.#owner.failed(error)
  }

  // Frames of the peer.

  frameStarted(type: number, flags: number, id: number, length: number): void {
    if (this.#control.settingsDue && (type !== SETTINGS || (flags & ACK) !== 0))
      throw new Http2Error(PROTOCOL_ERROR, 'the first frame is not SETTINGS')
    if (this.#block !== null && (type !== CONTINUATION || id !== this.#block.stream))
      throw new Http2Error(PROTOCOL_ERROR, 'a frame interrupts a field block')
    if (type === DATA) this.#dataStarted(id, length)
  }

  frame(type: number, flags: number, id: number, payload: Buffer): void {
    switch (type) {
      case HEADERS:
        return this.#headersFrame(flags, id, payload)
      case CONTINUATION:
        return this.#continuationFrame(flags, payload)
      default:
        return this.#control.frame(type, flags, id, payload)
    }
  }

  #headersFrame(flags: number, id: number, payload: Buffer): void {
    if (id === 0) throw new Http2Error(PROTOCOL_ERROR, 'HEADERS without a stream')
    const { block, dependsOn } = headersContent(flags, payload)
    const limit = (this.#settings.headerBytes + MAX_PAYLOAD) * BLOCK_FACTOR
    this.#block = new HeaderBlock(id, (flags & END_STREAM) !== 0, dependsOn === id, limit)
    this.#addToBlock(flags, block)
  }

  #continuationFrame(flags: number, payload: Buffer): void {
    if (this.#block === null) throw new Http2Error(PROTOCOL_ERROR, 'CONTINUATION without HEADERS')
    if (payload.length === 0) this.#guard.overhead()
    this.#addToBlock(flags, payload)
  }

  #addToBlock(flags: number, fragment: Buffer): void {
    const block = this.#block
    const isLast = (flags & END_HEADERS) !== 0
    if (block === null) return
    block.add(fragment, isLast)
    if (!isLast) return
    this.#block = null
    const fields: string[] = []
    const { headerBytes, headerFields } = this.#settings
    const complete = this.#decoder.decode(
      block.content,
      { maxBytes: headerBytes + headerFields * 32, maxFields: headerFields + MAX_PSEUDO },
      (name, value) => fields.push(name, value),
    )
    if (this.#isServer) this.#requestHeaders(block, fields, complete)
    else this.#responseHeaders(block, fields, complete)
  }

  #requestHeaders(block: HeaderBlock, fields: string[], complete: boolean): void {
    const { stream: id, endStream } = block
    if (id % 2 === 0) throw new Http2Error(PROTOCOL_ERROR, 'a client has opened a stream with an even id')
    const isNew = id > this.#lastPeerStream
    if (isNew) this.#lastPeerStream = id
    if (block.isFaulty) return this.streamError(id, PROTOCOL_ERROR)
    if (!isNew) return this.#furtherHeaders(id, fields, complete, endStream)
    if (id > this.#lastServed || this.#streams.size >= this.#settings.concurrentStreams) {
      return this.streamError(id, REFUSED_STREAM)
    }
    this.#guard.requestStarted()
    const stream = this.#addStream(id)
    stream.remoteEnded = endStream
    const receiver = this.#owner.streamOpened(stream, fields, complete, endStream)
    if (receiver !== null) stream.receivedBy(receiver)
  }

  #responseHeaders({ stream: id, endStream }: HeaderBlock, fields: string[], complete: boolean): void {
    if (id % 2 === 0 || id >= this.#nextOwnStream)
      throw new Http2Error(PROTOCOL_ERROR, 'HEADERS of a stream that was not opened')
    this.#furtherHeaders(id, fields, complete, endStream)
  }

  /** Trailers of a request; responses and their trailers. */
  #furtherHeaders(id: number, fields: string[], complete: boolean, endStream: boolean): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) return this.#lateFrame(id)
    if (stream.remoteEnded) return this.streamError(id, STREAM_CLOSED)
    if (this.#isServer && !endStream) return this.streamError(id, PROTOCOL_ERROR)
    stream.receivedHeaders(fields, complete, endStream)
    if (endStream && !stream.closed) stream.receivedEnd()
  }

  /** A frame of a stream that has ended: it was under way, or the peer is faulty (RFC 9113, section 5.1). */
  #lateFrame(id: number): void {
    const isExpected = this.#endedEarly.has(id)
    // A response may be under way in thousands of frames, which are no flood: clients of other streams would pay for it.
    if (isExpected && !this.#isServer) return
    this.#guard.overhead()
    if (!isExpected) this.#writeReset(id, STREAM_CLOSED)
  }

  #dataStarted(id: number, length: number): void {
    if (id === 0 || this.isIdle(id)) throw new Http2Error(PROTOCOL_ERROR, 'DATA of no open stream')
    this.#receiveWindow -= length
    if (this.#receiveWindow < 0)
      throw new Http2Error(FLOW_CONTROL_ERROR, 'more DATA than the window of the connection')
    this.#returnRoom(length)
    this.#dataStream = null
    this.#dataPadding = length
    const stream = this.#streams.get(id)
    if (stream === undefined) return this.#lateData(id, length)
    if (stream.remoteEnded) return this.streamError(id, STREAM_CLOSED)
    if (!stream.admits(length)) return this.streamError(id, FLOW_CONTROL_ERROR)
    this.#dataStream = stream
  }

  /** The rest of an upload that was refused is no fault: it costs its client more than this side. */
  #lateData(id: number, length: number): void {
    if (length === 0 || !this.#endedEarly.has(id)) this.#lateFrame(id)
  }

  /** Returns the room of the connection at once: no stream can keep it from the others. */
  #returnRoom(bytes: number): void {
    this.#received += bytes
    if (this.#received * 2 < this.#settings.connectionWindow) return
    this.#receiveWindow += this.#received
    this.#sender.write(numberFrame(WINDOW_UPDATE, 0, this.#received))
    this.#received = 0
  }

  data(_id: number, chunk: Buffer): void {
    this.#dataPadding -= chunk.length
    this.#dataBytes += chunk.length
    if (this.#dataStream?.closed === false) this.#dataStream.received(chunk)
  }

  dataEnded(flags: number, _id: number): void {
    const stream = this.#dataStream
    this.#dataStream = null
    if (this.#dataBytes === 0 && (flags & END_STREAM) === 0) this.#guard.overhead()
    this.#dataBytes = 0
    if (stream?.closed === false && this.#dataPadding > 0) stream.consumed(this.#dataPadding)
    if (stream?.closed === false && (flags & END_STREAM) !== 0) stream.receivedEnd()
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
    const stream = this.#streams.get(id)
    this.#writeReset(id, code)
    this.#noteEndedEarly(id)
    stream?.fail(code, true)
  }

  #noteEndedEarly(id: number): void {
    this.#endedEarly.add(id)
    if (this.#endedEarly.size <= MAX_ENDED_EARLY) return
    for (const oldest of this.#endedEarly) return void this.#endedEarly.delete(oldest)
  }

  #writeReset(id: number, code: number): void {
    this.#sender.writeControl(numberFrame(RST_STREAM, id, code))
  }

  streamClosed(stream: Http2Stream): void {
    this.#streams.delete(stream.id)
    if (stream.wasReset || (!this.#isServer && !stream.remoteEnded)) this.#noteEndedEarly(stream.id)
    this.#owner.streamClosed(stream)
  }
}

/** `:method`, `:scheme`, `:authority`, `:path` do not count as fields. */
const MAX_PSEUDO = 4

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
