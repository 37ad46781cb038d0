/**
 * A client that counts failures of the gateway: requests on an accepted connection without a complete response. It sends
 * nothing twice. For the tests of this folder.
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { RawClient } from '../support/raw-client.ts'

/** How a request ended. `refused`: the connection was refused, so no request was lost. */
export type Outcome =
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly how: string }

/** ms: a gateway that drains closes connections that wait longer for their next request; it gives them 2 s. */
const IDLE = 1000

export class WireClient {
  readonly #port: number
  readonly #keep: boolean
  #client: RawClient | null = null
  /** When the connection was opened, or had its last request. */
  #usedAt = 0

  /** @param keep one connection for all requests, for as long as the gateway keeps it */
  constructor(port: number, keep: boolean) {
    this.#port = port
    this.#keep = keep
  }

  async send(method: string, path: string, headers = '', body = ''): Promise<Outcome> {
    const client = this.#client ?? (await this.#open())
    if (client === null) return { kind: 'refused' }
    this.#usedAt = performance.now()
    // The responses before are of no use.
    client.received = ''
    const length = method === 'GET' ? '' : `Content-Length: ${body.length}\r\n`
    client.send(`${method} ${path} HTTP/1.1\r\nHost: gw\r\n${headers}${length}\r\n${body}`)
    const [answer] = (await client.responses(1)).all
    if (answer === undefined || answer.closes || !this.#keep) this.close()
    if (answer !== undefined) return { kind: 'answer', ...answer }
    const how = `${client.reset ? 'reset' : 'closed'} after ${client.received.length} bytes`
    return { kind: 'failed', how }
  }

  /** Connects before a request, and again if the gateway has closed the connection while this process stood still. */
  async connect(): Promise<void> {
    if (this.#client === null) await this.#open()
    // A process that stood still runs its timers first, then sees that it is connected, and then reads from its sockets.
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate)
    if (this.#client?.isOver !== true || performance.now() - this.#usedAt < IDLE) return
    this.close()
    await this.connect()
  }

  async #open(): Promise<RawClient | null> {
    this.#usedAt = performance.now()
    const socket = await open(this.#port)
    return (this.#client = socket === null ? null : new RawClient(socket))
  }

  close(): void {
    this.#client?.close()
    this.#client = null
  }
}

/** Null: the connection was refused. Later errors are reported by reads. */
export async function open(port: number): Promise<Socket | null> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  try {
    await once(socket, 'connect')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return null
    throw error
  }
  socket.on('error', () => {})
  return socket
}
