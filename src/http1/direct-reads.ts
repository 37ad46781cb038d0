/**
 * What a client sends, past the queue of its stream: after each read, Node.js looks for room there in a tick of its own,
 * which is a sixteenth of what a request costs. Only what comes while the stream flows and has nothing queued goes this
 * way; with all else, the stream does as ever. To the stream it is as if its last call for more were still unanswered,
 * which is true as long as the socket is read: it stops reading only when the stream itself has said so, and called.
 * Used by `conversation.ts`.
 */

import type { Socket } from 'node:net'

/**
 * @param take hears of it in place of the listeners for `data`; they hear of all else, and are what makes the stream flow
 * @returns undoes it, for whoever has the socket next
 */
export function readDirectly(socket: Socket, take: (chunk: Buffer) => void): () => void {
  const push = socket.push
  const usual = () => {
    socket.push = push
  }
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    // The end. What came behind it would be an error of Node.js, and is to remain one.
    if (chunk === null) usual()
    else if (socket.readableFlowing === true && socket.readableLength === 0) {
      take(chunk)
      return true
    }
    return push.call(socket, chunk, encoding)
  }
  return usual
}
