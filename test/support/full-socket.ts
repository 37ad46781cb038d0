/** Sockets whose peers read nothing. */

import type { Socket } from 'node:net'

/** Turns of the event loop in which bytes that can still move on loopback do so. */
const TURNS = 100

/** Bytes wait in the socket, and stay: the buffers of the operating system are full. */
export async function isFull(socket: Socket): Promise<boolean> {
  for (let turn = 0; turn < TURNS && socket.writableLength > 0; turn++) await new Promise(setImmediate)
  return socket.writableLength > 0
}
