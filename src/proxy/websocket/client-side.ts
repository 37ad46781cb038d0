/**
 * Stands for the client's connection before http-proxy-3, which pipes it together with the upstream's: what is read
 * here was sent by the client, what is written goes to it. Between the two is `tunnel.ts`, which sees all that passes.
 * Until the handshake has succeeded, nothing that happens here touches the client: it may still get an HTTP answer.
 */

import { Duplex } from 'node:stream'

/** What is done with what http-proxy-3 reads and writes. */
export interface ClientPort {
  /** The upstream can take more. */
  resume(): void
  /** @param done when the client can take more */
  write(chunk: Buffer, done: () => void): void
  /** The upstream says no more. */
  end(): void
  /** Neither does anybody else. */
  destroy(): void
}

export class ClientSide extends Duplex {
  #port: ClientPort | null = null
  /** http-proxy-3 writes a 101 of its own first, with whatever the upstream put into it. The client has ours already. */
  #headSeen = false

  constructor() {
    super({ allowHalfOpen: true })
    // What is wrong is known from the connections themselves.
    this.on('error', () => {})
  }

  /** The handshake has succeeded. */
  open(port: ClientPort): void {
    this.#port = port
  }

  override _read(): void {
    this.#port?.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.#port === null) return done()
    if (this.#headSeen) return this.#port.write(chunk, done)
    this.#headSeen = true
    done()
  }

  override _final(done: () => void): void {
    this.#port?.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port?.destroy()
    done(error)
  }

  /** As of a `net.Socket`: http-proxy-3 calls these. */
  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }
}
