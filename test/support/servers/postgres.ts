/**
 * Real PostgreSQL servers for tests: `startPostgres(t)` gives an empty one on loopback that ends with the
 * test. Its data directory is a copy of one that postgres-template.ts makes once a machine.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Child } from './child.ts'
import { queryOnce } from './clients.ts'
import { ordinaryUser, serverFolder } from './folder.ts'
import { onReservedPort } from './ports.ts'
import { configure, type PostgresOptions } from './postgres-config.ts'
import { copyTemplate, findPostgres, OWNER } from './postgres-template.ts'
import { releaseMemory } from './shared-memory.ts'
import { ownOptions } from './tls.ts'
import { until } from '../until.ts'

export type { PostgresOptions }

export class PostgresServer extends Child {
  readonly port: number
  readonly #password: string
  readonly #options: PostgresOptions

  constructor(port: number, folder: string, password: string, options: PostgresOptions) {
    super(folder)
    this.port = port
    this.#password = password
    this.#options = options
    configure(this.#data, port, options)
  }

  /** The URL of the database `postgres`, for the superuser. */
  get url(): string {
    return this.urlOf('postgres')
  }

  urlOf(database: string): string {
    return `postgres://${OWNER}:${this.#password}@127.0.0.1:${this.port}/${encodeURIComponent(database)}`
  }

  /** Makes an empty database, in UTF-8. Resolves with its URL. */
  async createDatabase(name: string): Promise<string> {
    await this.query(`CREATE DATABASE "${name.replaceAll('"', '""')}"`)
    return this.urlOf(name)
  }

  /** Executes one statement as the superuser, on a connection of its own. */
  query(text: string, values: unknown[] = [], database = 'postgres'): Promise<Record<string, unknown>[]> {
    const { tls } = this.#options
    const ssl = tls === undefined ? false : ownOptions(tls)
    const config = { connectionString: this.urlOf(database), ssl, connectionTimeoutMillis: 30_000 }
    return queryOnce(config, text, values)
  }

  /**
   * A standby of this server: all of them begin with the same data directory, so it streams everything since.
   * Resolves once commits here wait for it (`synchronous_standby_names`), and it has every commit that did
   * not.
   */
  async startStandby(t: Test): Promise<PostgresServer> {
    const primary = { port: this.port, user: OWNER, password: this.#password }
    const standby = await startPostgres(t, { ...this.#options, standbyOf: primary })
    await this.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`)
    await this.query('SELECT pg_reload_conf()')
    const states = () => this.query('SELECT sync_state FROM pg_stat_replication')
    await until(
      async () => (await states()).some(({ sync_state }) => sync_state === 'sync'),
      () => `the standby does not follow:\n${standby.log}`,
    )
    // The checkpointer makes commits wait; it has read the setting by the end of a checkpoint.
    await this.query('CHECKPOINT')
    // A standby counts as synchronous already at the end of an older timeline, long before the last commit.
    const [{ lsn } = {}] = await this.query('SELECT pg_current_wal_flush_lsn() AS lsn')
    const reached = `SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND flush_lsn >= $1`
    await until(
      async () => (await this.query(reached, [lsn])).length > 0,
      () => `the standby does not catch up:\n${standby.log}`,
    )
    return standby
  }

  /** Makes a standby a primary, on a timeline of its own. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()')
  }

  /** `fast`: once it has sent the clients away; `immediate`: without tidying up. */
  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
  }

  /** Starts the server on the same port with what was committed. A running server ends first. */
  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  /** Resolves once it accepts connections. */
  async start(): Promise<void> {
    const { program } = await findPostgres()
    await this.spawn({ program, args: ['-D', this.#data], user: ordinaryUser() })
    await this.comesUp(() => isReady(this.#data, this.pid))
  }

  get #data(): string {
    return join(this.ownFolder, 'data')
  }
}

/** Starts a server for the test. Resolves once it accepts connections. */
export async function startPostgres(t: Test, options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = serverFolder(t, 'postgres', ordinaryUser())
  const data = join(folder, 'data')
  const password = await copyTemplate(data)
  return onReservedPort(t, async (port) => {
    const server = new PostgresServer(port, folder, password, options)
    t.teardown(async () => {
      await server.stop('immediate')
      releaseMemory(data)
    })
    await server.start()
    return server
  })
}

/**
 * Whether the server is ready, like pg_ctl: postmaster.pid has its process id in the first line and its state
 * in the eighth.
 */
function isReady(data: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    return lines[0] === String(pid) && lines[7]?.trim() === 'ready'
  } catch {
    return false
  }
}
