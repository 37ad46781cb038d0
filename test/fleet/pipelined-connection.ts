/**
 * A connection with HTTP/1.1 pipelining. While a process is stopped, these requests wait in its socket, so it reads them
 * before the announcements of writes when it continues.
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { readAnswers } from '../support/responses.ts'
import type { FleetGateway } from './gateway.ts'

interface PendingRequest {
  answered(answer: string): void
  broken(): void
}

export class PipelinedConnection {
  readonly #socket: Socket
  readonly #pending: PendingRequest[] = []
  #text = ''

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#take(text))
    // `close` follows.
    socket.on('error', () => {})
    socket.on('close', () => this.#pending.splice(0).forEach(({ broken }) => broken()))
  }

  static async open({ port }: FleetGateway): Promise<PipelinedConnection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new PipelinedConnection(socket)
  }

  /** `allow`, or the code of the refusal. Rejects when the connection breaks. */
  ask(headers: Readonly<Record<string, string>>): Promise<string> {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#socket.write(`GET /v1/trainings HTTP/1.1\r\nhost: gateway\r\n${lines.join('')}\r\n`)
    return new Promise((resolve, reject) => {
      const broken = () => reject(new Error('the connection broke'))
      if (this.#socket.destroyed) return broken()
      this.#pending.push({ answered: resolve, broken })
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Takes the complete responses. */
  #take(text: string): void {
    const { all, rest } = readAnswers(this.#text + text)
    this.#text = rest
    for (const { status, code } of all)
      this.#pending.shift()?.answered(status === 200 ? 'allow' : String(code))
  }
}
