/**
 * Connections of HTTP/2 that a tenant shares with the attacker: to a service, and of a proxy in front of the
 * gateway.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadCores, which } from '../cores.ts'
import type { Ending } from '../harness.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import { sharingHaproxy } from '../../test/support/servers/sharing-haproxy.ts'
import { nginxCommand, nginxConfiguration } from '../upstreams.ts'

/** Starts a service of HTTP/2 without TLS. Returns its origin; null if nginx is not installed. */
export async function startNginx(ending: Ending, folder: string): Promise<string | null> {
  const program = which('nginx')
  if (program === null) return null
  const port = await reservePort(ending.t)
  const file = join(folder, 'nginx-h2c.conf')
  const server = `server { listen 127.0.0.1:${port} http2; access_log off; location / { return 200 ok; } }`
  writeFileSync(file, nginxConfiguration(folder, 1, server))
  const launch = { command: nginxCommand(program, file), port, cores: loadCores(1), folder }
  return (await Program.start(ending, launch)).origin
}

/**
 * Starts HAProxy, which shares its connections to the gateway among clients.
 *
 * @param gateway a port with TLS and HTTP/2
 */
export async function startProxy(ending: Ending, folder: string, gateway: number): Promise<Program> {
  const port = await reservePort(ending.t)
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, sharingHaproxy(port, gateway))
  const command = [which('haproxy') ?? 'haproxy', '-db', '-f', file]
  return Program.start(ending, { command, port, cores: loadCores(1), folder })
}
