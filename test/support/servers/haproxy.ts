/** A real HAProxy that leads to the primary of a cluster, as Patroni's manual configures it. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { findProgram } from './binaries.ts'
import { Child } from './child.ts'
import { serverFolder } from './folder.ts'
import { onReservedPort } from './ports.ts'

/** A server, and the port of its cluster manager. */
export interface Member {
  readonly name: string
  readonly port: number
  readonly rest: number
}

export class HaProxy extends Child {
  readonly port: number

  private constructor(port: number, folder: string) {
    super(folder)
    this.port = port
  }

  /** Tells whether it has left this server since now, and closed the connections to it. */
  leaving(name: string): () => boolean {
    const from = this.log.length
    return () => this.log.slice(from).includes(`Server primary/${name} is DOWN`)
  }

  static async start(t: Test, members: readonly Member[]): Promise<HaProxy> {
    const program = await findProgram('haproxy')
    const folder = serverFolder(t, 'haproxy')
    const file = join(folder, 'haproxy.cfg')
    return onReservedPort(t, async (port) => {
      const server = new HaProxy(port, folder)
      t.teardown(() => server.kill())
      writeFileSync(file, configOf(port, members))
      await server.spawn({ program, args: ['-db', '-f', file] })
      return server
    })
  }
}

/** A primary whose manager is silent is left after 3 s, and its connections are closed. */
function configOf(port: number, members: readonly Member[]): string {
  const servers = members.map(
    ({ name, port, rest }) => `  server ${name} 127.0.0.1:${port} check port ${rest}`,
  )
  return `global
  log stderr format raw local0 notice
defaults
  mode tcp
  log global
  timeout connect 1s
  timeout client 30m
  timeout server 30m
  timeout check 1s
listen primary
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`
}
