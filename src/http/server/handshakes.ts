/** TLS handshakes in progress: their results, and the end of those that take too long. */

import type { TLSSocket } from 'node:tls'
import type { ClientConnection } from './client-connection.ts'
import type { HandshakeFault } from './handshake-faults.ts'
import type { ListenerEvents } from './listener-options.ts'
import { copyRemoteAddress } from './proxy-protocol.ts'
import type { TlsAcceptor } from './tls-acceptor.ts'

/** The fault of a late handshake: the time of the first header section includes it. */
const LATE: HandshakeFault = { reason: 'timeout', detail: 'limits.header_timeout' }

const CLOSED: HandshakeFault = { reason: 'closed', detail: '' }

type Events = Pick<ListenerEvents, 'handshakeCompleted' | 'handshakeFailed'>

export class Handshakes {
  readonly #events: Events
  readonly #pending = new Map<ClientConnection, (fault: HandshakeFault) => void>()

  constructor(events: Events) {
    this.#events = events
  }

  /**
   * @param listener its host and port, for log lines
   * @param secured the connection has the socket of the decrypted bytes. Not called for a handshake that
   *   fails
   */
  begin(
    connection: ClientConnection,
    acceptor: TlsAcceptor,
    listener: string,
    secured: (socket: TLSSocket) => void,
  ): void {
    const { socket } = connection
    const peer = socket.remoteAddress
    const failed = (fault: HandshakeFault) => {
      if (!this.#pending.delete(connection)) return
      this.#events.handshakeFailed(fault, listener, peer)
      socket.destroy()
    }
    this.#pending.set(connection, failed)
    // A report of TLS comes first, where there is one.
    socket.once('close', () => setImmediate(failed, CLOSED))
    acceptor.accept(socket, {
      failed,
      secured: (tls) => {
        if (!this.#pending.delete(connection)) return void tls.destroy()
        this.#events.handshakeCompleted(tls.getProtocol() ?? '', tls.isSessionReused())
        copyRemoteAddress(socket, tls)
        connection.socket = tls
        // The bytes of the handshake do not count as a request.
        connection.bytesReadWhenIdle = 0
        secured(tls)
      },
    })
  }

  /**
   * Ends a handshake that takes too long.
   *
   * @returns false where none is in progress
   */
  end(connection: ClientConnection): boolean {
    const fail = this.#pending.get(connection)
    fail?.(LATE)
    return fail !== undefined
  }
}
