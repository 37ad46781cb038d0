/** SETTINGS (RFC 9113, section 6.5). */

import { FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, Http2Error, PROTOCOL_ERROR } from './http2-errors.ts'
import { announced, FIELD_OVERHEAD, type SectionLimits } from './section-limits.ts'
import { ACK, DEFAULT_WINDOW, frame, MAX_PAYLOAD, MAX_WINDOW, SETTINGS } from './http2-frames.ts'

const HEADER_TABLE_SIZE = 0x1
const ENABLE_PUSH = 0x2
const MAX_CONCURRENT_STREAMS = 0x3
const INITIAL_WINDOW_SIZE = 0x4
const MAX_FRAME_SIZE = 0x5
const MAX_HEADER_LIST_SIZE = 0x6

/** Bytes of one setting, and the most settings of one frame: there are fewer than ten. */
const SETTING = 6
const MAX_SETTINGS = 64

/** What the peer accepts. The defaults hold until its first SETTINGS arrive. */
export class PeerSettings {
  headerTableSize = 4096
  /** The limits that the peer announces; null if it announces none. */
  sections: SectionLimits | null = null
  concurrentStreams = Infinity
  initialWindow: number = DEFAULT_WINDOW

  /**
   * Throws an Http2Error.
   *
   * @param fromServer a server never permits pushes
   */
  apply(payload: Buffer, fromServer: boolean): void {
    if (payload.length % SETTING !== 0)
      throw new Http2Error(FRAME_SIZE_ERROR, 'the length of SETTINGS is no multiple of six')
    if (payload.length > SETTING * MAX_SETTINGS)
      throw new Http2Error(PROTOCOL_ERROR, 'a SETTINGS frame has too many settings')
    for (let at = 0; at < payload.length; at += SETTING)
      this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2), fromServer)
  }

  /** An unknown setting is ignored (RFC 9113, section 6.5.2). */
  #set(setting: number, value: number, fromServer: boolean): void {
    switch (setting) {
      case HEADER_TABLE_SIZE:
        this.headerTableSize = value
        break
      case ENABLE_PUSH:
        if (value > (fromServer ? 0 : 1)) throw new Http2Error(PROTOCOL_ERROR, 'ENABLE_PUSH is invalid')
        break
      case MAX_CONCURRENT_STREAMS:
        this.concurrentStreams = value
        break
      case INITIAL_WINDOW_SIZE:
        if (value > MAX_WINDOW) throw new Http2Error(FLOW_CONTROL_ERROR, 'INITIAL_WINDOW_SIZE is too large')
        this.initialWindow = value
        break
      case MAX_FRAME_SIZE:
        if (value < MAX_PAYLOAD || value >= 2 ** 24)
          throw new Http2Error(PROTOCOL_ERROR, 'MAX_FRAME_SIZE is invalid')
        break
      case MAX_HEADER_LIST_SIZE:
        this.sections = announced(value)
        break
    }
  }
}

export interface SessionSettings {
  readonly role: 'server' | 'client'
  readonly concurrentStreams: number
  readonly headerBytes: number
  readonly headerFields: number
  readonly streamWindow: number
  /** The receive window of the connection in bytes. Bytes are returned at once: streams have own windows. */
  readonly connectionWindow: number
  /** The peer is a proxy, and the connection carries the requests of many clients. */
  readonly shared?: boolean
  /** The limits of what is sent, unless the peer announces others; null if there are never any. */
  readonly sections: SectionLimits | null
}

/** Our SETTINGS frame. The size of the dynamic table and of frames stay at their defaults. */
export function settingsFrame(own: SessionSettings): Buffer {
  const settings: [number, number][] = [
    [INITIAL_WINDOW_SIZE, own.streamWindow],
    [MAX_HEADER_LIST_SIZE, own.headerBytes + own.headerFields * FIELD_OVERHEAD],
  ]
  if (own.role === 'server') settings.push([MAX_CONCURRENT_STREAMS, own.concurrentStreams])
  else settings.push([ENABLE_PUSH, 0])
  const payload = Buffer.allocUnsafe(settings.length * SETTING)
  for (const [i, [setting, value]] of settings.entries()) {
    payload.writeUInt16BE(setting, i * SETTING)
    payload.writeUInt32BE(value, i * SETTING + 2)
  }
  return frame(SETTINGS, 0, 0, payload)
}

export const SETTINGS_ACK: Buffer = frame(SETTINGS, ACK, 0, Buffer.alloc(0))
