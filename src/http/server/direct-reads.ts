/**
 * Passes received bytes to the parser without the queue of the stream, and reads them into one buffer of all
 * connections.
 *
 * After each read, Node.js schedules a tick that checks for room in that queue, which takes 6 to 13 % of the
 * CPU of a request. It also allocates 64 KiB for each read and shrinks them to the bytes that arrived:
 * without that, 7 % less CPU in mixed traffic. `net.connect` has an option for a buffer of the caller
 * (`onread`). Sockets of a server take one by the same fields (`lib/node-internals.ts`). Over TLS the socket
 * allocates as usual.
 *
 * A chunk bypasses the queue only while the stream flows and its queue is empty; otherwise the stream works
 * as usual. The stream regards its last `_read` call as pending, which is true while the socket is read.
 * Reading stops when the stream's own `push` returns false, or when `take` does; in the second case `more`
 * must be called.
 */

import type { Socket } from 'node:net'
import { readInto } from '../../lib/node-internals.ts'

export interface DirectReads {
  /** Resumes reading after `take` has stopped it. */
  more(): void
  /** Restores the socket for its next owner. */
  end(): void
}

/** The most bytes that one read returns, also where Node.js allocates. */
export const READ_BYTES = 64 * 1024

/** The read buffer of all connections. */
const shared = Buffer.allocUnsafeSlow(READ_BYTES)

/**
 * @param take receives chunks in place of the `data` listeners, and owns them. A listener is still required:
 *   it makes the stream flow, and receives queued chunks. `take` returns false to stop reading for now.
 */
export function readDirectly(socket: Socket, take: (chunk: Buffer) => boolean): DirectReads {
  const push = socket.push
  let stopped = false
  let direct = true
  const received = (chunk: Buffer): boolean => {
    if (!direct || socket.readableFlowing !== true || socket.readableLength > 0)
      return push.call(socket, chunk)
    stopped = !take(chunk)
    return !stopped
  }
  const usual = () => {
    direct = false
    socket.push = push
  }
  if (!readInto(shared, socket, (length) => received(copyOf(length))))
    socket.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
      if (chunk !== null) return received(chunk)
      // The end of the stream. Node.js reports a later chunk as an error, as usual.
      usual()
      return push.call(socket, chunk, encoding)
    }
  const more = () => {
    if (!stopped) return
    stopped = false
    // The stream regards its call as pending, so it does not call again by itself.
    if (!socket.destroyed) socket._read(0)
  }
  return {
    more,
    end: () => {
      usual()
      more()
    },
  }
}

function copyOf(length: number): Buffer {
  const chunk = Buffer.allocUnsafe(length)
  shared.copy(chunk, 0, 0, length)
  return chunk
}
