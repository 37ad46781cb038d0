/**
 * A client with an open WebSocket and an open event stream, and the checks of how both end. For the tests of this
 * folder.
 */

import type { RequestListener } from 'node:http'
// Not held by a test that holds the time of the gateway.
import { clearInterval, setInterval } from 'node:timers'
import type { Test } from 'tap'
import type { HeldTime } from '../support/held-time.ts'
import { until } from '../support/until.ts'
import type { World } from '../support/world.ts'
import { codeOf } from './frames.ts'
import { WebSocketClient, sendHandshake } from './support.ts'
import { metricsOf } from '../support/operations.ts'

/** ms of held time in each look */
const STEP = 50

/** Sends an event at once, then comments; `/slow` never gets a response; other paths get one at once. */
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

export function get(port: number, path: string, lines: readonly string[]): WebSocketClient {
  return new WebSocketClient(port).send([`GET ${path} HTTP/1.1`, 'Host: gw', ...lines, '', ''].join('\r\n'))
}

/** @param at prefix of `/ws` and `/sse` @param time passes while a test waits for the cut */
export async function openHeld(
  port: number,
  lines: readonly string[],
  at = '',
  time: HeldTime | null = null,
) {
  const socket = sendHandshake(port, `${at}/ws`, lines)
  const stream = get(port, `${at}/sse`, lines)
  await socket.opened()
  await stream.until('data: first')
  return {
    socket,
    stream,
    /** Both are cut, in a way that cannot be read as a normal end. */
    async cut(t: Test, code: string): Promise<void> {
      await until(() => {
        time?.pass(STEP)
        return socket.closed && stream.closed
      }, `the cut: ${code}`)
      const { closeFrame: close } = socket
      t.equal(close && codeOf(close), 1008, 'Close 1008')
      t.equal(close?.payload.subarray(2).toString(), code)
      t.match(stream.http, /^HTTP\/1\.1 200 /)
      t.notMatch(stream.http, /\r\n0\r\n/, 'the stream does not look complete')
    },
    /** Both stay open: further data arrives. */
    async staysOpen(t: Test): Promise<void> {
      const before = stream.http.length
      socket.sendText('still here')
      await socket.receives('still here')
      await until(() => stream.http.length > before || stream.closed, 'a beat')
      t.notOk(socket.closed || stream.closed, 'both stay open')
      t.equal(socket.closeFrame, undefined)
    },
    end(): void {
      socket.close()
      stream.close()
    },
  }
}

/** The number of re-evaluations, with any result. */
export async function reevaluated({ ops }: Pick<World, 'ops'>): Promise<number> {
  const text = await metricsOf({ ops })
  const found = text.matchAll(/^seatgate_decisions_again_total\{[^}]*\} (\d+)$/gm)
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Resolves after at least this number of further re-evaluations. */
export async function reevaluatedAgain(
  world: Pick<World, 'ops'>,
  before: number,
  more: number,
  time: HeldTime | null = null,
): Promise<void> {
  await until(
    async () => {
      time?.pass(STEP)
      return (await reevaluated(world)) >= before + more
    },
    'the re-evaluations',
    { pause: 50 },
  )
}
