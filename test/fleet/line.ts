/**
 * A connection that asks without waiting for answers (HTTP/1.1 pipelining). While a process stands still, what is asked
 * here lies in its socket in front of what it would hear of writes: when it goes on, it meets the questions first.
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { FleetGateway } from './gateway.ts'

interface Question {
  answered(answer: string): void
  broken(): void
}

const END_OF_HEAD = '\r\n\r\n'

export class Line {
  readonly #socket: Socket
  readonly #questions: Question[] = []
  #text = ''

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      this.#text += text
      while (this.#next());
    })
    // Said by `close` too.
    socket.on('error', () => {})
    socket.on('close', () => this.#questions.splice(0).forEach(({ broken }) => broken()))
  }

  static async open({ port }: FleetGateway): Promise<Line> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Line(socket)
  }

  /** `allow`, or the code of the refusal. Rejects when the connection breaks. */
  ask(headers: Readonly<Record<string, string>>): Promise<string> {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#socket.write(`GET /v1/trainings HTTP/1.1\r\nhost: gateway\r\n${lines.join('')}\r\n`)
    return new Promise((resolve, reject) => {
      const broken = () => reject(new Error('the connection broke'))
      if (this.#socket.destroyed) return broken()
      this.#questions.push({ answered: resolve, broken })
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Takes the next answer, if it is there as a whole. */
  #next(): boolean {
    const end = this.#text.indexOf(END_OF_HEAD)
    if (end < 0) return false
    const [, status = '', length = ''] =
      /^HTTP\/1\.1 (\d+)[^]*?\r\ncontent-length: *(\d+)/i.exec(this.#text.slice(0, end)) ?? []
    if (length === '') throw new Error(`an answer without a length: ${this.#text}`)
    const whole = end + END_OF_HEAD.length + Number(length)
    if (this.#text.length < whole) return false
    const body = this.#text.slice(whole - Number(length), whole)
    this.#text = this.#text.slice(whole)
    this.#questions.shift()?.answered(status === '200' ? 'allow' : String(JSON.parse(body).code))
    return true
  }
}
