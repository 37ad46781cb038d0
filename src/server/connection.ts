/**
 * What is going on on one client connection: HTTP/1.1 answers in order, so whoever wants to say something out of turn
 * must know who is speaking. Kept by the pipeline, one a socket.
 */

import type { Socket } from 'node:net'
import type { Exchange } from '../exchange.ts'

export class Connection {
  /** The request that began last; null before the first. */
  last: Exchange | null = null
  /** Requests that are not answered yet. */
  answering = 0
  /** The last answer is decided: what else comes is no request, however much it looks like one. */
  closing = false
}

export class Connections {
  readonly #all = new WeakMap<Socket, Connection>()

  /** Made at the first question for it. */
  of(socket: Socket): Connection {
    let connection = this.#all.get(socket)
    if (connection === undefined) {
      connection = new Connection()
      this.#all.set(socket, connection)
    }
    return connection
  }
}
