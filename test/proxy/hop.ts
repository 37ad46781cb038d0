/**
 * The connection from the gateway to the hostile upstreams of the tests: plain TCP, or TLS once `speakTls` has been
 * called, as in `hostile-tls.slow.test.ts`.
 */

import type { Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { TlsSettings } from '../../src/http/client/connector.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'

let secured = false

/** From now on, in this process. */
export function speakTls(): void {
  secured = true
}

interface Hop {
  readonly target: URL
  readonly tls: TlsSettings | null
  /** The same for an upstream's entry in a configuration file. */
  readonly lines: readonly string[]
}

/** The upstream configuration for this port. */
export function hopTo(port: number): Hop {
  if (!secured) return { target: new URL(`http://127.0.0.1:${port}`), tls: null, lines: [] }
  const { files, server } = CERTIFICATES
  const target = new URL(`https://127.0.0.1:${port}`)
  return { target, tls: { ca: server.ca }, lines: [`tls: { ca: ${JSON.stringify(files.ca)} }`] }
}

/** The upstream's end of a new connection. */
export function upstreamEnd(socket: Socket): Socket {
  return secured ? new SecuredEnd(socket) : socket
}

const { cert, key } = CERTIFICATES.server
const secureContext = createSecureContext({ cert, key })

class SecuredEnd extends TLSSocket {
  readonly #below: Socket

  constructor(below: Socket) {
    super(below, { isServer: true, secureContext })
    this.#below = below
  }

  /** Node can reset only plain TCP sockets. */
  override resetAndDestroy(): this {
    this.#below.resetAndDestroy()
    return this
  }
}
