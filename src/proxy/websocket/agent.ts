/** An agent that opens WebSocket connections as all other connections to a target. */

import { Agent } from 'node:http'
import type { Duplex } from 'node:stream'

/** Opens a connection to the target; see `connector.ts`. */
export type Connect = (callback: (error: Error | null, connection: Duplex | null) => void) => void

/** Opens a new connection for each handshake. */
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
