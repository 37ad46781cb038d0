/**
 * A stream between a socket and ioredis. It passes on only complete replies that match the commands sent, and
 * closes the connection at anything else: ioredis throws outside any catch at a reply of the wrong type,
 * which ends the process.
 */

import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { type Nodes, ReplyValidator } from './reply-validator.ts'
import { ProtocolError, type Reply, ReplyReader } from './resp.ts'

/** Bytes queued to Redis. Bounds the memory when Redis replies but does not read. */
const MAX_UNSENT = 16 * 1024 * 1024

export class GuardedSocket extends Duplex {
  readonly #socket: Socket
  readonly #validator: ReplyValidator
  /** ioredis writes arrays of bulk strings, which are read as replies are. */
  readonly #commands = new ReplyReader()
  readonly #replies = new ReplyReader()
  #replied = false
  #timer: NodeJS.Timeout | undefined
  #isOpen = false

  /** @param socket connecting */
  constructor(socket: Socket, nodes: Nodes) {
    super()
    this.#socket = socket
    this.#validator = new ReplyValidator(nodes)
    // ioredis adds its listener only after it gets this stream, and only for one error.
    this.on('error', () => {})
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => this.#opened())
    socket.on('data', (chunk: Buffer) => this.#received(chunk))
    socket.on('error', (cause) => this.destroy(this.#isSilent && isReset(cause) ? noReply() : cause))
    // Redis never half-closes; an incomplete reply is dropped.
    socket.on('end', () => this.#ended())
    socket.on('close', () => this.destroy())
  }

  /**
   * Whether TCP and TLS are not established yet. ioredis then waits for the event `connect`, and calls the
   * methods below.
   */
  get connecting(): boolean {
    return !this.#isOpen && !this.destroyed
  }

  setNoDelay(on: boolean): this {
    this.#socket.setNoDelay(on)
    return this
  }

  setKeepAlive(on: boolean, delay: number): this {
    this.#socket.setKeepAlive(on, delay)
    return this
  }

  /**
   * Limits the time to connect. Unlike a socket's timeout, it runs on when bytes arrive.
   *
   * @param timeout ms; 0 for none
   */
  setTimeout(timeout: number, onTimeout: () => void = () => {}): this {
    clearTimeout(this.#timer)
    if (timeout > 0) this.#timer = setTimeout(onTimeout, timeout)
    return this
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(bytes: Buffer, _encoding: string, done: (cause?: Error) => void): void {
    try {
      this.#commands.write(bytes, (command) => this.#validator.sent(command))
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
    clearTimeout(this.#timer)
    this.#socket.destroy()
    done(cause)
  }

  /** The connection is established, and Redis has not said anything. */
  get #isSilent(): boolean {
    return this.#isOpen && !this.#replied
  }

  #opened(): void {
    this.#isOpen = true
    // ioredis has given the connection up while it was opened.
    if (this.writableEnded) this.destroy()
    else this.emit('connect')
  }

  /** While TLS is not established, the socket's own error says more. */
  #ended(): void {
    if (this.#isOpen) this.destroy(this.#isSilent && !this.writableEnded ? noReply() : undefined)
  }

  #received(chunk: Buffer): void {
    this.#replied = true
    try {
      this.#replies.write(chunk, (reply, bytes) => this.#forward(reply, bytes))
    } catch (cause) {
      this.destroy(cause as Error)
    }
  }

  #forward(reply: Reply, bytes: Buffer): void {
    // ioredis may have closed the connection because of an earlier reply.
    if (this.destroyed) return
    this.#validator.received(reply)
    if (!this.push(bytes)) this.#socket.pause()
  }
}

function isReset(cause: Error): boolean {
  return 'code' in cause && cause.code === 'ECONNRESET'
}

/** A server that requires TLS closes or resets a connection without it, and says nothing. */
function noReply(): Error {
  return Object.assign(new Error('Redis closed the connection without a reply'), { code: 'NO_REPLY' })
}
