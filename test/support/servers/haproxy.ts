/** A real HAProxy that leads to the primary of a cluster. */

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

  /**
   * Returns a function that tells whether HAProxy has left this server since the call, and closed the
   * connections to it.
   */
  leaving(name: string): () => boolean {
    const from = this.log.length
    return () => this.log.slice(from).includes(`Server postgres/${name} is DOWN`)
  }

  /** @param section of its configuration, with a server for each member */
  static async start(t: Test, members: readonly Member[], section: string): Promise<HaProxy> {
    const program = await findProgram('haproxy')
    const folder = serverFolder(t, 'haproxy')
    const file = join(folder, 'haproxy.cfg')
    return onReservedPort(t, async (port) => {
      const server = new HaProxy(port, folder)
      t.teardown(() => server.kill())
      writeFileSync(file, configOf(port, members, section))
      await server.spawn({ program, args: ['-db', '-f', file] })
      return server
    })
  }
}

/** The section, with the places of this cluster. */
function configOf(port: number, members: readonly Member[], section: string): string {
  let text = section.replace('bind :5432', `bind 127.0.0.1:${port}`)
  for (const { name, port: server, rest } of members)
    text = text.replace(
      new RegExp(`server ${name} .*`),
      `server ${name} 127.0.0.1:${server} check port ${rest}`,
    )
  return `global\n  log stderr format raw local0 notice\ndefaults\n  log global\n${text}`
}
