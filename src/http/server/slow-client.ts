/** Whether a request takes its time because of its client. */

import type { ClientConnection } from './client-connection.ts'

/** Milliseconds before anybody is called slow, and bytes a second below which a body's sender is. */
const STALL_TIME = 5000
const MIN_RATE = 1024

/**
 * Notes what the client has taken of its answer; to be called about once a second.
 *
 * @param now monotonic ms
 * @returns since when it has taken nothing of what is there for it; Infinity where it is not behind
 */
export function updateStall(connection: ClientConnection, now: number): number {
  const { socket } = connection
  const buffered = socket.writableLength
  const taken = socket.bytesWritten - buffered
  if (buffered === 0) connection.stalledSince = Infinity
  else if (connection.stalledSince === Infinity || taken !== connection.bytesTaken)
    connection.stalledSince = now
  connection.bytesTaken = taken
  return connection.stalledSince
}

/** It sends its body, or takes its answer, so slowly that another one may have its place. */
export function isSlow(connection: ClientConnection, now: number): boolean {
  const { exchange, socket, bytesReadWhenIdle, stalledSince } = connection
  if (exchange === null) return false
  if (now - stalledSince > STALL_TIME) return true
  const time = now - exchange.startedAt
  const { request } = exchange
  // Paused: it would send, but who reads it is busy.
  if (time < STALL_TIME || request.complete || request.paused) return false
  return ((socket.bytesRead - bytesReadWhenIdle) * 1000) / time < MIN_RATE
}
