/**
 * A TCP proxy on loopback whose line can be cut, held and slowed: a test separates one gateway from Redis or
 * PostgreSQL with it, and others still reach them.
 */

import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Test } from 'tap'
import { reservePort } from './ports.ts'
import { Lane, type Line, type Sender } from './proxy-lane.ts'

export class TcpProxy {
  readonly port: number
  #target: number
  /** Shared by all lanes, and read by them at each step. */
  readonly #line: Line = { held: false, delay: 0, witness: null }
  readonly #sockets = new Set<Socket>()
  readonly #lanes = new Set<Lane>()
  #server: Server | null = null

  constructor(port: number, target: { readonly port: number }) {
    this.port = port
    this.#target = target.port
  }

  /** Connections that are open now, on the clients' side. */
  get connections(): number {
    return this.#lanes.size / 2
  }

  /** Resets connections, and refuses new ones, like a machine on which no server listens. */
  async cut(): Promise<void> {
    const server = this.#server
    this.#server = null
    const closed = server?.[Symbol.asyncDispose]()
    this.killConnections()
    await closed
  }

  /** Accepts connections, and passes nothing either way, not even an end, as if packets were lost. */
  freeze(): void {
    this.#line.held = true
  }

  /** Undoes `cut`, `freeze` and `delay`. What was held arrives now, in order. */
  async heal(): Promise<void> {
    this.#line.held = false
    this.#line.delay = 0
    for (const lane of this.#lanes) lane.move()
    if (this.#server !== null) return
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#join(socket))
    this.#server.listen(this.port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Resets connections; new ones get through. */
  killConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** New connections lead to another server, as after a failover at one address. Open connections stay. */
  lead(target: { readonly port: number }): void {
    this.#target = target.port
  }

  /** Resolves when this text arrives, which is held from then on as by {@link freeze}, or passed on. */
  arrival(from: Sender, text: string, { held }: { readonly held: boolean }): Promise<void> {
    return new Promise((resolve) => {
      this.#line.witness = (sender, bytes) => {
        if (sender !== from || !bytes.includes(text)) return
        this.#line.witness = null
        this.#line.held ||= held
        resolve()
      }
    })
  }

  /** Delays what arrives from now on by this time, each way. */
  delay(ms: number): void {
    this.#line.delay = ms
  }

  #join(client: Socket): void {
    // Was still in the queue when the line was cut.
    if (this.#server === null) return void client.destroy()
    const target = connect({ port: this.#target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const lanes = [
      new Lane(client, target, 'client', this.#line),
      new Lane(target, client, 'server', this.#line),
    ]
    for (const lane of lanes) this.#lanes.add(lane)
    for (const socket of [client, target]) {
      this.#sockets.add(socket)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        if (client.destroyed && target.destroyed) for (const lane of lanes) this.#lanes.delete(lane)
      })
    }
  }
}

/** Stands between a client and a server on 127.0.0.1. */
export async function startTcpProxy(t: Test, target: { readonly port: number }): Promise<TcpProxy> {
  const proxy = new TcpProxy(await reservePort(t), target)
  t.teardown(() => proxy.cut())
  await proxy.heal()
  return proxy
}
