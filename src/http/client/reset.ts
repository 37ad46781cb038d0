/**
 * Ends a connection to an upstream by RST. A FIN in the midst of a request can be taken for its end: Python's WSGI
 * servers run the application with the part that has come.
 */

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** Node.js' handle of a TCP connection, as far as it is used here. */
interface TcpHandle {
  close(closed?: () => void): void
  reset(closed?: () => void): void
}

/** At once. Bytes that are not sent yet are dropped; nothing more is sent, no close_notify of TLS either. */
export function reset(socket: Socket): void {
  if (!(socket instanceof TLSSocket)) return void socket.resetAndDestroy()
  const tcp = handleBelow(socket)
  // `resetAndDestroy` refuses TLS (Node.js 26): it closes the TLS handle, which closes the TCP handle below it.
  if (tcp !== null) tcp.close = (closed) => tcp.reset(closed)
  socket.destroy()
}

/** null: it is closed, or this Node.js keeps it elsewhere. */
function handleBelow(socket: TLSSocket): TcpHandle | null {
  const { _handle } = socket as TLSSocket & { _handle?: { _parent?: Partial<TcpHandle> } | null }
  const below = _handle?._parent
  return typeof below?.reset === 'function' ? (below as TcpHandle) : null
}
