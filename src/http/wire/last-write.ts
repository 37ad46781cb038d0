/** The last pieces that are written for now, and the news that the operating system has them. */

import type { Socket } from 'node:net'

const NONE: readonly Buffer[] = []

/**
 * Writes the pieces in one go.
 *
 * Over TLS, Node.js reports each write in a later turn of the event loop. The report of the last piece itself
 * is used: an empty write after it would cost a system call and a further turn. A plain socket mostly has no
 * report to wait for, which is cheaper than a callback.
 *
 * @param last a string is latin1
 * @param accepted called in a later turn, also where the socket is destroyed before
 * @returns true: the operating system has everything already, and `accepted` is not called
 */
export function writeLast(
  socket: Socket,
  last: Buffer | string,
  accepted: () => void,
  before: readonly Buffer[] = NONE,
): boolean {
  const isReported = 'encrypted' in socket && last.length > 0
  if (before.length > 0) socket.cork()
  for (const piece of before) socket.write(piece)
  if (isReported) socket.write(last, 'latin1', accepted)
  else if (last.length > 0) socket.write(last, 'latin1')
  if (before.length > 0) socket.uncork()
  if (isReported) return false
  if (socket.writableLength === 0) return true
  socket.write('', 'latin1', accepted)
  return false
}
