/**
 * An open WebSocket: bytes pass both ways between the client and the upstream, with backpressure and with
 * limits on idle time and lifetime. Either end closes it, or the gateway, which sends Close to both ends at a
 * frame boundary and waits only briefly for their replies.
 *
 * http-proxy-3 pipes the upstream to a stand-in for the client (`websocket-proxy.ts`). The tunnel alone reads
 * from the client and writes to it.
 */

import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Duplex } from 'node:stream'
import type { UpstreamConfig } from '../../config/config.ts'
import { WriteQueue } from '../../http/wire/write-queue.ts'
import { keepOneRead } from '../../lib/node-internals.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import type { OpenWebSocket, WebSocketEnd } from '../../http/server/open-web-socket.ts'
import { passed } from '../buffer-garbage.ts'
import { closeFrame, Frames, GOING_AWAY, NO_CLOSE, NO_STATUS, PROTOCOL_ERROR } from './websocket-frames.ts'

/** Milliseconds for both ends to reply to Close, and to complete the frame before it. */
const CLOSE_WAIT = 5000
/** Shorter if the caller has lost the permission, so that it cannot delay the end. */
const REVOKED_WAIT = 1000
/** Milliseconds for one end to finish after the other has ended. */
const HALF_CLOSED_WAIT = 30_000

export class Tunnel implements OpenWebSocket {
  endedBy: WebSocketEnd | null = null
  closeCode: number | null = null
  readonly #exchange: Exchange
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #clientSide: Duplex
  readonly #fromClient: Direction
  readonly #fromUpstream: Direction
  readonly #toClient: WriteQueue
  readonly #toUpstream: WriteQueue
  /** The upstream does not accept more bytes. */
  #upstreamFull = false
  readonly #idle: NodeJS.Timeout
  readonly #lifetime: NodeJS.Timeout
  #cutTimer: NodeJS.Timeout | null = null
  /** Monotonic ms. */
  #cutAt = Infinity
  /** Called when the client accepts more bytes. */
  #pendingWrite: (() => void) | null = null

  /**
   * The client has its 101.
   *
   * @param clientSide the stand-in for the client
   */
  constructor(
    exchange: Exchange,
    clientSide: Duplex,
    upstream: Socket,
    { websocketIdle, websocketLifetime }: Pick<UpstreamConfig, 'websocketIdle' | 'websocketLifetime'>,
  ) {
    const client = exchange.request.socket
    this.#exchange = exchange
    this.#client = client
    this.#upstream = upstream
    this.#clientSide = clientSide
    this.#fromClient = new Direction(true, (bytes) => clientSide.readableEnded || clientSide.push(bytes))
    this.#fromUpstream = new Direction(false, (bytes) => !client.writable || this.#send(bytes))
    this.#toClient = new WriteQueue(client, () => this.#drained())
    this.#toUpstream = new WriteQueue(upstream, () => this.#upstreamDrained())
    // A ping counts too.
    this.#idle = setTimeout(() => this.close('idle', GOING_AWAY, 'idle'), websocketIdle)
    this.#lifetime = setTimeout(() => this.close('lifetime', GOING_AWAY, 'lifetime'), websocketLifetime)
    this.#addListeners()
  }

  #addListeners(): void {
    this.#client
      .on('data', (chunk: Buffer) => this.#received(chunk))
      .on('drain', () => this.#drained())
      .on('end', () => this.#clientEnded())
    // Before the listener that ends the exchange.
    this.#client.prependListener('close', (failed) => this.#clientClosed(failed))
    this.#upstream.on('drain', () => this.#upstreamDrained()).on('close', () => this.#upstreamClosed())
    for (const socket of [this.#client, this.#upstream]) keepOneRead(socket)
    this.#client.setKeepAlive(true, 60_000)
    this.#client.setNoDelay(true)
  }

  get heldBytes(): number {
    const unread =
      this.#client.readableLength + this.#clientSide.readableLength + this.#upstream.readableLength
    return unread + this.#toClient.bytes + this.#toUpstream.bytes
  }

  close(by: WebSocketEnd, code: number, reason: string): void {
    this.#recordEnd(by, code)
    this.#fromUpstream.end(closeFrame(code, reason, false))
    this.#fromClient.end(closeFrame(code, reason, true))
    // The end of a drain closes all remaining connections.
    if (by !== 'drain') this.#cutWithin(by === 'decided_again' ? REVOKED_WAIT : CLOSE_WAIT)
    this.#checkFrames()
  }

  #received(chunk: Buffer): void {
    this.#exchange.bytesIn += chunk.length
    passed(chunk.length)
    this.#idle.refresh()
    this.#toUpstream.count()
    const accepts = this.#fromClient.pass(chunk)
    // The stand-in has written them to the upstream, or keeps them while the upstream is full.
    if (this.#upstream.writable && !this.#toUpstream.hasRoom()) this.#upstreamFull = true
    if (!accepts || this.#upstreamFull) this.#client.pause()
    this.#checkFrames()
  }

  /** The stand-in accepts more bytes. */
  resume(): void {
    if (!this.#upstreamFull) this.#client.resume()
  }

  #upstreamDrained(): void {
    this.#upstreamFull = false
    this.#client.resume()
  }

  #send(bytes: Buffer): boolean {
    this.#toClient.count()
    this.#client.write(bytes)
    return this.#toClient.hasRoom()
  }

  /** The upstream has sent bytes. */
  write(chunk: Buffer, done: () => void): void {
    this.#exchange.bytesOut += chunk.length
    passed(chunk.length)
    this.#idle.refresh()
    if (this.#fromUpstream.pass(chunk)) done()
    else {
      this.#pendingWrite = done
      // The stand-in would keep further chunks, and each is an object of its own.
      this.#upstream.pause()
    }
    this.#checkFrames()
  }

  #drained(): void {
    const done = this.#pendingWrite
    this.#pendingWrite = null
    if (done === null) return
    done()
    this.#upstream.resume()
  }

  /** Checks for Close frames and invalid frames. */
  #checkFrames(): void {
    const client = this.#fromClient.frames
    const upstream = this.#fromUpstream.frames
    if (client.closed) this.#recordEnd('client', client.closeCode ?? NO_STATUS)
    if (upstream.closed) this.#recordEnd('upstream', upstream.closeCode ?? NO_STATUS)
    if (client.closed && upstream.closed) return this.#finish()
    const fault = client.fault ?? upstream.fault
    if (fault !== null && this.endedBy === null) this.close('protocol_error', PROTOCOL_ERROR, fault)
  }

  /** The first cause counts. */
  #recordEnd(by: WebSocketEnd, code: number): void {
    this.endedBy ??= by
    this.closeCode ??= code
  }

  /** Both ends have sent Close, and nothing may follow. */
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
    // The last bytes of the client are still on their way.
    this.#upstream.end()
  }

  /** The upstream has ended its side, and all its bytes are written. */
  end(): void {
    this.#recordEnd('upstream', NO_CLOSE)
    this.#client.end()
    this.#cutWithin(HALF_CLOSED_WAIT)
  }

  #upstreamClosed(): void {
    this.#recordEnd('upstream', NO_CLOSE)
    this.#upstreamDrained()
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

  /** Closes both connections at once. */
  destroy(): void {
    clearTimeout(this.#idle)
    clearTimeout(this.#lifetime)
    if (this.#cutTimer !== null) clearTimeout(this.#cutTimer)
    this.#client.destroy()
    this.#upstream.destroy()
    this.#clientSide.destroy()
  }
}

/** One direction. Bytes pass unchanged until that end, or the gateway, has sent a Close frame. */
export class Direction {
  readonly frames: Frames
  readonly #send: (bytes: Buffer) => boolean
  /** The Close frame of the gateway, due at the next frame boundary. */
  #closeFrame: Buffer | null = null
  #closeSent = false

  /**
   * @param masked frames of a client are masked
   * @param send writes to the other end; false on backpressure
   */
  constructor(masked: boolean, send: (bytes: Buffer) => boolean) {
    this.frames = new Frames(masked)
    this.#send = send
  }

  /** No more bytes pass: a Close frame is the last one. */
  get closed(): boolean {
    return this.#closeSent || this.frames.closed
  }

  /** @returns false on backpressure */
  pass(chunk: Buffer): boolean {
    let at = 0
    let writable = true
    if (!this.closed) {
      at = this.frames.take(chunk, this.#closeFrame !== null)
      if (at > 0) writable = this.#send(at === chunk.length ? chunk : chunk.subarray(0, at))
      this.#sendClose()
    }
    // Frames that do not pass are still parsed, as the reply to the Close frame is among them.
    if (this.#closeSent) this.frames.take(chunk.subarray(at))
    return writable
  }

  /** Lets the current frame pass and then sends this one, unless a Close frame has passed before. */
  end(closeFrame: Buffer): void {
    this.#closeFrame ??= closeFrame
    this.#sendClose()
  }

  #sendClose(): void {
    if (this.#closeFrame === null || this.closed || !this.frames.boundary) return
    this.#closeSent = true
    this.#send(this.#closeFrame)
  }
}
