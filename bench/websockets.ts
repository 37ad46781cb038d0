/**
 * The cost of a message on a WebSocket at a proxy: 64 bytes to an upstream that echoes them, on connections
 * that were authorised as they opened.
 */

import type { WebSocketLoad } from './load-settings.ts'
import { runClient } from './load-process.ts'
import { withPeer } from './measure.ts'
import type { Place } from './place.ts'
import { SPACE } from './names.ts'
import type { Peer } from './peers/peer.ts'
import { cpuOf } from './process-tree.ts'
import type { Program } from './program.ts'
import { CONNECTIONS } from './traffic.ts'
import { oneToken } from './workloads.ts'
import { token } from './world.ts'

/** Peers whose set-up here forwards WebSockets. */
export const SPEAKERS = ['seatgate', 'haproxy-jwt', 'haproxy', 'nginx-auth-request', 'nginx', 'caddy']

export interface WebSocketCost {
  readonly peer: string
  /** CPU microseconds of a message and its echo. */
  readonly cpu: number
  /** Messages a second. */
  readonly rate: number
}

export function measureWebSockets(
  peer: Peer,
  echo: Program,
  place: Place,
  seconds: number,
): Promise<WebSocketCost> {
  const plain = { port: echo.port, origin: echo.origin, ca: null }
  const there = { ...place, upstreams: { ...place.upstreams, plain } }
  const headers = [`Space: ${SPACE}`, `Authorization: Bearer ${token(place.world)}`]
  return withPeer({ peer, workload: oneToken }, there, async ({ port, pids }) => {
    const load = { port, connections: CONNECTIONS, headers, seconds }
    await talk({ ...load, seconds: Math.ceil(seconds / 2) })
    const before = cpuOf(pids)
    const { messages, rate } = await talk(load)
    return { peer: peer.name, cpu: (cpuOf(pids) - before) / messages, rate }
  })
}

function talk(load: WebSocketLoad): Promise<{ readonly messages: number; readonly rate: number }> {
  return runClient('websocket-client.ts', load)
}
