/**
 * Stands between a socket and ioredis: passes on only whole replies that answer what was sent, and ends the connection
 * at anything else. ioredis throws outside any catch where a reply is of a kind that its command does not have, which
 * would end the process.
 */

import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { Expected, type SentCommand } from './expected.ts'
import type { Nodes } from './nodes.ts'
import { ProtocolError, readReply, ReplyScanner } from './resp.ts'

/** Bytes that Redis has not taken yet: one that answers and does not read would fill the memory. */
const MAX_UNSENT = 16 * 1024 * 1024

export class GuardedSocket extends Duplex {
  readonly #socket: Socket
  readonly #expected: Expected
  readonly #scanner = new ReplyScanner()

  /** @param socket connected, or about to be */
  constructor(socket: Socket, nodes: Nodes) {
    super()
    this.#socket = socket
    this.#expected = new Expected(nodes)
    // ioredis listens only once it has got this stream, and only for one error.
    this.on('error', () => {})
    socket.on('data', (chunk: Buffer) => this.#received(chunk))
    socket.on('error', (cause) => this.destroy(cause))
    // Redis never closes only its half; what came of a reply that is not whole is dropped.
    socket.on('end', () => this.destroy())
    socket.on('close', () => this.destroy())
  }

  /** ioredis sets these on what it takes for a socket. */
  setNoDelay(on: boolean): this {
    this.#socket.setNoDelay(on)
    return this
  }

  setKeepAlive(on: boolean, delay: number): this {
    this.#socket.setKeepAlive(on, delay)
    return this
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(bytes: Buffer, _encoding: string, done: (cause?: Error) => void): void {
    try {
      for (const command of sentCommands(bytes)) this.#expected.sent(command)
      if (this.#socket.writableLength > MAX_UNSENT) throw new ProtocolError('Redis does not read')
    } catch (cause) {
      return done(cause as Error)
    }
    this.#socket.write(bytes)
    done()
  }

  override _final(done: () => void): void {
    this.#socket.end()
    done()
  }

  override _destroy(cause: Error | null, done: (cause: Error | null) => void): void {
    this.#socket.destroy()
    done(cause)
  }

  #received(chunk: Buffer): void {
    try {
      this.#scanner.write(chunk, (frame) => this.#passOn(frame))
    } catch (cause) {
      this.destroy(cause as Error)
    }
  }

  #passOn(frame: Buffer): void {
    // A reply before this one may have made ioredis give the connection up.
    if (this.destroyed) return
    this.#expected.received(readReply(frame))
    if (!this.push(frame)) this.#socket.pause()
  }
}

/** Commands as ioredis writes them: an array of bulk strings each. */
function* sentCommands(bytes: Buffer): Generator<SentCommand> {
  let at = 0
  const header = () => {
    const end = bytes.indexOf('\r\n', at)
    const number = Number(bytes.toString('latin1', at + 1, end))
    at = end + 2
    return number
  }
  const word = () => {
    const length = header()
    at += length + 2
    return bytes.subarray(at - length - 2, at - 2)
  }
  while (at < bytes.length) {
    const count = header()
    const name = word().toString('latin1').toLowerCase()
    const first = count > 1 ? word() : null
    for (let left = count - 2; left > 0; left--) word()
    const full = name === 'cluster' ? `cluster ${first?.toString('latin1').toLowerCase()}` : name
    yield { name: full, arguments: count - 1 }
  }
}
