/** Whether a request takes its time because of its client. */

import type { ClientConnection } from './client-connection.ts'

/** Milliseconds before anybody is called slow, and bytes a second below which a body's sender is. */
const PATIENCE = 5000
const RATE = 1024

/**
 * Notes what the client has taken of its answer; to be called about once a second.
 *
 * @param now monotonic ms
 * @returns since when it has taken nothing of what is there for it; Infinity where it is not behind
 */
export function behindSince(connection: ClientConnection, now: number): number {
  const { socket } = connection
  const waiting = socket.writableLength
  const taken = socket.bytesWritten - waiting
  if (waiting === 0) connection.behind = Infinity
  else if (connection.behind === Infinity || taken !== connection.taken) connection.behind = now
  connection.taken = taken
  return connection.behind
}

/** It sends its body, or takes its answer, so slowly that another one may have its place. */
export function isSlow(connection: ClientConnection, now: number): boolean {
  const { exchange, socket, read, behind } = connection
  if (exchange === null) return false
  if (now - behind > PATIENCE) return true
  const time = now - exchange.startedAt
  const { request } = exchange
  // Paused: it would send, but who reads it is busy.
  if (time < PATIENCE || request.complete || request.paused) return false
  return ((socket.bytesRead - read) * 1000) / time < RATE
}
