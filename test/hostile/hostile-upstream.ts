/**
 * An upstream that sends scripted bytes, with a whole gateway in front. Shows the client's response, the fate of the
 * connection, and whether the next request is unaffected. For test/proxy/hostile-*.test.ts.
 */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import { hopTo, upstreamEnd } from '../proxy/hop.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { type Exchange, type Packets, send } from './gateway.ts'
import { strict } from './leniency.ts'
import { readRequests } from './reading.ts'

export interface Script {
  /** Sent once the whole request has arrived. */
  readonly packets: Packets
  /** Called with the connection once that is flushed. */
  readonly after?: (socket: Socket) => unknown
  /** Sent as soon as the connection is open, before any request. */
  readonly early?: string
  /** Sent once the header section has arrived, with any part of the body. */
  readonly atHead?: boolean
}

export interface Timeouts {
  /** Until the response to `/evil` begins. */
  readonly response?: string
  readonly body?: string
}

/** For an upstream that is to be silent for longer, and for nothing else: a slow machine may be silent too. */
export const BRIEF: Timeouts = { response: '200ms', body: '200ms' }

const VALID = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood'

export class HostileUpstream {
  readonly world: World
  readonly #server
  readonly #sockets = new Set<Socket>()
  #script: Script = { packets: '' }
  /** Open connections on which the script was played. */
  readonly tainted = new Set<Socket>()
  /** Number of scripts so far. */
  played = 0
  /** Valid requests on a connection where the script was played. */
  reused = 0

  private constructor(world: World, server: ReturnType<typeof createServer>) {
    this.world = world
    this.#server = server
    server.on('connection', (connection: Socket) => this.#serve(upstreamEnd(connection)))
  }

  static async start(t: Test, { response = '1m', body = '1m' }: Timeouts = {}): Promise<HostileUpstream> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { target, lines } = hopTo((server.address() as AddressInfo).port)
    const evil = `ANY /evil: { permission: public, response_timeout: ${response} }`
    const routes = [evil, 'GET /good: public']
    const upstream = [`body_timeout: ${body}`, ...lines]
    const world = await startWorld(t, { target: target.origin, routes, upstream })
    const hostile = new HostileUpstream(world, server)
    t.teardown(() => hostile.#close())
    return hostile
  }

  /** The client's side of one hostile response. */
  async play(script: Script, request = 'GET /evil HTTP/1.1\r\nHost: a\r\n\r\n'): Promise<Exchange> {
    this.#script = script
    this.reused = 0
    this.played++
    return send(this.world.port, request, { answers: 1, heads: [request.startsWith('HEAD')] })
  }

  /** Whether each of several further requests gets its own response. */
  async nextRequestsWork(): Promise<boolean> {
    this.#script = { packets: '' }
    for (let i = 0; i < 2; i++) {
      const { all } = await send(this.world.port, 'GET /good HTTP/1.1\r\nHost: a\r\n\r\n', { answers: 1 })
      if (all[0]?.status !== 200 || all[0].body !== 'good') return false
    }
    return true
  }

  /** Whether the gateway has closed each connection that carried the script. */
  async dropped(): Promise<boolean> {
    await until(
      () => this.tainted.size === 0,
      () => `${this.tainted.size} connections are open`,
      { pause: 2 },
    )
    return true
  }

  #serve(socket: Socket): void {
    let bytes = ''
    let evil = false
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.tainted.delete(socket)
    })
    if (this.#script.early !== undefined) {
      this.tainted.add(socket)
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
        socket.write(VALID)
      }
    })
  }

  async #say(socket: Socket): Promise<void> {
    const { packets, after } = this.#script
    this.tainted.add(socket)
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

/** The client gets only a 502, the connection is closed, and the next request is unaffected. */
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

/** A part of it may reach the client, but not as a complete response. */
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

/** The connection that carried the script is not reused, and the next requests get their own responses. */
export async function harmless(t: Test, hostile: HostileUpstream, name: string) {
  t.ok(await hostile.dropped(), `${name}: the connection is closed`)
  t.ok(await hostile.nextRequestsWork(), `${name}: the next requests are unaffected`)
  t.equal(hostile.reused, 0, name)
}

/** The response is forwarded. @param kept whether the connection is reused */
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
  t.ok(await hostile.nextRequestsWork(), `${name}: the next requests are unaffected`)
  t.ok(hostile.reused > 0, `${name}: the connection stays open`)
}
