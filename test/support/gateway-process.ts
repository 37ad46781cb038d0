/**
 * The gateway as an operator runs it: `seatgate start` in a process of its own. world.ts starts a
 * gateway in the test's process.
 */

import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { bundled } from './bundled.ts'
import { type ConfigurationOptions, writeConfiguration, writeFiles } from './configuration.ts'
import { Child, type Launch } from './servers/child.ts'
import { serverFolder, type User } from './servers/folder.ts'
import { metric } from './operations.ts'

/** The command line's entry point. */
export const MAIN = fileURLToPath(new URL('../../src/cli/seatgate.js', import.meta.url))

/** A token secret. */
export const SECRET = 'a secret of more than thirty-two bytes, for tests'

export interface GatewayProcessOptions extends ConfigurationOptions {
  /** Files of its folder in place of a configuration of these options: name → text. */
  readonly files?: Readonly<Record<string, string>>
  /** A folder with its files, which is not removed. */
  readonly folder?: string
  /**
   * What Node.js runs in place of the command line's entry point: its options, the program and its first
   * arguments.
   */
  readonly program?: readonly string[] | undefined
  /** Arguments after `start`. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A command such as `prlimit`, which executes its arguments. */
  readonly through?: readonly string[]
  readonly user?: User | undefined
}

export class GatewayProcess extends Child {
  /** Its working folder, with the configuration. */
  readonly folder: string
  readonly #launch: Launch

  /** Writes the files of a gateway, which ends with the test. */
  constructor(t: Pick<Test, 'teardown'>, options: GatewayProcessOptions = {}) {
    const { args = [], env = {}, through = [], program: main = [MAIN], user } = options
    super(serverFolder(t, 'gateway', user))
    this.folder = options.folder ?? this.ownFolder
    writeFiles(this.folder, options.files ?? {})
    if (options.files === undefined && options.folder === undefined) writeConfiguration(this.folder, options)
    const [path = '', ...rest] = [...through, process.execPath, ...main, 'start', ...args]
    const secrets = { ACME_SECRET: SECRET, GLOBEX_SECRET: `${SECRET}, of globex` }
    const packages = main[0] === MAIN && user === undefined ? bundled() : {}
    const program = { path, env: { ...packages, ...coverage(user), ...secrets, ...env } }
    this.#launch = { program, args: rest, cwd: this.folder, user }
    t.teardown(() => this.kill())
  }

  static async launch(
    t: Pick<Test, 'teardown'>,
    options: GatewayProcessOptions = {},
  ): Promise<GatewayProcess> {
    const gateway = new GatewayProcess(t, options)
    await gateway.start()
    return gateway
  }

  /** Resolves once the process runs, even if it then fails. */
  start(): Promise<void> {
    return this.spawn(this.#launch)
  }

  /** The complete lines of the log that are JSON: events, or with `requests` the access log. */
  lines(which: 'events' | 'requests' = 'events'): Record<string, unknown>[] {
    const whole = this.log.split('\n').slice(0, -1)
    const lines = whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    return lines.filter(({ msg }) => (msg === 'request') === (which === 'requests'))
  }

  /** `http://…` or `https://…` of the listener that takes requests. */
  get origin(): string {
    return /(https?:\/\/[\d.:]+) \(front/.exec(this.log)?.[1] ?? ''
  }

  get port(): number {
    return Number(new URL(this.origin).port)
  }

  /** `http://…` of the ops listener. */
  get ops(): string {
    return /(http:\/\/[\d.:]+) \(\/livez/.exec(this.log)?.[1] ?? ''
  }

  /** Resolves once it listens. */
  async listens(): Promise<this> {
    await this.comesUp(() => this.ops !== '')
    return this
  }

  /** The status and the body of `/readyz`. */
  async ready(): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
    const answer = await fetch(`${this.ops}/readyz`)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  /** The value of a series of `/metrics`, given with its labels; 0 if it does not exist. */
  async metric(series: string): Promise<number> {
    return (await metric(this, series)) || 0
  }

  signal(name: NodeJS.Signals): void {
    process.kill(this.pid, name)
  }
}

/**
 * The variables of a run with coverage: Node.js writes the counters of a gateway that ends by itself. Another
 * user may not write them. The variable is then empty and not left out, because Node.js gives its own to each
 * child that has none.
 */
function coverage(user: GatewayProcessOptions['user']): Record<string, string> {
  const { NODE_V8_COVERAGE: folder } = process.env
  if (user !== undefined) return { NODE_V8_COVERAGE: '' }
  return folder === undefined ? {} : { NODE_V8_COVERAGE: folder, NODE_DISABLE_COMPILE_CACHE: '1' }
}

/** A gateway in a process of its own, which listens. It ends with the test. */
export async function startGatewayProcess(t: Test, options?: GatewayProcessOptions): Promise<GatewayProcess> {
  return (await GatewayProcess.launch(t, options)).listens()
}
