/**
 * An open WebSocket: bytes pass both ways between the client's connection and the upstream's, each at the pace the
 * other end takes them, within the limits of idleness and lifetime. It is closed by either end, or by the gateway,
 * which says Close to both between two frames and does not wait long for their answers.
 */

import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Exchange, OpenWebSocket, WebSocketEnd } from '../../http/server/exchange.ts'
import { passed } from '../buffer-garbage.ts'
import type { ClientPort, ClientSide } from './client-side.ts'
import { closeFrame, GOING_AWAY, NO_CLOSE, NO_STATUS, PROTOCOL_ERROR } from './close-frame.ts'
import { Direction } from './direction.ts'

/** Milliseconds. */
export interface TunnelLimits {
  /** Without a byte from either end; a ping is one. */
  readonly idle: number
  readonly lifetime: number
}

/** Milliseconds for both ends to answer Close, and for the frame before it to be whole. */
const CLOSE_WAIT = 5000
/** Where the caller may no longer do this, the end must not be up to the caller. */
const REVOKED_WAIT = 1000
/** Milliseconds for the rest to arrive at one end once the other has gone. */
const HALF_CLOSED_WAIT = 30_000

export class Tunnel implements OpenWebSocket, ClientPort {
  endedBy: WebSocketEnd | null = null
  closeCode: number | null = null
  readonly #exchange: Exchange
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #clientSide: ClientSide
  readonly #fromClient: Direction
  readonly #fromUpstream: Direction
  readonly #idle: NodeJS.Timeout
  readonly #lifetime: NodeJS.Timeout
  #cutTimer: NodeJS.Timeout | null = null
  /** Monotonic ms. */
  #cutAt = Infinity
  /** Waits until the client can take more. */
  #pendingWrite: (() => void) | null = null

  /** The client has its 101, the upstream has given it. @param side what http-proxy-3 has for the client */
  constructor(exchange: Exchange, clientSide: ClientSide, upstream: Socket, limits: TunnelLimits) {
    const client = exchange.request.socket
    this.#exchange = exchange
    this.#client = client
    this.#upstream = upstream
    this.#clientSide = clientSide
    this.#fromClient = new Direction(true, (bytes) => clientSide.readableEnded || clientSide.push(bytes))
    this.#fromUpstream = new Direction(false, (bytes) => !client.writable || client.write(bytes))
    this.#idle = setTimeout(() => this.close('idle', GOING_AWAY, 'idle'), limits.idle)
    this.#lifetime = setTimeout(() => this.close('lifetime', GOING_AWAY, 'lifetime'), limits.lifetime)
    clientSide.open(this)
    this.#addListeners()
  }

  #addListeners(): void {
    this.#client
      .on('data', (chunk: Buffer) => this.#received(chunk))
      .on('drain', () => this.#drained())
      .on('end', () => this.#clientEnded())
    // Before the end of the exchange is told.
    this.#client.prependListener('close', (failed) => this.#clientClosed(failed))
    this.#upstream.on('close', () => this.#upstreamClosed())
    this.#client.setKeepAlive(true, 60_000)
    this.#client.setNoDelay(true)
  }

  close(by: WebSocketEnd, code: number, reason: string): void {
    this.#recordEnd(by, code)
    this.#fromUpstream.end(closeFrame(code, reason, false))
    this.#fromClient.end(closeFrame(code, reason, true))
    // At the end of a drain everything is cut that is left.
    if (by !== 'drain') this.#cutWithin(by === 'decided_again' ? REVOKED_WAIT : CLOSE_WAIT)
    this.#checkFrames()
  }

  #received(chunk: Buffer): void {
    this.#exchange.bytesIn += chunk.length
    passed(chunk.length)
    this.#idle.refresh()
    if (!this.#fromClient.pass(chunk)) this.#client.pause()
    this.#checkFrames()
  }

  /** The upstream can take more. */
  resume(): void {
    this.#client.resume()
  }

  /** The upstream has said something. */
  write(chunk: Buffer, done: () => void): void {
    this.#exchange.bytesOut += chunk.length
    passed(chunk.length)
    this.#idle.refresh()
    if (this.#fromUpstream.pass(chunk)) done()
    else this.#pendingWrite = done
    this.#checkFrames()
  }

  #drained(): void {
    const done = this.#pendingWrite
    this.#pendingWrite = null
    done?.()
  }

  /** Whether somebody has said Close, or something that is no frame. */
  #checkFrames(): void {
    const client = this.#fromClient.frames
    const upstream = this.#fromUpstream.frames
    if (client.closed) this.#recordEnd('client', client.closeCode ?? NO_STATUS)
    if (upstream.closed) this.#recordEnd('upstream', upstream.closeCode ?? NO_STATUS)
    if (client.closed && upstream.closed) return this.#finish()
    const fault = client.fault ?? upstream.fault
    if (fault !== null && this.endedBy === null) this.close('protocol_error', PROTOCOL_ERROR, fault)
  }

  /** Who comes first has ended it. */
  #recordEnd(by: WebSocketEnd, code: number): void {
    this.endedBy ??= by
    this.closeCode ??= code
  }

  /** Both have said Close, and nothing more can come. */
  #finish(): void {
    this.#client.end()
    this.#upstream.end()
    this.#cutWithin(CLOSE_WAIT)
  }

  #clientEnded(): void {
    this.#recordEnd('client', NO_CLOSE)
    this.#clientSide.push(null)
    this.#cutWithin(HALF_CLOSED_WAIT)
  }

  #clientClosed(failed: boolean): void {
    this.#recordEnd('client', NO_CLOSE)
    clearTimeout(this.#idle)
    clearTimeout(this.#lifetime)
    this.#drained()
    if (failed || !this.#client.readableEnded || this.#upstream.destroyed) return this.destroy()
    // What it said before it went is still on its way.
    this.#upstream.end()
  }

  /** The upstream has ended its side, and all of it has been written. */
  end(): void {
    this.#recordEnd('upstream', NO_CLOSE)
    this.#client.end()
    this.#cutWithin(HALF_CLOSED_WAIT)
  }

  #upstreamClosed(): void {
    this.#recordEnd('upstream', NO_CLOSE)
    this.#cutWithin(HALF_CLOSED_WAIT)
    if (this.#client.closed) this.destroy()
  }

  #cutWithin(ms: number): void {
    const at = performance.now() + ms
    if (at >= this.#cutAt || this.#clientSide.destroyed) return
    if (this.#cutTimer !== null) clearTimeout(this.#cutTimer)
    this.#cutAt = at
    this.#cutTimer = setTimeout(() => this.destroy(), ms)
  }

  /** Cuts both connections, whatever is still under way. */
  destroy(): void {
    clearTimeout(this.#idle)
    clearTimeout(this.#lifetime)
    if (this.#cutTimer !== null) clearTimeout(this.#cutTimer)
    this.#client.destroy()
    this.#upstream.destroy()
    this.#clientSide.destroy()
  }
}
