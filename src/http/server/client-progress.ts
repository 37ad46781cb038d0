/** Detects requests that are slow because of their client. */

import type { ClientConnection } from './client-connection.ts'

/** Milliseconds before a client counts as slow, and bytes a second below which the sender of a body does. */
const STALL_TIME = 5000
const MIN_RATE = 1024

/**
 * Records what the client has read of its response. Called about once a second.
 *
 * @param now monotonic ms
 * @returns since when it has read nothing of the buffered bytes; Infinity if none are buffered
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

/** The client sends its body, or reads its response, so slowly that its connection may be evicted. */
export function isSlow(connection: ClientConnection, now: number): boolean {
  const { exchange, socket, bytesReadWhenIdle, stalledSince } = connection
  if (now - stalledSince > STALL_TIME) return true
  if (connection.http2 !== null) return connection.http2.isSlow(now, STALL_TIME)
  if (exchange === null) return false
  const time = now - exchange.startedAt
  const { request } = exchange
  // Paused: the client would send, but the reader is busy.
  if (time < STALL_TIME || request.complete || request.paused) return false
  return ((socket.bytesRead - bytesReadWhenIdle) * 1000) / time < MIN_RATE
}
