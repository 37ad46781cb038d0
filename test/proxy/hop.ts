/**
 * The connection from the gateway to the hostile upstreams of the tests: plain TCP, or TLS once `speakTls` has been
 * called, as in `hostile-tls.slow.test.ts`.
 */

import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { CERTIFICATES } from '../support/servers/tls.ts'

let secured = false

/** From now on, in this process. */
export function speakTls(): void {
  secured = true
}

const { files, server } = CERTIFICATES
const secureContext = createSecureContext({ cert: server.cert, key: server.key })

/** The target at this port, and further lines for the upstream's entry in a configuration file. */
export function hopTo(port: number): { readonly target: string; readonly lines: readonly string[] } {
  if (!secured) return { target: `http://127.0.0.1:${port}`, lines: [] }
  return { target: `https://127.0.0.1:${port}`, lines: [`tls: { ca: ${JSON.stringify(files.ca)} }`] }
}

/** The upstream's end of a new connection. */
export function upstreamEnd(socket: Socket): Socket {
  if (!secured) return socket
  const end = new TLSSocket(socket, { isServer: true, secureContext })
  // Node can reset only plain TCP sockets.
  end.resetAndDestroy = () => {
    socket.resetAndDestroy()
    return end
  }
  return end
}
