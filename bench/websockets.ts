/**
 * The cost of a message on a WebSocket at a proxy: 64 bytes to an upstream that echoes them, on connections that were
 * authorised as they opened.
 */

import type { WebSocketLoad } from './websocket-load.ts'
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bound, loadCores } from './cores.ts'
import { type Place, withPeer } from './measure.ts'
import { SPACE } from './names.ts'
import type { Peer } from './peers/peer.ts'
import { cpuOf } from './process-tree.ts'
import { freePort, Program } from './program.ts'
import { CONNECTIONS } from './traffic.ts'
import { oneToken } from './workloads.ts'
import { token } from './world.ts'

const CLIENT = fileURLToPath(new URL('./websocket-client.ts', import.meta.url))
const ECHO = fileURLToPath(new URL('./servers/websocket-echo.ts', import.meta.url))

/** Milliseconds beyond its time that the client may take. */
const MARGIN = 30_000

/** Peers whose set-up here forwards WebSockets. */
export const SPEAKERS = ['seatgate', 'haproxy-jwt', 'haproxy', 'nginx-auth-request', 'nginx', 'caddy']

export interface WebSocketCost {
  readonly peer: string
  /** CPU microseconds of a message and its echo. */
  readonly cpu: number
  /** Messages a second. */
  readonly rate: number
}

/** The upstream of all of them. */
export async function startEcho({ folder }: Place): Promise<Program> {
  const own = join(folder, 'echo')
  mkdirSync(own)
  const port = await freePort()
  const command = [process.execPath, ECHO, `${port}`]
  return Program.start({ command, port, cores: loadCores(1), folder: own })
}

export function measureWebSockets(
  peer: Peer,
  echo: Program,
  place: Place,
  seconds: number,
): Promise<WebSocketCost> {
  const plain = { port: echo.port, origin: `http://127.0.0.1:${echo.port}`, ca: null }
  const there = { ...place, upstreams: { ...place.upstreams, plain } }
  const headers = [`Space: ${SPACE}`, `Authorization: Bearer ${token(place.world)}`]
  return withPeer({ peer, workload: oneToken }, there, async ({ port, pids }) => {
    const load = { port, connections: CONNECTIONS, headers, seconds }
    await talk(place, { ...load, seconds: Math.ceil(seconds / 2) })
    const before = cpuOf(pids)
    const { messages, rate } = await talk(place, load)
    return { peer: peer.name, cpu: (cpuOf(pids) - before) / messages, rate }
  })
}

/** Passed in a file, because a failure shows the command line, which must not contain a token. */
async function talk({ folder }: Place, load: WebSocketLoad): Promise<{ messages: number; rate: number }> {
  const file = join(folder, 'websockets.json')
  writeFileSync(file, JSON.stringify(load), { mode: 0o600 })
  const [program = '', ...args] = bound(loadCores(1), [process.execPath, CLIENT, file])
  const { stdout } = await promisify(execFile)(program, args, { timeout: load.seconds * 1000 + MARGIN })
  return JSON.parse(stdout) as { messages: number; rate: number }
}
