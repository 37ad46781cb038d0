/**
 * What a client sends, past the queue of its stream: after each read, Node.js looks for room there in a tick of its own,
 * which is a sixteenth of what a request costs. Only what comes while the stream flows and has nothing queued goes this
 * way; with all else, the stream does as ever. Used by `conversation.ts`.
 */

import type { Socket } from 'node:net'

/** @param take hears of it in place of the listeners for `data`; they hear of all else */
export function readDirectly(socket: Socket, take: (chunk: Buffer) => void): void {
  const push = socket.push
  socket.push = function direct(this: Socket, chunk: Buffer | null): boolean {
    if (chunk === null || this.readableFlowing !== true || this.readableLength > 0)
      return push.call(this, chunk)
    take(chunk)
    return true
  }
}

/** For whoever has the socket next. */
export function readAsUsual(socket: Socket): void {
  socket.push = Object.getPrototypeOf(socket).push
}
