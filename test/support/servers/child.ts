/**
 * A server as a child process: started, frozen, killed with all its descendants, and started again. It never
 * outlives the test. The base of all servers.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { User } from './folder.ts'
import { continueFamily, killFamily, signal, stopFamily } from './processes.ts'
import { type Patience, until } from '../until.ts'
import { unwatch, watch } from './watch.ts'

export interface Launch {
  readonly program: { readonly path: string; readonly env: NodeJS.ProcessEnv }
  readonly args: readonly string[]
  /** The working folder; left out: its own. */
  readonly cwd?: string
  /** The user of the process; left out: the user of this process. */
  readonly user?: User | undefined
}

const PATIENCE = 20_000

export class Child {
  /** The folder of the log, which is removed when this process ends. */
  protected readonly ownFolder: string
  #process: ChildProcess | null = null
  #exited: Promise<unknown> = Promise.resolve()
  #frozen: readonly number[] = []

  constructor(ownFolder: string) {
    this.ownFolder = ownFolder
  }

  /** Resolves once the process runs, even if it then fails. */
  async spawn({ program, args, cwd = this.ownFolder, user }: Launch): Promise<void> {
    const file = openSync(this.#log, 'a', 0o600)
    const env = { PATH: process.env['PATH'], LC_ALL: 'C', ...program.env }
    // In a session of its own: ^C ends the test, and the test ends its servers.
    const child = spawn(program.path, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', file, file],
      ...user,
    })
    closeSync(file)
    const { pid } = child
    if (pid === undefined) throw (await once(child, 'error'))[0]
    watch(pid, this.ownFolder)
    this.#process = child
    this.#exited = once(child, 'exit').then(() => unwatch(pid))
  }

  /** The id of the process that was started, the parent of all others. */
  get pid(): number {
    const pid = this.#process?.pid
    if (pid === undefined) throw new Error('the server was not started')
    return pid
  }

  get running(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null
  }

  /** Resolves with the exit code once it has ended; null: a signal ended it. */
  get ended(): Promise<number | null> {
    return this.#exited.then(() => this.#process?.exitCode ?? null)
  }

  /** Standard output and standard error since the first start. */
  get log(): string {
    return readFileSync(this.#log, 'utf8')
  }

  /** Resolves once the server is up. Rejects as soon as it ends, and kills a server that does not come up. */
  async comesUp(isUp: () => boolean | Promise<boolean>, patience: Patience = {}): Promise<void> {
    const isSo = () => {
      this.#mustRun()
      return isUp()
    }
    try {
      await until(isSo, () => this.#fault('does not come up'), patience)
    } catch (error) {
      await this.kill()
      throw error
    }
  }

  /** Resolves once it accepts connections on this port of loopback; rejects as {@link comesUp}. */
  async listensOn(port: number, patience?: Patience): Promise<void> {
    await this.comesUp(() => accepts(port), patience)
  }

  /** Stops the server like a machine that is paused: its connections stay open, and nothing is answered. */
  async freeze(): Promise<void> {
    this.#mustRun()
    this.#frozen = await stopFamily(this.pid)
  }

  thaw(): void {
    continueFamily(this.#frozen)
    this.#frozen = []
  }

  /** Kills the server and all its descendants at once, before they can write or close anything. */
  async kill(): Promise<void> {
    this.#frozen = []
    if (this.running) await killFamily(this.pid)
    await this.#exited
  }

  /** Asks the server to end, also a frozen one, and kills it after a while. Resolves with the exit code. */
  async end(name: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.thaw()
    if (this.running) signal(this.pid, name)
    const late = setTimeout(() => void this.kill().catch(() => {}), PATIENCE)
    await this.#exited
    clearTimeout(late)
    return this.ended
  }

  get #log(): string {
    return join(this.ownFolder, 'log')
  }

  #mustRun(): void {
    if (!this.running) throw new Error(this.#fault('has ended'))
  }

  #fault(what: string): string {
    return `the server ${what}:\n${this.log.slice(-2000)}`
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(false))
    socket.on('connect', () => {
      // Without a listener, a connection may get this very port as its own, and so connect to itself.
      resolve(socket.localPort !== port)
      socket.destroy()
    })
  })
}
