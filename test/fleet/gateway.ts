/** One gateway of a fleet: `seatgate start` in a process of its own, on the same ports after each restart. */

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { type ConfigurationOptions, writeConfiguration } from '../support/configuration.ts'
import { MAIN } from '../support/gateway-process.ts'
import { Child } from '../support/servers/child.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { reservePort } from '../support/servers/ports.ts'
import type { TcpProxy } from '../support/servers/proxy.ts'

export { MAIN }

export interface GatewaySetup {
  readonly name: string
  readonly configuration: ConfigurationOptions
  /** The section `redis:`; null: there is none. */
  readonly redis: string | null
  readonly workers: number
  /** Arguments before `start`: the program and its own arguments. */
  readonly program: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Proxies to the servers; null: a direct connection. */
  readonly toStore: TcpProxy | null
  readonly toRedis: TcpProxy | null
}

export class FleetGateway {
  readonly name: string
  readonly port: number
  readonly opsPort: number
  readonly file: string
  readonly toStore: TcpProxy | null
  readonly toRedis: TcpProxy | null
  readonly #setup: GatewaySetup
  readonly #folder: string
  #child: Child | null = null
  /** Neither frozen nor dead. */
  #awake = false
  /** Number of freezes and kills of it or of one of its processes. */
  interruptions = 0

  private constructor(setup: GatewaySetup, folder: string, port: number, opsPort: number) {
    this.name = setup.name
    this.#setup = setup
    this.#folder = folder
    this.port = port
    this.opsPort = opsPort
    this.toStore = setup.toStore
    this.toRedis = setup.toRedis
    const { configuration, redis, workers } = setup
    this.file = writeConfiguration(folder, {
      ...configuration,
      listen: `127.0.0.1:${port}`,
      ops: `127.0.0.1:${opsPort}`,
      top: [
        ...(configuration.top ?? []),
        ...(redis === null ? [] : [`redis: ${JSON.stringify(redis)}`]),
        `workers: ${workers}`,
        'drain: 1s',
      ],
    })
  }

  /** Configures the gateway without starting it. */
  static async prepare(t: Test, setup: GatewaySetup): Promise<FleetGateway> {
    const folder = serverFolder(t, `gateway-${setup.name}`)
    const gateway = new FleetGateway(setup, folder, await reservePort(t), await reservePort(t))
    t.teardown(() => gateway.kill())
    return gateway
  }

  get awake(): boolean {
    return this.#awake
  }

  /** The end of its log if it ended by itself; null while it runs and after an intended end. */
  get crash(): string | null {
    return this.#awake && !this.#current.running ? this.remarks : null
  }

  get pid(): number {
    return this.#current.pid
  }

  /** Its worker processes, in the order of their start. */
  get workers(): number[] {
    const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
    return rows.flatMap(([child = 0, parent]) => (parent === this.pid ? [child] : []))
  }

  /** Its log since the first start. */
  get log(): string {
    return this.#current.log
  }

  /** Null while it runs. */
  get exitCode(): number | null {
    return this.#current.exitCode
  }

  /** Adds a line to its configuration, from its next start on. */
  configure(line: string): void {
    const [key] = line.split(':')
    const others = readFileSync(this.file, 'utf8').split('\n')
    writeFileSync(this.file, [...others.filter((each) => !each.startsWith(`${key}:`)), line].join('\n'))
  }

  /** The end of its log, without request lines. */
  get remarks(): string {
    const lines = this.log.split('\n').filter((line) => !line.includes('"msg":"request"'))
    return lines.slice(-10).join('\n')
  }

  /** @param patience ms */
  async start(patience = 120_000): Promise<void> {
    const { program, env } = this.#setup
    const args = [...program, 'start', '--config', this.file]
    this.#child = await Child.start({ program: { path: process.execPath, env }, args, folder: this.#folder })
    await this.#child.ready(async () => (await this.ready())['status'] === 'ready', patience)
    this.#awake = true
  }

  /** Stops all its processes; connections stay open. */
  async freeze(): Promise<void> {
    this.#awake = false
    this.interruptions++
    await this.#current.freeze()
  }

  thaw(): void {
    this.#current.thaw()
    this.#awake = true
  }

  /** Sends SIGKILL to all its processes. */
  async kill(): Promise<void> {
    this.#awake = false
    this.interruptions++
    await this.#child?.kill()
  }

  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Ends it gracefully. */
  async end(): Promise<void> {
    this.#awake = false
    await this.#current.end('SIGTERM')
  }

  /** The body of `/readyz`; empty without a response. */
  async ready(): Promise<Record<string, unknown>> {
    const answer = await fetch(`http://127.0.0.1:${this.opsPort}/readyz`).catch(() => null)
    return answer === null ? {} : ((await answer.json()) as Record<string, unknown>)
  }

  /** The sum of a metric's samples with these labels. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.opsPort}/metrics`)).text()
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    const samples = text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    if (samples.length === 0) return Number.NaN
    return samples
      .filter((line) => wanted.every((each) => line.includes(each)))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }

  get #current(): Child {
    if (this.#child === null) throw new Error(`gateway ${this.name} was not started`)
    return this.#child
  }
}
