/**
 * A real PgBouncer in front of a PostgreSQL of the test. It logs in as the superuser, and admits every
 * client.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { findProgram } from './binaries.ts'
import { Child } from './child.ts'
import { queryOnce } from './clients.ts'
import { giveTo, ordinaryUser, serverFolder } from './folder.ts'
import { onReservedPort } from './ports.ts'
import type { PostgresServer } from './postgres.ts'

export interface PgBouncerOptions {
  readonly mode: 'session' | 'transaction' | 'statement'
  /** Sessions of one database. */
  readonly size?: number
  /** Additional lines of its section. */
  readonly settings?: readonly string[]
}

export class PgBouncer extends Child {
  readonly port: number

  constructor(port: number, folder: string) {
    super(folder)
    this.port = port
  }

  static async start(t: Test, postgres: PostgresServer, options: PgBouncerOptions): Promise<PgBouncer> {
    const program = await findProgram('pgbouncer')
    const user = ordinaryUser()
    const folder = serverFolder(t, 'pgbouncer', user)
    const file = join(folder, 'pgbouncer.ini')
    return onReservedPort(t, async (port) => {
      const server = new PgBouncer(port, folder)
      t.teardown(() => server.end())
      writeFileSync(file, configOf(port, postgres, options))
      giveTo(file, user, 0o600)
      await server.spawn({ program, args: [file], user })
      const isUp = () => server.query('SHOW VERSION').catch(() => null)
      await server.comesUp(async () => (await isUp()) !== null)
      return server
    })
  }

  urlOf(database: string): string {
    return `postgres://app@127.0.0.1:${this.port}/${database}`
  }

  /** One statement, on a connection of its own, as another program of the pool has it. */
  query(text: string, database = 'pgbouncer'): Promise<Record<string, unknown>[]> {
    return queryOnce({ connectionString: this.urlOf(database), connectionTimeoutMillis: 5000 }, text)
  }
}

function configOf(port: number, postgres: PostgresServer, options: PgBouncerOptions): string {
  const { username, password } = new URL(postgres.url)
  const { mode, size = 10, settings = [] } = options
  return `[databases]
* = host=127.0.0.1 port=${postgres.port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
admin_users = app
pool_mode = ${mode}
default_pool_size = ${size}
${settings.join('\n')}
`
}
