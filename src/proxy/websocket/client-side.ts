/**
 * A stand-in for the client connection towards http-proxy-3, which pipes it to the upstream connection: reads return
 * the bytes of the client, writes go to the client. `tunnel.ts` stands between and sees all bytes. Before a successful
 * handshake nothing here touches the client, which may still get an HTTP response.
 */

import { Duplex } from 'node:stream'

/** The tunnel behind the stand-in. */
export interface ClientPort {
  /** The upstream accepts more bytes. */
  resume(): void
  /** @param done called when the client accepts more bytes */
  write(chunk: Buffer, done: () => void): void
  /** The upstream has ended its side. */
  end(): void
  /** http-proxy-3 has closed the connection. */
  destroy(): void
}

export class ClientSide extends Duplex {
  #port: ClientPort | null = null
  /**
   * http-proxy-3 first writes a 101 with fields of the upstream. It is dropped, as the client already has the 101 of
   * the gateway.
   */
  #headSeen = false

  constructor() {
    super({ allowHalfOpen: true })
    // The connections themselves report their errors.
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

  /** Methods of `net.Socket` that http-proxy-3 calls. */
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
