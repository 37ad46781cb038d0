/** One gateway of a fleet: `seatgate start` in a process of its own, on the same ports after each restart. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { ConfigurationOptions } from '../support/configuration.ts'
import { GatewayProcess, type GatewayProcessOptions } from '../support/gateway-process.ts'
import { reservePort } from '../support/servers/ports.ts'
import type { TcpProxy } from '../support/servers/proxy.ts'
import { workersOf } from '../support/workers.ts'

export interface GatewaySetup extends Pick<GatewayProcessOptions, 'program' | 'env'> {
  readonly name: string
  readonly configuration: ConfigurationOptions
  /** The section `redis:`; null: there is none. */
  readonly redis: string | null
  readonly workers: number
  /** Proxies to the servers; left out or null: a direct connection. */
  readonly toStore?: TcpProxy | null
  readonly toRedis?: TcpProxy | null
}

export class FleetGateway {
  readonly name: string
  readonly port: number
  /** `http://…` of the ops listener. */
  readonly ops: string
  readonly file: string
  readonly toStore: TcpProxy | null
  readonly toRedis: TcpProxy | null
  readonly #process: GatewayProcess
  /** Neither frozen nor dead. */
  #awake = false
  /** Number of freezes and kills of it or of one of its processes. */
  interruptions = 0

  private constructor(t: Test, setup: GatewaySetup, port: number, opsPort: number) {
    const { name, configuration, redis, workers, toStore = null, toRedis = null, ...launch } = setup
    this.name = name
    this.port = port
    this.ops = `http://127.0.0.1:${opsPort}`
    this.toStore = toStore
    this.toRedis = toRedis
    this.#process = new GatewayProcess(t, {
      ...launch,
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
    this.file = join(this.#process.folder, 'gateway.config.yaml')
  }

  /** Configures the gateway without starting it. */
  static async prepare(t: Test, setup: GatewaySetup): Promise<FleetGateway> {
    return new FleetGateway(t, setup, await reservePort(t), await reservePort(t))
  }

  get awake(): boolean {
    return this.#awake
  }

  /** The end of its log if it ended by itself; null while it runs and after an intended end. */
  get crash(): string | null {
    return this.#awake && !this.#process.running ? this.remarks : null
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Its worker processes, in the order of their start. */
  get workers(): number[] {
    return workersOf(this.pid)
  }

  /** Its log since the first start. */
  get log(): string {
    return this.#process.log
  }

  /** Resolves with the exit code once it has ended. */
  get ended(): Promise<number | null> {
    return this.#process.ended
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

  /** Resolves once it is ready. @param patience ms */
  async start(patience = 120_000): Promise<void> {
    await this.#process.start()
    await this.#process.comesUp(async () => (await this.ready())['status'] === 'ready', { patience })
    this.#awake = true
  }

  /** Stops all its processes; connections stay open. */
  async freeze(): Promise<void> {
    this.#awake = false
    this.interruptions++
    await this.#process.freeze()
  }

  thaw(): void {
    this.#process.thaw()
    this.#awake = true
  }

  /** Sends SIGKILL to all its processes. */
  async kill(): Promise<void> {
    this.#awake = false
    this.interruptions++
    await this.#process.kill()
  }

  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Ends it gracefully. */
  async end(): Promise<void> {
    this.#awake = false
    await this.#process.end()
  }

  /** The body of `/readyz`; empty without a response. */
  async ready(): Promise<Record<string, unknown>> {
    const answer = await fetch(`${this.ops}/readyz`).catch(() => null)
    return answer === null ? {} : ((await answer.json()) as Record<string, unknown>)
  }
}
