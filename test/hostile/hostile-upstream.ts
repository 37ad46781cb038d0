/**
 * An upstream that answers with whatever bytes a test has it say, and a whole gateway in front: what the client gets,
 * what becomes of the connection, and whether the next request is unharmed. For test/proxy/hostile-*.test.ts.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { hopTo, upstreamEnd } from '../proxy/hop.ts'
import { startWorld, type World } from '../support/world.ts'
import { type Outcome, type Packets, send } from './door.ts'
import { strict } from './leniency.ts'
import { readRequests } from './reading.ts'

export interface Script {
  /** Said when the request has come whole. */
  readonly packets: Packets
  /** Done to the connection when that is out. */
  readonly after?: (socket: Socket) => void
  /** Said as soon as the connection stands, before any request. */
  readonly early?: string
  /** Said when the head of the request is there, whatever of its body is. */
  readonly atHead?: boolean
}

const GOOD = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood'

export class HostileUpstream {
  readonly world: World
  readonly #server
  readonly #sockets = new Set<Socket>()
  #script: Script = { packets: '' }
  /** Connections on which the script was played and that are open still. */
  readonly spoilt = new Set<Socket>()
  /** Scripts so far. */
  played = 0
  /** Good requests that came on a connection where the script was played. */
  reused = 0

  private constructor(world: World, server: ReturnType<typeof createServer>) {
    this.world = world
    this.#server = server
    server.on('connection', (connection: Socket) => this.#converse(upstreamEnd(connection)))
  }

  static async start(t: Test): Promise<HostileUpstream> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { target, lines } = hopTo((server.address() as AddressInfo).port)
    const routes = ['ANY /evil: public', 'GET /good: public']
    const upstream = ['response_timeout: 1s', 'body_timeout: 1s', ...lines]
    const world = await startWorld(t, { target: target.origin, routes, upstream })
    const hostile = new HostileUpstream(world, server)
    t.teardown(() => hostile.#close())
    return hostile
  }

  /** The client's side of one hostile answer. */
  async play(script: Script, request = 'GET /evil HTTP/1.1\r\nHost: a\r\n\r\n'): Promise<Outcome> {
    this.#script = script
    this.reused = 0
    this.played++
    return send(this.world.port, request, { answers: 1, heads: [request.startsWith('HEAD')] })
  }

  /** Whether each of some further requests has the answer that is its own. */
  async goesOn(): Promise<boolean> {
    this.#script = { packets: '' }
    for (let i = 0; i < 2; i++) {
      const { all } = await send(this.world.port, 'GET /good HTTP/1.1\r\nHost: a\r\n\r\n', { answers: 1 })
      if (all[0]?.status !== 200 || all[0].body !== 'good') return false
    }
    return true
  }

  /** Whether the gateway has given up each connection that carried the script. */
  async dropped(): Promise<boolean> {
    for (let i = 0; i < 300 && this.spoilt.size > 0; i++) await sleep(10)
    return this.spoilt.size === 0
  }

  #converse(socket: Socket): void {
    let bytes = ''
    let evil = false
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.spoilt.delete(socket)
    })
    if (this.#script.early !== undefined) {
      this.spoilt.add(socket)
      socket.write(this.#script.early, 'latin1')
    }
    socket.on('data', (chunk) => {
      bytes += chunk.toString('latin1')
      const [request] = readRequests(bytes, strict).requests
      if (request === undefined || !(request.whole || this.#script.atHead === true)) return
      bytes = ''
      if (request.target === '/evil') {
        evil = true
        void this.#say(socket)
      } else {
        if (evil) this.reused++
        socket.write(GOOD)
      }
    })
  }

  async #say(socket: Socket): Promise<void> {
    const { packets, after } = this.#script
    this.spoilt.add(socket)
    for (const packet of typeof packets === 'string' ? [packets] : packets) {
      if (!socket.writable) return
      await new Promise((resolve) => socket.write(packet, 'latin1', resolve))
      await new Promise(setImmediate)
    }
    after?.(socket)
  }

  #close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }
}

/** Nothing of it reaches the client but a 502; its connection is dropped, and the next request is unharmed. */
export async function refused(
  t: Test,
  hostile: HostileUpstream,
  name: string,
  script: Script,
  request?: string,
) {
  const { all, rest, text } = await hostile.play(script, request)
  t.match(
    all,
    [{ status: 502, code: request?.startsWith('HEAD') ? null : 'upstream_protocol_error' }],
    name,
    { text },
  )
  t.equal(rest, '')
  await harmless(t, hostile, name)
}

/** A part of it may have reached the client, but nobody can take that for a whole answer. */
export async function broken(
  t: Test,
  hostile: HostileUpstream,
  name: string,
  script: Script,
  request?: string,
) {
  const { all, end, text } = await hostile.play(script, request)
  const whole = all.filter(({ status }) => status !== 502)
  t.same([whole, end === 'open' && all.length === 0], [[], false], `${name}: no whole answer`, { text })
  await harmless(t, hostile, name)
}

/** The connection that carried the script is not used again, and the next requests have their own answers. */
export async function harmless(t: Test, hostile: HostileUpstream, name: string) {
  t.ok(await hostile.dropped(), `${name}: the connection is dropped`)
  t.ok(await hostile.goesOn(), `${name}: the next requests are unharmed`)
  t.equal(hostile.reused, 0, name)
}

/** It passes. @param kept whether the connection is used again */
export async function passes(
  t: Test,
  hostile: HostileUpstream,
  name: string,
  script: Script,
  body: string,
  kept: boolean,
  request?: string,
) {
  const { all, text } = await hostile.play(script, request)
  t.equal(all.length, 1, name, { text })
  t.equal(all[0]?.body, body, name)
  t.ok((all[0]?.status ?? 500) < 500, name)
  if (!kept) return harmless(t, hostile, name)
  t.ok(await hostile.goesOn(), `${name}: the next requests are unharmed`)
  t.ok(hostile.reused > 0, `${name}: the connection is kept`)
}
