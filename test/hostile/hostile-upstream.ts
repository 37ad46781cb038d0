/**
 * An upstream that sends scripted bytes, with a whole gateway in front. Shows the client's response, the fate of the
 * connection, and whether the next request is unaffected. For test/proxy/hostile-*.test.ts.
 */

import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { hopTo } from '../proxy/hop.ts'
import { serveRaw } from '../proxy/support.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { type Exchange, type Packets, send } from './gateway.ts'
import { strict } from './leniency.ts'
import { readRequests } from './reading.ts'

/** What the upstream does with its connection. @param begun the client has a header section, or nothing will come */
type Act = (socket: Socket, begun: Promise<unknown>) => unknown

interface Script {
  /** Sent once the whole request has arrived. */
  readonly packets: Packets
  /** Called once that is flushed. */
  readonly after?: Act
  /** Sent as soon as the connection is open, before any request. */
  readonly early?: string
  /** Sent once the header section has arrived, with any part of the body. */
  readonly atHead?: boolean
}

interface Timeouts {
  /** Until the response to `/evil` begins. */
  readonly response?: string
  readonly body?: string
}

/** For an upstream that is to be silent within a body. The head has a long limit: a slow machine may be silent before it. */
export const BRIEF: Timeouts = { body: '200ms' }

const VALID = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood'
/** Its client reads to the end of the connection, so that it finds also what follows the response. */
const REQUEST = 'GET /evil HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
export const HEAD_REQUEST: string = REQUEST.replace('GET', 'HEAD')

/** The upstream goes on once the client has the beginning of the response, unless the gateway has closed the connection. */
export function onceBegun(act: (socket: Socket) => unknown): Act {
  return async (socket, begun) => {
    await begun
    // A reset of a closed socket of Node.js 26 keeps the process from exiting.
    if (socket.writable) act(socket)
  }
}

export class HostileUpstream {
  readonly world: World
  #script: Script = { packets: '' }
  #begun = Promise.withResolvers<void>()
  /** Open connections on which the script was played. */
  readonly tainted = new Set<Socket>()
  /** Number of scripts so far. */
  played = 0
  /** Valid requests on a connection where the script was played. */
  reused = 0

  private constructor(world: World) {
    this.world = world
  }

  static async start(t: Test, { response = '1m', body = '1m' }: Timeouts = {}): Promise<HostileUpstream> {
    let hostile: HostileUpstream | null = null
    const port = await serveRaw(t, (socket) => {
      if (hostile !== null) hostile.#serve(socket)
    })
    const { target, lines } = hopTo(port)
    const evil = `ANY /evil: { permission: public, response_timeout: ${response} }`
    const routes = [evil, 'GET /good: public']
    const upstream = [`body_timeout: ${body}`, ...lines]
    hostile = new HostileUpstream(await startWorld(t, { target, routes, upstream }))
    return hostile
  }

  /** The client's side of one hostile response. */
  async play(script: Script, request = REQUEST): Promise<Exchange> {
    this.#script = script
    this.#begun = Promise.withResolvers()
    this.reused = 0
    this.played++
    const answers = request.includes('Connection: close') ? Infinity : 1
    const heads = [request.startsWith('HEAD')]
    return send(this.world.port, request, { answers, heads, begun: this.#begun.resolve })
  }

  /** The line of the access log about this response. */
  async logged({ text }: Exchange): Promise<Record<string, unknown>> {
    const [, id] = /^x-request-id: (\S+)/im.exec(text) ?? []
    let line: Record<string, unknown> | undefined
    await until(
      () => (line = this.world.log().find((each) => each.request_id === id)) !== undefined,
      `the line of the log about ${id}`,
    )
    return line ?? {}
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
    const peer = new RawClient(socket)
    let evil = false
    socket.on('close', () => this.tainted.delete(socket))
    if (this.#script.early !== undefined) {
      this.tainted.add(socket)
      peer.send(this.#script.early)
    }
    socket.on('data', () => {
      const [request] = readRequests(peer.received, strict).requests
      if (request === undefined || !(request.whole || this.#script.atHead === true)) return
      peer.received = ''
      if (request.target === '/evil') {
        evil = true
        void this.#say(peer)
      } else {
        if (evil) this.reused++
        peer.send(VALID)
      }
    })
  }

  async #say(peer: RawClient): Promise<void> {
    const { packets, after } = this.#script
    this.tainted.add(peer.socket)
    await peer.sendEach([packets].flat())
    if (peer.socket.writable) after?.(peer.socket, this.#begun.promise)
  }
}

/** The client gets only a 502, whose cause the log has; the connection is closed, and the next request is unaffected. */
export async function refused(
  t: Test,
  hostile: HostileUpstream,
  name: string,
  script: Script,
  request?: string,
): Promise<void> {
  const exchange = await hostile.play(script, request)
  const { all, rest, text } = exchange
  const code = request?.startsWith('HEAD') ? null : 'upstream_protocol_error'
  t.match([all, rest], [[{ status: 502, code }], ''], name, { text })
  t.match(text, /^HTTP\/1\.1 502 Bad Gateway\r\n/, name)
  t.ok((await hostile.logged(exchange)).cause, `${name}: the log has the cause`)
  await harmless(t, hostile, name)
}

/** A part of it may reach the client, but not as a complete response. */
export async function broken(
  t: Test,
  hostile: HostileUpstream,
  name: string,
  script: Script,
  request?: string,
): Promise<Exchange> {
  const exchange = await hostile.play(script, request)
  const { all, end, text } = exchange
  const whole = all.filter(({ status }) => status !== 502)
  t.same([whole, end === 'open' && all.length === 0], [[], false], `${name}: no whole answer`, { text })
  if (all.length === 0) {
    t.match(text, /^(?:HTTP\/1\.1 1\d\d .*\r\n(?:.+\r\n)*\r\n)*HTTP\/1\.1 200 OK\r\n/, name)
    t.notMatch(text, /\r\n0\r\n|HTTP\/1\.1 50\d/, `${name}: no last chunk, and nothing written into it`)
  }
  t.not((await hostile.logged(exchange)).code, 'allow', `${name}: the log has it`)
  await harmless(t, hostile, name)
  return exchange
}

/** The connection that carried the script is not reused, and the next requests get their own responses. */
export async function harmless(t: Test, hostile: HostileUpstream, name: string) {
  t.ok(await hostile.dropped(), `${name}: the connection is closed`)
  t.ok(await hostile.nextRequestsWork(), `${name}: the next requests are unaffected`)
  t.equal(hostile.reused, 0, name)
}

/** The response is forwarded, and nothing behind it. @param kept whether the connection is reused */
export async function passes(
  t: Test,
  hostile: HostileUpstream,
  name: string,
  script: Script,
  body: string,
  kept: boolean,
  request?: string,
): Promise<Exchange> {
  const exchange = await hostile.play(script, request)
  const { all, rest, text } = exchange
  t.same([all.map((each) => each.body), rest], [[body], ''], name, { text })
  t.ok((all[0]?.status ?? 500) < 500, name)
  if (!kept) await harmless(t, hostile, name)
  else {
    t.ok(await hostile.nextRequestsWork(), `${name}: the next requests are unaffected`)
    t.ok(hostile.reused > 0, `${name}: the connection stays open`)
  }
  return exchange
}
