/**
 * A server of HTTP/2 that returns windows as its handlers read, as those of Go and hyper do. Node.js returns
 * the window of the connection as bytes arrive. The server reads nothing of a body for `/unread`. `/events`
 * is a stream of events without an end. Any other request is answered once its body is read.
 */

import type { Socket } from 'node:net'
import { data, headers } from '../proxy/http2/raw.ts'
import {
  ACK,
  DATA,
  END_STREAM,
  frame,
  HEADERS,
  numberFrame,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../src/http/wire/http2/http2-frames.ts'
import { RawHttp2, type ReceivedFrame } from './raw-http2.ts'

const EVENT = Buffer.from('data: 1\n\n')

export function serveReadWindows(socket: Socket): void {
  /** Bytes of streams that are not read. */
  const held = new Map<number, number>()
  const widen = (stream: number, bytes: number) =>
    bytes > 0 && connection.send(numberFrame(WINDOW_UPDATE, stream, bytes))
  const answer = (stream: number) =>
    connection.send(
      headers(stream, [':status', '200', 'content-length', '4']),
      data(stream, 'read', END_STREAM),
    )
  const begun = ({ stream, flags, fields }: ReceivedFrame) => {
    const path = fields?.[':path'] ?? ''
    if (path.endsWith('/unread')) return void held.set(stream, 0)
    if (path.endsWith('/events')) {
      connection.send(headers(stream, [':status', '200', 'content-type', 'text/event-stream']))
      return void connection.send(frame(DATA, 0, stream, EVENT))
    }
    if ((flags & END_STREAM) !== 0) answer(stream)
  }
  const received = ({ stream, flags, payload }: ReceivedFrame) => {
    const unread = held.get(stream)
    if (unread !== undefined) return void held.set(stream, unread + payload.length)
    for (const each of [0, stream]) widen(each, payload.length)
    if ((flags & END_STREAM) !== 0) answer(stream)
  }
  const connection = new RawHttp2(socket, (each) => {
    const { type, stream, flags } = each
    if (type === SETTINGS && flags === 0) connection.frame(SETTINGS, ACK, 0)
    if (type === HEADERS) begun(each)
    if (type === DATA) received(each)
    if (type !== RST_STREAM) return
    widen(0, held.get(stream) ?? 0)
    held.delete(stream)
  })
  connection.send(frame(SETTINGS, 0, 0, Buffer.alloc(0)))
}
