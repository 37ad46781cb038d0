/**
 * Closes an upstream connection by RST. An upstream may take a FIN inside a request for its end: WSGI servers of Python
 * then run the application with a truncated body.
 */

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { resetTls } from '../../lib/node-internals.ts'

/** Closes at once: unsent bytes are dropped, and TLS sends no close_notify. */
export function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) resetTls(socket)
  else socket.resetAndDestroy()
}
