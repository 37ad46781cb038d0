/** A connection to a target without TLS, for a WebSocket. Called by `target.ts`. */

import { connect, type Socket } from 'node:net'

/**
 * @param timeout ms until it stands
 * @param callback told once
 */
export function connectPlain(
  host: string,
  port: number,
  timeout: number,
  callback: (error: Error | null, socket: Socket | null) => void,
): void {
  const socket = connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 })
  const timer = setTimeout(() => socket.destroy(new Error(`no connection within ${timeout} ms`)), timeout)
  const failed = (error: Error) => {
    clearTimeout(timer)
    callback(error, null)
  }
  socket.once('error', failed)
  socket.once('connect', () => {
    clearTimeout(timer)
    socket.off('error', failed)
    callback(null, socket)
  })
}
