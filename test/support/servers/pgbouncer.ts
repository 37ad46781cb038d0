/** A real PgBouncer in front of a PostgreSQL of the test. It logs in there as the superuser, and admits anybody. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Test } from 'tap'
import { findProgram, type Program } from './binaries.ts'
import { giveTo, ordinaryUser, serverFolder } from './folder.ts'
import { onReservedPort } from './ports.ts'
import type { PostgresServer } from './postgres.ts'
import { Server } from './server.ts'

export interface PgBouncerOptions {
  readonly mode: 'session' | 'transaction' | 'statement'
  /** Sessions of one database. */
  readonly size?: number
  /** Lines more of its section. */
  readonly settings?: readonly string[]
}

export class PgBouncer extends Server {
  static async start(t: Test, postgres: PostgresServer, options: PgBouncerOptions): Promise<PgBouncer> {
    const program = await findProgram('pgbouncer')
    const folder = serverFolder(t, 'pgbouncer', ordinaryUser())
    return onReservedPort(t, async (port) => {
      const server = new PgBouncer(port, folder)
      t.teardown(() => server.end('SIGTERM'))
      const file = join(folder, 'pgbouncer.ini')
      writeFileSync(file, configOf(port, postgres, options))
      giveTo(file, ordinaryUser(), 0o600)
      await server.#launch(program, file)
      return server
    })
  }

  urlOf(database: string): string {
    return `postgres://app@127.0.0.1:${this.port}/${database}`
  }

  /** One statement, on a connection of its own, as another program of the pool has it. */
  async query(text: string, database = 'pgbouncer'): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.urlOf(database), connectionTimeoutMillis: 5000 })
    // Said by the rejection too.
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query(text)).rows
    } finally {
      await client.end().catch(() => {})
    }
  }

  async #launch(program: Program, file: string): Promise<void> {
    await this.launch({ program, args: [file], user: ordinaryUser() }, async () =>
      this.query('SHOW VERSION').then(
        () => true,
        () => false,
      ),
    )
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
