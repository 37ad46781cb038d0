/** The beginning of an HTTP/2 connection of a client (RFC 9113, sections 3.3 and 3.4). */

import type { Socket } from 'node:net'
import type { Refusal } from '../../model/errors.ts'
import { HpackEncoder } from '../wire/http2/hpack-encoder.ts'
import { HTTP_1_1_REQUIRED } from '../wire/http2/http2-errors.ts'
import { DATA, END_HEADERS, END_STREAM, frame, HEADERS, SETTINGS } from '../wire/http2/http2-frames.ts'
import { goAwayFrame } from '../wire/http2/http2-session.ts'
import { UNANNOUNCED_BY_PROXY } from '../wire/http2/section-limits.ts'
import type { SessionSettings } from '../wire/http2/settings.ts'
import type { ListenerSettings } from './listener-options.ts'
import { problemBody, problemLines } from './problem.ts'
import { ignore } from '../../lib/ignore.ts'

/** The beginning of the preface of HTTP/2. No other method of HTTP begins with these bytes. */
const PREFACE = Buffer.from('PRI ')
/** Bytes of a body that a client may send before they are read, of a stream and of a connection. */
const STREAM_WINDOW = 128 * 1024
const CONNECTION_WINDOW = 1024 * 1024
/** The first stream of a client. Its request is sent with the preface, and is not read. */
const FIRST_STREAM = 1

/**
 * Tells HTTP/2 with prior knowledge from HTTP/1.1 on one port, by the first bytes of a connection. Waits for
 * as many bytes as tell the version, and returns them to the socket. Calls back once, or never if the
 * connection is closed before. The caller sets the timeout.
 */
export function readPreface(socket: Socket, done: (isHttp2: boolean) => void): void {
  let bytes: Buffer = Buffer.alloc(0)
  const stop = () => {
    socket.off('readable', read).off('end', ended).off('close', stop).off('error', ignore)
  }
  const finish = () => {
    stop()
    if (bytes.length > 0) socket.unshift(bytes)
    done(bytes.length >= PREFACE.length && bytes.subarray(0, PREFACE.length).equals(PREFACE))
  }
  const read = () => {
    for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read())
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    const common = Math.min(bytes.length, PREFACE.length)
    const mayBe = bytes.subarray(0, common).equals(PREFACE.subarray(0, common))
    if (bytes.length > 0 && (!mayBe || common === PREFACE.length)) finish()
  }
  // Without a byte more there is no request to answer.
  const ended = () => {
    stop()
    socket.on('error', ignore)
    socket.destroy()
  }
  socket.on('readable', read).on('end', ended).on('close', stop).on('error', ignore)
}

/** The bounds of the connection. */
export function http2Settings(
  { limits, shared = false, trusts }: Pick<ListenerSettings, 'limits' | 'shared' | 'trusts'>,
  peer: string | undefined,
): SessionSettings {
  const isProxy = trusts(peer)
  return {
    role: 'server',
    concurrentStreams: limits.http2Streams,
    headerBytes: limits.headerBytes,
    headerFields: limits.headerFields,
    streamWindow: STREAM_WINDOW,
    connectionWindow: CONNECTION_WINDOW,
    shared: shared || isProxy,
    sections: isProxy ? UNANNOUNCED_BY_PROXY : null,
  }
}

/**
 * The refusal of a client that speaks HTTP/2 where the listener speaks HTTP/1.1 only: a response of HTTP/1.1
 * would be noise to it. All that the connection sends: SETTINGS, the response to the first stream, GOAWAY.
 */
export function http2Problem(refusal: Refusal, requestId: string): Buffer {
  const body = Buffer.from(problemBody(refusal, requestId))
  const encoder = new HpackEncoder()
  encoder.begin()
  encoder.field(':status', String(refusal.status))
  encoder.lines(problemLines(refusal, requestId, body.length))
  return Buffer.concat([
    frame(SETTINGS, 0, 0, Buffer.alloc(0)),
    frame(HEADERS, END_HEADERS, FIRST_STREAM, encoder.end()),
    frame(DATA, END_STREAM, FIRST_STREAM, body),
    goAwayFrame(FIRST_STREAM, HTTP_1_1_REQUIRED),
  ])
}
