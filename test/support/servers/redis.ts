/**
 * Real Redis servers for tests: `startRedis(t)` gives one that is empty, keeps nothing on disk, listens on
 * loopback and ends with the test. Groups of them are in redis-groups.ts.
 */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import { findProgram, type Program } from './binaries.ts'
import { Child } from './child.ts'
import { serverFolder } from './folder.ts'
import { onReservedPort } from './ports.ts'
import { configOf, HARNESS, type RedisOptions } from './redis-config.ts'
import { ownOptions } from './tls.ts'

export type { RedisOptions }

/** Milliseconds within which a server that is not frozen answers, on a slow machine too. */
const PATIENCE = 30_000

export class RedisServer extends Child {
  readonly port: number
  readonly #options: RedisOptions
  readonly #program: Program

  constructor(port: number, folder: string, program: Program, options: RedisOptions) {
    super(folder)
    this.port = port
    this.#program = program
    this.#options = options
    writeFileSync(this.#file, configOf(port, folder, options), { mode: 0o600 })
  }

  /** The URL, with the password. */
  get url(): string {
    const { user, password, tls } = this.#options
    const login = user ? `${user.name}:${user.password}@` : password === undefined ? '' : `:${password}@`
    return `redis${tls === undefined ? '' : 's'}://${login}127.0.0.1:${this.port}`
  }

  /** Executes one command on a connection of its own, as a user with all rights. */
  async command(name: string, ...args: (string | number)[]): Promise<unknown> {
    const { tls, sentinel = false, password } = this.#options
    const client = new Redis(this.port, '127.0.0.1', {
      ...(!sentinel ? HARNESS : password === undefined ? {} : { password }),
      ...(tls === undefined ? {} : { tls: ownOptions(tls) }),
      lazyConnect: true,
      enableReadyCheck: false,
      retryStrategy: () => null,
      commandTimeout: PATIENCE,
    })
    // The rejection reports it too.
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.call(name, ...args)
    } finally {
      client.disconnect()
    }
  }

  /** The fields of `INFO`. */
  async info(section = 'default'): Promise<Record<string, string>> {
    const text = String(await this.command('INFO', section))
    const fields = text.matchAll(/^([^#:\r\n]+):(.*)\r$/gm)
    return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]))
  }

  /** Ends the server in order; clients see their connections closed. */
  async stop(): Promise<void> {
    await this.end()
  }

  /** Starts the server on the same port: with what it held, if it was running, or empty. */
  async restart({ empty = false }: { empty?: boolean } = {}): Promise<void> {
    // A sentinel's memory is its configuration file.
    const keep = !empty && this.running && !this.#options.sentinel
    const dump = join(this.ownFolder, 'dump.rdb')
    this.thaw()
    if (keep) await this.command('SAVE')
    await this.stop()
    if (empty) rmSync(dump, { force: true })
    await this.start()
    // Otherwise a later crash would bring back what it holds now.
    if (keep) rmSync(dump)
  }

  /** Resolves once it answers. */
  async start(): Promise<void> {
    const args = [this.#file, ...(this.#options.sentinel ? ['--sentinel'] : [])]
    await this.spawn({ program: this.#program, args })
    await this.comesUp(async () => {
      const { process_id: answering } = await this.info('server').catch(() => ({ process_id: null }))
      return answering === String(this.pid)
    })
  }

  get #file(): string {
    return join(this.ownFolder, 'redis.conf')
  }
}

/** Starts a server for the test. Resolves once it answers. */
export async function startRedis(t: Test, options: RedisOptions = {}): Promise<RedisServer> {
  const program = await findProgram('redis-server')
  const folder = serverFolder(t, 'redis')
  return onReservedPort(t, async (port) => {
    const server = new RedisServer(port, folder, program, options)
    t.teardown(() => server.stop())
    await server.start()
    return server
  })
}
