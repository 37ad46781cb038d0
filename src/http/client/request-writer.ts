/** Writes a request to a connection with framing of the gateway's own (RFC 9112, section 6). */

import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { VALUE } from '../wire/fields.ts'
import { WriteQueue } from '../wire/write-queue.ts'
import { type UpstreamRequest, NotForwardable, ProtocolError } from './upstream-request.ts'

export interface BodyWriteListener {
  /** The connection has accepted a part of the body. */
  sent(bytes: number): void
  /** The request is completely written. */
  done(): void
  /** The request cannot be completed. */
  failed(error: Error): void
}

const FIRST_LINES = new RegExp(
  `^[!-~]+ /(?:[!-~]*|[!->@-~]*\\?[!-~\\x80-\\xff]*) HTTP/1\\.1\\r\\nhost: ${VALUE}\\r\\n$`,
)

/**
 * Serializes the head. Throws a NotForwardable if any part of it could end a line or the head.
 *
 * @param authority the host and port of the target, for Host
 */
export function requestHead(
  authority: string,
  { method, path, headers, host, body, length }: UpstreamRequest,
): string {
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host ?? authority}\r\n`
  let writable = FIRST_LINES.test(text)
  for (const lines of headers) {
    text += lines.text
    writable &&= lines.writable
  }
  if (!writable) throw new NotForwardable('the request contains bytes that cannot be written')
  // A number cannot end a line.
  if (length === Infinity) text += 'transfer-encoding: chunked\r\n'
  else if (length !== null) text += `content-length: ${body === null ? 0 : length}\r\n`
  return `${text}\r\n`
}

/** Writes head and body at the pace of the connection. After its end, the listener gets no calls. */
export function writeBody(
  socket: Socket,
  head: string,
  body: Readable,
  length: number,
  listener: BodyWriteListener,
): void {
  const chunked = length === Infinity
  let remaining = length
  const resume = () => body.resume()
  const writes = new WriteQueue(socket, resume)
  // The head waits for the first part of the body, if that is already available.
  socket.cork()
  socket.write(head, 'latin1')
  process.nextTick(uncork, socket)
  body.on('data', (chunk: Buffer) => {
    if (socket.destroyed) return
    remaining -= chunk.length
    if (remaining < 0) return listener.failed(new ProtocolError('the body is longer than its Content-Length'))
    writes.count()
    if (chunked) writeChunk(socket, chunk)
    else socket.write(chunk)
    if (!writes.hasRoom()) {
      body.pause()
      if (socket.writableNeedDrain) socket.once('drain', resume)
    }
    listener.sent(chunk.length)
  })
  body.once('end', () => {
    if (socket.destroyed) return
    if (chunked) socket.write('0\r\n\r\n', 'latin1')
    else if (remaining > 0)
      return listener.failed(new ProtocolError('the body is shorter than its Content-Length'))
    listener.done()
  })
  body.once('close', () => {
    if (!body.readableEnded && !socket.destroyed) listener.failed(new ProtocolError('the body is incomplete'))
  })
}

function writeChunk(socket: Socket, chunk: Buffer): void {
  socket.cork()
  socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
  socket.write(chunk)
  socket.write('\r\n', 'latin1')
  socket.uncork()
}

function uncork(socket: Socket): void {
  socket.uncork()
}
