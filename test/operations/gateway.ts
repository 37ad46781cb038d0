/**
 * A gateway as an operator runs it: `seatgate start` in a process of its own, observed through `/proc` and its ops
 * listener. For the tests of this folder.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { until } from '../support/servers/wait.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/seatgate.js', import.meta.url))
const SECRET = 'a secret of more than thirty-two bytes, for tests'

export interface GatewayOptions {
  /** Addresses of the upstream `main`. */
  readonly targets: readonly string[]
  /** Lines below `routes:` in the route table. */
  readonly routes?: readonly string[]
  /** Additional lines of the upstream's entry, and of the top level. */
  readonly upstream?: readonly string[]
  readonly top?: readonly string[]
  /** The value of `listen`, in place of one address. */
  readonly listen?: string
  /** More files of its folder, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** A command prefix, such as `prlimit`. */
  readonly through?: readonly string[]
}

export const ROUTES = [
  'GET /docs/*: public',
  'POST /docs/*: { permission: public, max_body: unlimited }',
  'PUT /docs/*: { permission: public, max_body: unlimited }',
]

export class OperatedGateway {
  readonly folder: string
  readonly #child: ChildProcess
  readonly #ended: Promise<{ code: number | null; signal: string | null }>
  /** 0 until it listens. */
  port = 0
  opsPort = 0

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder
    this.#child = child
    this.#ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  }

  /** Resolves once it listens. It ends with the test. */
  static async start(t: Test, options: GatewayOptions): Promise<OperatedGateway> {
    const folder = mkdtempSync(join(tmpdir(), 'seatgate-operations-'))
    mkdirSync(join(folder, 'routes'))
    writeFileSync(join(folder, 'gateway.config.yaml'), configuration(options))
    writeFileSync(join(folder, 'routes', 'main.yaml'), routeTable(options.routes ?? ROUTES))
    for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(join(folder, name), text)
    const [program = '', ...args] = [...(options.through ?? []), process.execPath, MAIN, 'start']
    const log = openSync(join(folder, 'log'), 'a')
    const env = { PATH: process.env['PATH'], ACME_SECRET: SECRET }
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', log, log] })
    closeSync(log)
    const gateway = new OperatedGateway(folder, child)
    t.teardown(async () => {
      child.kill('SIGKILL')
      await gateway.#ended
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    })
    await until(
      () => gateway.#listens(),
      () => `it does not listen:\n${gateway.log.slice(-2000)}`,
    )
    return gateway
  }

  #listens(): boolean {
    if (!this.running) throw new Error(`it ended:\n${this.log.slice(-2000)}`)
    const [, port, ops] = /127\.0\.0\.1:(\d+) \(front[\s\S]*127\.0\.0\.1:(\d+) \(\/livez/.exec(this.log) ?? []
    this.port = Number(port)
    this.opsPort = Number(ops)
    return ops !== undefined
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name)
  }

  get ended(): Promise<{ code: number | null; signal: string | null }> {
    return this.#ended
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }

  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8')
  }

  /** Log lines that are not requests. The last one may still be missing. */
  get remarks(): Record<string, unknown>[] {
    const whole = this.log.split('\n').slice(0, -1)
    const lines = whole.filter((line) => line !== '' && !line.includes('"msg":"request"'))
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  /** Resident memory in MiB: now, or the peak since `forgetPeak`. */
  rss(which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
    const line = new RegExp(`${which}:\\s+(\\d+)`).exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))
    return Number(line?.[1] ?? Number.NaN) / 1024
  }

  forgetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5')
  }

  /** Number of its open file descriptors. */
  get files(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length
  }

  async ready(): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await fetch(`http://127.0.0.1:${this.opsPort}/readyz`, {
      signal: AbortSignal.timeout(10_000),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  /** The value of a series in `/metrics`, given with labels; 0 if it does not exist yet. */
  async metric(series: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.opsPort}/metrics`)).text()
    const line = text.split('\n').find((each) => each.startsWith(`${series} `))
    return Number(line?.slice(series.length + 1) ?? 0)
  }
}

export function routeTable(lines: readonly string[]): string {
  return `upstream: main\nroutes:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

export function configuration({
  targets,
  upstream = [],
  top = [],
  listen = '127.0.0.1:0',
}: GatewayOptions): string {
  return `listen: ${listen}
ops: 127.0.0.1:0
store: sqlite:./seatgate.db
tenants: { acme: { token: { secrets: ["\${ACME_SECRET}"] } } }
upstreams:
  main:
    targets: [${targets.map((each) => `"${each}"`).join(', ')}]
${upstream.map((line) => `    ${line}\n`).join('')}routes: [routes/*.yaml]
${top.map((line) => `${line}\n`).join('')}`
}
