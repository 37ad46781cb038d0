/**
 * What a client sends, past the queue of its stream: after each read, Node.js looks for room there in a tick of its
 * own, which is a sixteenth of what a request costs. Only what comes while the stream flows and has nothing queued goes
 * this way; with all else, the stream does as ever. To the stream it is as if its last call for more were still
 * unanswered, which is true as long as the socket is read: it stops reading only when the stream itself has said so,
 * and called; or when whoever takes what comes has said so, and then has to ask for more here.
 */

import type { Socket } from 'node:net'

export interface DirectReads {
  /** Reading goes on, if `take` has stopped it. */
  more(): void
  /** Undoes it, for whoever has the socket next. */
  end(): void
}

/**
 * @param take hears of it in place of the listeners for `data`; they hear of all else, and are what makes the stream
 *   flow. It returns false when no more is to be read from the system for now.
 */
export function readDirectly(socket: Socket, take: (chunk: Buffer) => boolean): DirectReads {
  const push = socket.push
  let stopped = false
  const usual = () => {
    socket.push = push
  }
  const more = () => {
    if (!stopped) return
    stopped = false
    // The stream believes that this call is still unanswered, so it would not call by itself.
    if (!socket.destroyed) socket._read(0)
  }
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    // The end. What came behind it would be an error of Node.js, and is to remain one.
    if (chunk === null) usual()
    else if (socket.readableFlowing === true && socket.readableLength === 0) {
      stopped = !take(chunk)
      return !stopped
    }
    return push.call(socket, chunk, encoding)
  }
  return {
    more,
    end: () => {
      usual()
      more()
    },
  }
}
