/** Caddy as a plain reverse proxy, and with forward_auth to the same decision service as nginx. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { peerCores, which } from '../cores.ts'
import type { Ending } from '../harness.ts'
import { Program } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import { launchServer, runningOf } from './node-program.ts'
import type { Peer, Setup } from './peer.ts'

export const caddy: Peer = {
  name: 'caddy',
  label: 'Caddy',
  authorises: false,
  available,
  start: async (setup, ending) => runningOf([await launch(setup, null, ending)]),
}

export const caddyForwardAuth: Peer = {
  name: 'caddy-forward-auth',
  label: 'Caddy, forward_auth to a service in Node.js',
  authorises: true,
  available,
  start: async (setup, ending) => {
    const service = await launchServer('decision-service', setup, true, ending)
    return runningOf([service, await launch(setup, service.port, ending)])
  },
}

function available(): string | null {
  return which('caddy') === null ? 'not installed: apt-get install caddy' : null
}

async function launch(setup: Setup, service: number | null, ending: Ending): Promise<Program> {
  const { folder, workers } = setup
  const port = await reservePort(ending.t)
  const file = join(folder, 'Caddyfile')
  writeFileSync(file, caddyfile(setup, port, service))
  const command = [which('caddy') ?? 'caddy', 'run', '--adapter', 'caddyfile', '--config', file]
  const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  return Program.start(ending, { command, port, cores: peerCores(workers), folder, env })
}

function caddyfile({ folder, upstream }: Setup, port: number, service: number | null): string {
  return `{
  admin off
  auto_https off
  log {
    output file ${folder}/caddy.log
    level ERROR
  }
}
http://:${port} {
  bind 127.0.0.1
  log {
    output file ${folder}/access.log {
      roll_disabled
    }
  }
${service === null ? '' : forwardAuth(service)}  reverse_proxy ${upstream.origin} {
    transport http {
      keepalive_idle_conns_per_host 256
${upstream.ca === null ? '' : `      tls_trusted_ca_certs ${upstream.ca}\n`}    }
${service === null ? '' : '    header_up -Authorization\n'}  }
}
`
}

function forwardAuth(service: number): string {
  return `  forward_auth 127.0.0.1:${service} {
    uri /decision
    copy_headers X-User
    transport http {
      keepalive_idle_conns_per_host 256
    }
  }
`
}
