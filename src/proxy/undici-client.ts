/** The hop over TLS: undici's pool behind the words of `hop.ts`. Made by `target.ts`. */

import type { Dispatcher, Pool } from 'undici'
import type { Connector } from './connector.ts'
import {
  BodyTimeout,
  type Client,
  ClientClosed,
  ConnectionLost,
  type Hop,
  type HopRequest,
  NotForwardable,
  type Receiver,
} from './hop.ts'
import { loadUndici } from './undici.ts'
import { givenUp } from './upstream-faults.ts'

export interface UndiciSettings {
  readonly connections: number
  readonly bodyTimeout: number
  readonly keepAlive: number
  readonly keepAliveMax: number
}

/** Bytes of an answer's header section. */
const MAX_HEADER_BYTES = 64 * 1024

export class UndiciClient implements Client {
  readonly #pool: Pool
  readonly #connector: Connector
  readonly #servername: string

  constructor(url: URL, connector: Connector, settings: UndiciSettings) {
    this.#connector = connector
    this.#servername = url.hostname
    this.#pool = new (loadUndici().Pool)(url.origin, {
      connect: connector.connect,
      connections: settings.connections,
      // One request at a time on a connection: an answer can't be taken for another request's.
      pipelining: 1,
      allowH2: false,
      // `forward.ts` times this by itself: undici's would count from other moments.
      headersTimeout: 0,
      bodyTimeout: settings.bodyTimeout,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: settings.keepAlive,
      keepAliveMaxTimeout: settings.keepAliveMax,
    })
  }

  get closed(): boolean {
    return this.#pool.closed
  }

  dispatch({ method, path, headers, host, body, length }: HopRequest, receiver: Receiver): void {
    const all = [...headers]
    if (host !== null) all.push('host', host)
    if (length !== null && length !== Infinity) all.push('content-length', String(length))
    // undici reads `servername`; its types don't know it. Constant, so that it never reconnects because of another Host.
    const options: Dispatcher.DispatchOptions & { servername: string } = {
      method,
      path,
      headers: all,
      body,
      servername: this.#servername,
    }
    this.#pool.dispatch(options, new Handler(receiver, this.#connector))
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  destroy(): Promise<void> {
    return this.#pool.destroy()
  }
}

class Handler implements Dispatcher.DispatchHandler, Hop {
  readonly #receiver: Receiver
  readonly #connector: Connector
  #controller: Dispatcher.DispatchController | null = null
  #unwanted = false

  constructor(receiver: Receiver, connector: Connector) {
    this.#receiver = receiver
    this.#connector = connector
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  abort(error: Error): void {
    this.#controller?.abort(error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Thrown, as abort() would destroy the connection.
    this.#unwanted = !this.#receiver.connected(this)
    if (this.#unwanted) throw givenUp
  }

  onBodySent(): void {
    this.#receiver.sent()
  }

  onRequestSent(): void {
    this.#receiver.sent()
  }

  onResponseStarted(): void {
    this.#receiver.heard()
  }

  onResponseStart(
    { rawHeaders }: Dispatcher.DispatchController,
    status: number,
    _: unknown,
    phrase?: string,
  ): void {
    this.#receiver.head(status, phrase ?? '', texts(rawHeaders))
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#receiver.data(chunk)
  }

  onResponseEnd({ rawTrailers }: Dispatcher.DispatchController): void {
    this.#receiver.ended(texts(rawTrailers))
  }

  /** undici passes no controller where no connection was had, or the request could not be written at all. */
  onResponseError(_: unknown, error: Error): void {
    if (!this.#unwanted) this.#receiver.failed(this.#translated(error))
  }

  #translated(error: Error): Error {
    const { errors } = loadUndici()
    if (error instanceof errors.BodyTimeoutError) return new BodyTimeout(error.message)
    if (error instanceof errors.ClientDestroyedError || error instanceof errors.ClientClosedError)
      return new ClientClosed(error.message)
    if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError)
      return new NotForwardable(error.message)
    const afterUse = this.#connector.diedAfterUse(error)
    if (!afterUse && !(error instanceof errors.SocketError) && !('syscall' in error)) return error
    return new ConnectionLost(error.message, codeOf(error), afterUse, error)
  }
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** undici's HTTP/1.1 parser gives the lines as they came, name and value in turn. */
function texts(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  return ((raw ?? []) as Buffer[]).map((each) => each.toString('latin1'))
}
