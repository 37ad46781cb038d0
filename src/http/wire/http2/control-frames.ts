/**
 * The frames of a peer that carry no message: SETTINGS, PING, GOAWAY, WINDOW_UPDATE, RST_STREAM and PRIORITY
 * (RFC 9113, sections 6.3 to 6.9). Each costs some of the peer's budget.
 */

import {
  FLOW_CONTROL_ERROR,
  FRAME_SIZE_ERROR,
  Http2Error,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
} from './http2-errors.ts'
import type { FloodGuard } from './flood-guard.ts'
import {
  ACK,
  frame,
  GOAWAY,
  MAX_WINDOW,
  PING,
  PRIORITY,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from './http2-frames.ts'
import type { Sender } from './sender.ts'
import { PeerSettings, SETTINGS_ACK } from './settings.ts'
import type { Http2Stream } from './stream.ts'
import type { StreamTable } from './stream-table.ts'

/** Learns what a peer says of the connection. */
export interface ControlListener {
  /** The peer ends the connection. Streams that it does not serve fail next. */
  goAwayReceived?(code: number): void
  /** The peer has changed its settings, and may serve more streams or fewer. */
  settingsReceived?(): void
}

/** The connection that the frames of a peer apply to. */
export interface FrameSession {
  /** The open streams. */
  readonly streams: StreamTable<Http2Stream>
  /** The ids of ended streams whose frames may still arrive. */
  readonly endedEarly: ReadonlySet<number>
  isIdle(id: number): boolean
  streamError(id: number, code: number): void
  /** The stream has ended, and the frame is one too many. */
  lateFrame(id: number): void
}

/** The reserved bit is ignored (RFC 9113, section 4.1). */
const MASK = 0x7fffffff

export class ControlFrames {
  readonly peer: PeerSettings = new PeerSettings()
  /** The first frame of the peer, which has not arrived (RFC 9113, section 3.4). */
  settingsDue = true
  goAwayReceived = false
  readonly #session: FrameSession
  readonly #sender: Sender
  readonly #guard: FloodGuard
  readonly #listener: ControlListener
  readonly #isServer: boolean

  constructor(
    session: FrameSession,
    sender: Sender,
    guard: FloodGuard,
    listener: ControlListener,
    isServer: boolean,
  ) {
    this.#session = session
    this.#sender = sender
    this.#guard = guard
    this.#listener = listener
    this.#isServer = isServer
  }

  /** Throws an Http2Error. */
  frame(type: number, flags: number, id: number, payload: Buffer): void {
    switch (type) {
      case SETTINGS:
        return this.#settings(flags, id, payload)
      case WINDOW_UPDATE:
        return this.#windowUpdate(id, payload)
      case RST_STREAM:
        return this.#reset(id, payload)
      case PING:
        return this.#ping(flags, id, payload)
      case GOAWAY:
        return this.#goAway(id, payload)
      case PRIORITY:
        return this.#priority(id, payload)
      case PUSH_PROMISE:
        throw new Http2Error(PROTOCOL_ERROR, 'PUSH_PROMISE is not permitted')
      default:
        // An unknown frame is ignored (RFC 9113, section 4.1).
        this.#guard.overhead()
    }
  }

  #settings(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new Http2Error(PROTOCOL_ERROR, 'SETTINGS of a stream')
    if ((flags & ACK) !== 0) {
      if (payload.length > 0) throw new Http2Error(FRAME_SIZE_ERROR, 'an acknowledgement has settings')
      return
    }
    if (!this.settingsDue) this.#guard.overhead()
    this.settingsDue = false
    const before = this.peer.initialWindow
    this.peer.apply(payload, !this.#isServer)
    this.#sender.configure(this.peer)
    this.#sender.writeControl(SETTINGS_ACK)
    this.#moveWindows(this.peer.initialWindow - before)
    this.#listener.settingsReceived?.()
  }

  /** A changed INITIAL_WINDOW_SIZE applies to open streams too (RFC 9113, section 6.9.2). */
  #moveWindows(by: number): void {
    if (by === 0) return
    const { streams } = this.#session
    for (const stream of streams) {
      stream.sendWindow += by
      if (stream.sendWindow > MAX_WINDOW) throw new Http2Error(FLOW_CONTROL_ERROR, 'a window is too large')
    }
    if (by < 0) return
    for (const stream of streams) if (stream.isWaiting) this.#sender.waits(stream)
    this.#sender.pump()
  }

  #windowUpdate(id: number, payload: Buffer): void {
    this.#guard.overhead()
    if (payload.length !== 4) throw new Http2Error(FRAME_SIZE_ERROR, 'WINDOW_UPDATE is not four bytes')
    const bytes = payload.readUInt32BE(0) & MASK
    if (id !== 0) return this.#streamWindowUpdate(id, bytes)
    if (bytes === 0) throw new Http2Error(PROTOCOL_ERROR, 'WINDOW_UPDATE of zero bytes')
    this.#sender.widen(bytes)
  }

  #streamWindowUpdate(id: number, bytes: number): void {
    if (this.#session.isIdle(id)) throw new Http2Error(PROTOCOL_ERROR, 'WINDOW_UPDATE of no open stream')
    const stream = this.#session.streams.get(id)
    // It was under way when the stream ended.
    if (stream === undefined) return
    if (bytes === 0) return this.#session.streamError(id, PROTOCOL_ERROR)
    this.#sender.windowReturned(stream, bytes)
    if (stream.sendWindow > MAX_WINDOW) return this.#session.streamError(id, FLOW_CONTROL_ERROR)
    if (!stream.isWaiting) return
    this.#sender.waits(stream)
    this.#sender.pump()
  }

  #reset(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new Http2Error(FRAME_SIZE_ERROR, 'RST_STREAM is not four bytes')
    if (id === 0 || this.#session.isIdle(id))
      throw new Http2Error(PROTOCOL_ERROR, 'RST_STREAM of no open stream')
    // Streams of our own are as many as we open. A server may reset each after its response (RFC 9113,
    // section 8.1).
    if (this.#isServer) this.#guard.reset()
    else this.#guard.overhead()
    this.#session.streams.get(id)?.fail(payload.readUInt32BE(0), false)
  }

  #ping(flags: number, id: number, payload: Buffer): void {
    if (id !== 0) throw new Http2Error(PROTOCOL_ERROR, 'PING of a stream')
    if (payload.length !== 8) throw new Http2Error(FRAME_SIZE_ERROR, 'PING is not eight bytes')
    this.#guard.overhead()
    if ((flags & ACK) === 0) this.#sender.writeControl(frame(PING, ACK, 0, payload))
  }

  #goAway(id: number, payload: Buffer): void {
    if (id !== 0) throw new Http2Error(PROTOCOL_ERROR, 'GOAWAY of a stream')
    if (payload.length < 8) throw new Http2Error(FRAME_SIZE_ERROR, 'GOAWAY is too short')
    this.#guard.overhead()
    const last = payload.readUInt32BE(0) & MASK
    this.goAwayReceived = true
    this.#listener.goAwayReceived?.(payload.readUInt32BE(4))
    if (!this.#isServer)
      for (const stream of [...this.#session.streams])
        if (stream.id > last) stream.fail(REFUSED_STREAM, false)
  }

  /** Deprecated, and ignored (RFC 9113, section 5.3.2). */
  #priority(id: number, payload: Buffer): void {
    this.#guard.overhead()
    if (id === 0) throw new Http2Error(PROTOCOL_ERROR, 'PRIORITY without a stream')
    if (payload.length !== 5) this.#session.streamError(id, FRAME_SIZE_ERROR)
    else if ((payload.readUInt32BE(0) & MASK) === id) this.#session.streamError(id, PROTOCOL_ERROR)
  }
}
