/**
 * A client that counts failures of the gateway: requests on an accepted connection without a complete response. It sends
 * nothing twice. For the tests of this folder.
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { readAnswers } from '../support/responses.ts'

/** How a request ended. `refused`: the connection was refused, so no request was lost. */
export type Outcome =
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly how: string }

export class WireClient {
  readonly #port: number
  readonly #keep: boolean
  #socket: Socket | null = null

  /** @param keep one connection for all requests, for as long as the gateway keeps it */
  constructor(port: number, keep: boolean) {
    this.#port = port
    this.#keep = keep
  }

  async send(method: string, path: string, headers = '', body = ''): Promise<Outcome> {
    const socket = this.#socket ?? (await open(this.#port))
    if (socket === null) return { kind: 'refused' }
    this.#socket = socket
    const length = method === 'GET' ? '' : `Content-Length: ${body.length}\r\n`
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: gw\r\n${headers}${length}\r\n${body}`)
    const outcome = await answerOn(socket)
    if (outcome.closes || !this.#keep) this.close()
    return outcome
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
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

type Ended = Exclude<Outcome, { kind: 'refused' }> & { readonly closes: boolean }

function answerOn(socket: Socket): Promise<Ended> {
  return new Promise((resolve) => {
    let text = ''
    const stop = (ended: Ended) => {
      socket.off('data', read).off('close', cut).off('error', note)
      resolve(ended)
    }
    let how = 'closed'
    const note = (error: NodeJS.ErrnoException) => {
      how = error.code ?? error.message
    }
    const cut = () => stop({ kind: 'failed', how: `${how} after ${text.length} bytes`, closes: true })
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const [answer] = readAnswers(text).all
      if (answer !== undefined) stop({ kind: 'answer', ...answer })
    }
    if (socket.destroyed) return cut()
    socket.on('data', read).on('close', cut).on('error', note)
  })
}
