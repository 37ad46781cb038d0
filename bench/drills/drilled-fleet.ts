/**
 * The fleet of a drill: three gateways on PostgreSQL and Redis, HAProxy in front of them, and the address
 * that starts the drill.
 */

import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { listen } from '../../test/support/listen.ts'
import { findProgram } from '../../test/support/servers/binaries.ts'
import { type Fleet, startFleet } from '../../test/fleet/fleet.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import type { Ending } from '../harness.ts'
import type { Drill } from './drill.ts'

/** HAProxy notices the end before the listener closes, and requests in flight have time. */
const ENDS = ['drain_delay: 2s', 'drain: 10s']

export interface DrilledFleet {
  readonly fleet: Fleet
  /** The address of HAProxy. */
  readonly front: string
}

export async function startDrilledFleet(
  ending: Ending,
  folder: string,
  { fleet: options }: Drill,
): Promise<DrilledFleet> {
  const linesOf = (port: number) => [`advertise: http://127.0.0.1:${port}`, ...ENDS]
  const fleet = await startFleet(ending.t, { postgres: { fsync: true }, proxies: [], ...options, linesOf })
  const port = await reservePort(ending.t)
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, haproxyOf(port, fleet))
  const { path, env } = await findProgram('haproxy')
  await Program.start(ending, { command: [path, '-db', '-f', file], port, folder, env })
  return { fleet, front: `http://127.0.0.1:${port}` }
}

/**
 * HAProxy's configuration: each request goes to the next gateway that is ready. After two failed checks, a
 * gateway gets none.
 */
function haproxyOf(port: number, { gateways }: Fleet): string {
  const servers = gateways.map(
    (gateway) =>
      `  server ${gateway.name} 127.0.0.1:${gateway.port} check port ${new URL(gateway.ops).port} inter 250ms fall 2 rise 1 on-marked-down shutdown-sessions`,
  )
  return `global
  nbthread 1
defaults
  mode http
  timeout connect 1s
  timeout client 75s
  timeout server 30s
  timeout http-request 10s
  timeout check 2s
frontend front
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance roundrobin
  option forwardfor
  option httpchk GET /readyz
  option redispatch
  retry-on conn-failure
${servers.join('\n')}
`
}

/**
 * Does the work at the first request, whose response ends with it.
 *
 * @returns the command that asks for it, for `--during`
 */
export async function commandFor(ending: Ending, work: () => Promise<void>): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200).flushHeaders()
    work().then(
      () => response.end(),
      (cause: unknown) => {
        console.error(cause)
        response.destroy()
      },
    )
  })
  const port = await listen(ending.t, server)
  // A response that is cut off is an error, which ends the program with 1.
  const script = `require('node:http').get('http://127.0.0.1:${port}', (response) => response.resume())`
  return `'${process.execPath}' -e "${script}"`
}
