/**
 * Closes an upstream connection by RST. An upstream may take a FIN inside a request for its end: WSGI servers of Python
 * then run the application with a truncated body.
 */

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** The used subset of the TCP handle of Node.js. */
interface TcpHandle {
  close(closed?: () => void): void
  reset(closed?: () => void): void
}

/** Closes at once: unsent bytes are dropped, and TLS sends no close_notify. */
export function reset(socket: Socket): void {
  if (!(socket instanceof TLSSocket)) return void socket.resetAndDestroy()
  const tcp = handleBelow(socket)
  // `resetAndDestroy` refuses TLS sockets (Node.js 26). The TLS handle closes the TCP handle below it.
  if (tcp !== null) tcp.close = (closed) => tcp.reset(closed)
  socket.destroy()
}

/** null if the handle is closed, or if this version of Node.js keeps it elsewhere. */
function handleBelow(socket: TLSSocket): TcpHandle | null {
  const { _handle } = socket as TLSSocket & { _handle?: { _parent?: Partial<TcpHandle> } | null }
  const below = _handle?._parent
  return typeof below?.reset === 'function' ? (below as TcpHandle) : null
}
