/**
 * A client of HTTP/1.1 that writes bytes as they are, and returns what it receives: as bytes, and as
 * responses.
 */

import { connect, type Socket } from 'node:net'
import { type Answers, readAnswers } from './responses.ts'

/** Milliseconds without a byte after which a wait fails. */
const PATIENCE = 30_000

interface RawOptions {
  /** An address of loopback to connect from. */
  readonly from?: string | undefined
  /** Whether the client keeps its half open after the gateway's FIN. */
  readonly halfOpen?: boolean
}

export class RawClient {
  readonly socket: Socket
  /**
   * All received bytes, one character each; resolves once the connection is closed, by either side or a
   * reset.
   */
  readonly ended: Promise<string>
  /** The bytes received so far. */
  received = ''
  /** Whether the other side has sent FIN. */
  finished = false
  /** Whether the connection was reset, and not closed. */
  reset = false
  #waiting: (() => void)[] = []

  /** @param to a port of loopback, or a connection of any kind */
  constructor(to: number | Socket, { from, halfOpen = false }: RawOptions = {}) {
    // A local address is bound before a port is chosen: some of many connections to one port would then have
    // none.
    const local = from === undefined ? {} : { localAddress: from }
    const options = { host: '127.0.0.1', noDelay: true, allowHalfOpen: halfOpen, ...local }
    this.socket = typeof to === 'number' ? connect({ port: to, ...options }) : to
    this.socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1')
      this.#wake()
    })
    this.socket.on('end', () => {
      this.finished = true
      this.#wake()
    })
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.reset = error.code === 'ECONNRESET'
    })
    this.ended = new Promise((resolve) => {
      this.socket.on('close', () => {
        resolve(this.received)
        this.#wake()
      })
    })
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    return this
  }

  /**
   * Writes each packet once the one before is flushed: two writes in one turn of the event loop may be read
   * as one.
   */
  async sendEach(packets: readonly string[]): Promise<this> {
    for (const packet of packets) {
      if (!this.socket.writable) break
      await new Promise((resolve) => this.socket.write(packet, 'latin1', resolve))
      await new Promise(setImmediate)
    }
    return this
  }

  /** Sends FIN. */
  finish(): this {
    if (this.socket.writable) this.socket.end()
    return this
  }

  close(): void {
    this.socket.destroy()
  }

  /**
   * Resolves with all that is received once the text, or a match, has arrived. Rejects when the connection
   * ends without it.
   */
  async until(wanted: string | RegExp): Promise<string> {
    const found = () =>
      typeof wanted === 'string' ? this.received.includes(wanted) : wanted.test(this.received)
    while (!found()) await this.#more(String(wanted))
    return this.received
  }

  /**
   * Resolves once this many final responses are complete, or the connection is at its end.
   * @param heads for each response in order, where known: its request was a HEAD
   */
  async responses(count: number, heads: readonly boolean[] = []): Promise<Answers> {
    for (;;) {
      const answers = readAnswers(this.received, heads)
      if (answers.all.length >= count || this.isOver) return answers
      await this.#more(`${count} responses`)
    }
  }

  /** Whether the connection has ended. */
  get isOver(): boolean {
    return this.finished || this.socket.closed
  }

  /** Rejects if nothing more can arrive, or if nothing arrives for too long. */
  #more(wanted: string): Promise<void> {
    if (this.isOver) throw new Error(`ended without ${wanted}: ${this.received}`)
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`no ${wanted} in ${PATIENCE} ms after: ${this.received}`))
      this.socket.setTimeout(PATIENCE, late)
      this.#waiting.push(() => {
        this.socket.off('timeout', late)
        resolve()
      })
    })
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/**
 * Writes on a connection of its own; resolves with all received bytes once it is closed, or `wanted` has
 * arrived.
 */
export async function roundTrip(
  port: number,
  bytes: string | Buffer,
  wanted?: string | RegExp,
): Promise<string> {
  const client = new RawClient(port).send(bytes)
  if (wanted === undefined) return client.ended
  try {
    return await client.until(wanted)
  } catch (cause) {
    // The caller decides on an end without the text. A wait without result is a fault of the test.
    if (!client.isOver) throw cause
    return client.received
  } finally {
    client.close()
  }
}
