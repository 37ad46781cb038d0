/** A real etcd of one member, on loopback, for the cluster manager of a test. */

import { join } from 'node:path'
import type { Test } from 'tap'
import { findProgram } from './binaries.ts'
import { Child } from './child.ts'
import { serverFolder } from './folder.ts'
import { onReservedPort, reservePort } from './ports.ts'

export class Etcd extends Child {
  readonly port: number

  private constructor(port: number, folder: string) {
    super(folder)
    this.port = port
  }

  static async start(t: Test, { v2 }: { readonly v2: boolean }): Promise<Etcd> {
    const program = await findProgram('etcd')
    const folder = serverFolder(t, 'etcd')
    const peers = `http://127.0.0.1:${await reservePort(t)}`
    return onReservedPort(t, async (port) => {
      const server = new Etcd(port, folder)
      t.teardown(() => server.kill())
      const clients = `http://127.0.0.1:${port}`
      const options = {
        name: 'only',
        'data-dir': join(folder, 'data'),
        'listen-client-urls': clients,
        'advertise-client-urls': clients,
        'listen-peer-urls': peers,
        'initial-advertise-peer-urls': peers,
        'initial-cluster': `only=${peers}`,
      }
      const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
      // Later versions do not know the option.
      if (v2) args.push('--enable-v2')
      await server.spawn({ program, args })
      const health = () => fetch(`${clients}/health`).then((answer) => answer.ok)
      await server.comesUp(() => health().catch(() => false))
      return server
    })
  }
}
