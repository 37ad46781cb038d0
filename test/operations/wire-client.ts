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

export class WireClient {
  readonly #port: number
  readonly #keep: boolean
  #client: RawClient | null = null

  /** @param keep one connection for all requests, for as long as the gateway keeps it */
  constructor(port: number, keep: boolean) {
    this.#port = port
    this.#keep = keep
  }

  async send(method: string, path: string, headers = '', body = ''): Promise<Outcome> {
    const client = this.#client ?? (await connected(this.#port))
    if (client === null) return { kind: 'refused' }
    this.#client = client
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

  close(): void {
    this.#client?.close()
    this.#client = null
  }
}

async function connected(port: number): Promise<RawClient | null> {
  const socket = await open(port)
  return socket === null ? null : new RawClient(socket)
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
