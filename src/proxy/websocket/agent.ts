/** Connections for WebSockets, opened as all connections to a target are. */

import { Agent } from 'node:http'
import type { Duplex } from 'node:stream'

/** Opens a connection to the target; see `connector.ts`. */
export type Connect = (callback: (error: Error | null, connection: Duplex | null) => void) => void

/** One connection a handshake. */
export class TargetAgent extends Agent {
  readonly #connect: Connect

  constructor(connect: Connect) {
    super({ keepAlive: false })
    this.#connect = connect
  }

  override createConnection(
    _options: object,
    callback?: (error: Error | null, connection: Duplex) => void,
  ): undefined {
    this.#connect((error, connection) => callback?.(error, connection as Duplex))
  }
}
