/** Somebody who has a WebSocket and an event stream open, and what the end of both must look like. For the tests of this folder. */

import type { RequestListener } from 'node:http'
import type { Test } from 'tap'
import type { World } from '../support/world.ts'
import { codeOf } from './frames.ts'
import { RawClient, shake, until } from './support.ts'

/** An event at once, and comments ever after; `/slow` is never answered; the rest at once. */
export const serveEvents: RequestListener = (request, response) => {
  const path = request.url ?? ''
  if (path.startsWith('/slow')) return void request.resume()
  if (!path.endsWith('/sse')) return void request.resume().on('end', () => response.end('plain'))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('data: first\n\n')
  const beat = setInterval(() => response.write(': beat\n\n'), 100)
  response.on('close', () => clearInterval(beat))
}

export const HELD_ROUTES = [
  'GET /ws: trainings:list',
  'GET /sse: trainings:list',
  'GET /slow: trainings:list',
  'POST /slow: trainings:list',
  'GET /me: authenticated',
  'GET /me/ws: authenticated',
  'GET /me/sse: authenticated',
  'GET /open/ws: public',
  'GET /open/sse: public',
]

export function get(port: number, path: string, lines: readonly string[]): RawClient {
  return new RawClient(port).write([`GET ${path} HTTP/1.1`, 'Host: gw', ...lines, '', ''].join('\r\n'))
}

export class Held {
  readonly socket: RawClient
  readonly stream: RawClient

  constructor(socket: RawClient, stream: RawClient) {
    this.socket = socket
    this.stream = stream
  }

  /** @param at of `/ws` and `/sse` */
  static async open(port: number, lines: readonly string[], at = ''): Promise<Held> {
    const held = new Held(shake(port, `${at}/ws`, lines), get(port, `${at}/sse`, lines))
    await held.socket.opened()
    await until(() => held.stream.http.includes('data: first') || held.stream.closed, 'the first event')
    if (!held.stream.http.includes('data: first')) throw new Error(held.stream.http)
    return held
  }

  /** Both are cut, each so that nobody takes it for a good end. */
  async cut(t: Test, code: string): Promise<void> {
    await until(() => this.socket.closed && this.stream.closed, `cut: ${code}`, 10_000)
    const { close } = this.socket
    t.equal(close && codeOf(close), 1008, 'Close 1008')
    t.equal(close?.payload.subarray(2).toString(), code)
    t.match(this.stream.http, /^HTTP\/1\.1 200 /)
    t.notMatch(this.stream.http, /\r\n0\r\n/, 'the stream does not look whole')
  }

  /** Both go on: what is said from now on arrives. */
  async goesOn(t: Test): Promise<void> {
    const before = this.stream.http.length
    this.socket.say('still here')
    await this.socket.hears('still here')
    await until(() => this.stream.http.length > before, 'a beat')
    t.notOk(this.socket.closed || this.stream.closed, 'both go on')
    t.equal(this.socket.close, undefined)
  }

  end(): void {
    this.socket.socket.destroy()
    this.stream.socket.destroy()
  }
}

/** How often what is open has been decided again, whatever came of it. */
export async function reevaluated({ ops }: Pick<World, 'ops'>): Promise<number> {
  const text = await (await fetch(`${ops}/metrics`)).text()
  const found = text.matchAll(/^seatgate_decisions_again_total\{[^}]*\} (\d+)$/gm)
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Resolves when at least so many more decisions have been made again than before. */
export async function looksAgain(world: Pick<World, 'ops'>, before: number, more: number): Promise<void> {
  const end = Date.now() + 10_000
  while ((await reevaluated(world)) < before + more) {
    if (Date.now() > end) throw new Error('it was not decided again')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
