/**
 * One node of a cluster: Patroni, and the PostgreSQL that it starts. It reaches etcd through a proxy of its
 * own.
 */

import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { findProgram, type Program } from './binaries.ts'
import { Child } from './child.ts'
import { queryOnce } from './clients.ts'
import type { Etcd } from './etcd.ts'
import { giveTo, ordinaryUser, serverFolder } from './folder.ts'
import { reservePort } from './ports.ts'
import { configure } from './postgres-config.ts'
import { copyTemplate, findPostgres, OWNER } from './postgres-template.ts'
import { continueFamily, stopFamily } from './processes.ts'
import { startTcpProxy, type TcpProxy } from './proxy.ts'
import { releaseMemory } from './shared-memory.ts'

/**
 * Seconds. Patroni requires `ttl >= loop_wait + 2 * retry_timeout`. The rest of `ttl` is for HAProxy, on a
 * slow machine too: it leaves a primary with a silent manager before the manager's key expires and another is
 * promoted.
 */
const TIMES = { ttl: 10, loop_wait: 1, retry_timeout: 3 }

/** What Patroni does after a crash of PostgreSQL: it promotes another one, or starts the same again. */
export type AfterCrash = 'replace' | 'restart'

const clusterOf = (afterCrash: AfterCrash) => ({
  ...TIMES,
  primary_start_timeout: afterCrash === 'replace' ? 0 : 300,
  synchronous_mode: true,
  synchronous_mode_strict: true,
  postgresql: { use_pg_rewind: true, remove_data_directory_on_rewind_failure: true },
})

/** Milliseconds for what Patroni does by itself, on a slow machine too. */
export const PATIENCE = 180_000

export class PatroniNode extends Child {
  readonly name: string
  readonly port: number
  readonly rest: number
  readonly toEtcd: TcpProxy
  readonly #password: string
  #stopped: readonly number[] = []

  constructor(name: string, folder: string, password: string, ports: [number, number], toEtcd: TcpProxy) {
    super(folder)
    this.name = name
    ;[this.port, this.rest] = ports
    this.#password = password
    this.toEtcd = toEtcd
  }

  /** The clusters' nodes begin with the same data, so that the others stream from the first. */
  static async make(t: Test, name: string, etcd: Etcd, afterCrash: AfterCrash): Promise<PatroniNode> {
    const folder = serverFolder(t, 'patroni', ordinaryUser())
    const password = await copyTemplate(join(folder, 'data'))
    const ports: [number, number] = [await reservePort(t), await reservePort(t)]
    const node = new PatroniNode(name, folder, password, ports, await startTcpProxy(t, etcd))
    t.teardown(async () => {
      await node.kill()
      releaseMemory(node.#data)
    })
    configure(node.#data, node.port, { fsync: false, settings: ['wal_retrieve_retry_interval = 200ms'] })
    // The configuration of a cluster that has none in etcd yet.
    node.#write('data/patroni.dynamic.json', clusterOf(afterCrash))
    return node
  }

  async start(): Promise<void> {
    const { path, env } = await patroni()
    const [, python = 'python3'] = /^#! *(\S+)/.exec(readFileSync(path, 'latin1')) ?? []
    const config = this.#write('patroni.json', await this.#config())
    const launcher = join(import.meta.dirname, 'patroni-launcher.py')
    await this.spawn({
      program: { path: python, env },
      args: [launcher, this.#pidFile, path, config],
      user: ordinaryUser(),
    })
    await this.comesUp(async () => (await this.ask('/liveness')) !== null, { patience: PATIENCE })
  }

  /** The response of its manager; null without one. */
  async ask(path: string, body?: unknown): Promise<Response | null> {
    const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const signal = AbortSignal.timeout(body === undefined ? 2000 : PATIENCE)
    return fetch(`http://127.0.0.1:${this.rest}${path}`, { ...request, signal }).catch(() => null)
  }

  async isPrimary(): Promise<boolean> {
    return (await this.ask('/primary'))?.status === 200
  }

  urlOf(database: string, port = this.port): string {
    return `postgres://${OWNER}:${this.#password}@127.0.0.1:${port}/${database}`
  }

  /** `pg_ctl stop -m immediate`: resolves once PostgreSQL has ended. */
  async endImmediately(): Promise<void> {
    const { program } = await findPostgres()
    const command = join(dirname(program.path), 'pg_ctl')
    const args = ['stop', '-m', 'immediate', '-D', this.#data]
    await promisify(execFile)(command, args, { ...ordinaryUser(), cwd: this.ownFolder, env: program.env })
  }

  /** Whether a commit waits for the synchronous standby. */
  async waits(): Promise<boolean> {
    const sql = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'`
    return (await queryOnce({ connectionString: this.urlOf('postgres') }, sql)).length > 0
  }

  /** Its PostgreSQL goes on. */
  async freezeManager(): Promise<void> {
    this.#stopped = await stopFamily(Number(readFileSync(this.#pidFile, 'utf8')))
  }

  thawManager(): void {
    continueFamily(this.#stopped)
  }

  get #data(): string {
    return join(this.ownFolder, 'data')
  }

  get #pidFile(): string {
    return join(this.ownFolder, 'patroni.pid')
  }

  /** JSON is YAML. */
  #write(name: string, value: unknown): string {
    const file = join(this.ownFolder, name)
    writeFileSync(file, JSON.stringify(value))
    giveTo(file, ordinaryUser(), 0o600)
    return file
  }

  async #config() {
    const { program } = await findPostgres()
    const rest = `127.0.0.1:${this.rest}`
    const place = `127.0.0.1:${this.port}`
    const user = { username: OWNER, password: this.#password }
    return {
      scope: 'seatgate',
      name: this.name,
      restapi: { listen: rest, connect_address: rest },
      [(await keepsLock()) ? 'etcd3' : 'etcd']: {
        host: `127.0.0.1:${this.toEtcd.port}`,
        use_proxies: true,
      },
      postgresql: {
        listen: place,
        connect_address: place,
        data_dir: this.#data,
        bin_dir: dirname(program.path),
        pgpass: join(this.ownFolder, 'pgpass'),
        authentication: { superuser: user, replication: user },
      },
    }
  }
}

/** Patroni with the libraries of PostgreSQL, which it starts. */
async function patroni(): Promise<Program> {
  const { path, env } = await findProgram('patroni')
  const { program } = await findPostgres()
  const libraries = [env, program.env].map(({ LD_LIBRARY_PATH = '' }) => LD_LIBRARY_PATH)
  return { path, env: { ...env, LD_LIBRARY_PATH: libraries.filter((each) => each !== '').join(':') } }
}

/**
 * Whether a manager that was frozen respects the lock of another. With version 3 of etcd's protocol, Patroni
 * 3.0.2 takes it back, and what the other primary has acknowledged is lost (patroni/patroni#2689 and #2787).
 */
export async function keepsLock(): Promise<boolean> {
  const { path, env } = await patroni()
  const { stdout } = await promisify(execFile)(path, ['--version'], { env: { ...process.env, ...env } })
  const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? '0'
  return version.localeCompare('3.1.0', 'en', { numeric: true }) >= 0
}
