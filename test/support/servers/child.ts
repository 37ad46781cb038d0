/**
 * A server as a child process: started, frozen, killed with all its descendants, and never left behind. Servers
 * run their programs through it (server.ts).
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Program } from './binaries.ts'
import { continueFamily, killFamily, signal, stopFamily } from './processes.ts'
import { until } from '../until.ts'
import { unwatch, watch } from './watch.ts'

export interface Launch {
  readonly program: Program
  readonly args: readonly string[]
  /** The server's own: it holds the log, and goes when this process does. */
  readonly folder: string
  /** The working folder; left out: its own. */
  readonly cwd?: string
  /** Whom to run as; left out: as this process. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
}

const PATIENCE = 20_000

export class Child {
  readonly pid: number
  readonly #process: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #log: string
  #frozen: readonly number[] = []

  private constructor(child: ChildProcess, pid: number, log: string) {
    this.#process = child
    this.pid = pid
    this.#log = log
    this.#exited = once(child, 'exit').then(() => unwatch(pid))
  }

  static async start({ program, args, folder, cwd = folder, user = undefined }: Launch): Promise<Child> {
    const log = join(folder, 'log')
    const file = openSync(log, 'a', 0o600)
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
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    watch(child.pid, folder)
    return new Child(child, child.pid, log)
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** Resolves with the exit code once it has ended; null where a signal ended it. */
  get ended(): Promise<number | null> {
    return this.#exited.then(() => this.#process.exitCode)
  }

  /** Null while it runs, and where a signal ended it. */
  get exitCode(): number | null {
    return this.#process.exitCode
  }

  /** What it said, in all its lives. */
  get log(): string {
    return readFileSync(this.#log, 'utf8')
  }

  /** Waits until the server is up; fails as soon as it has ended instead, and leaves none that does not come up. */
  async ready(holds: () => Promise<boolean>, patience?: number): Promise<void> {
    const isUp = () => {
      this.#mustRun()
      return holds()
    }
    try {
      await until(isUp, () => this.#fault('does not come up'), patience === undefined ? {} : { patience })
    } catch (error) {
      await this.kill()
      throw error
    }
  }

  /** Stands still as a machine does that is paused: its connections stay open and nothing is answered. */
  async freeze(): Promise<void> {
    this.#mustRun()
    this.#frozen = await stopFamily(this.pid)
  }

  thaw(): void {
    continueFamily(this.#frozen)
    this.#frozen = []
  }

  /** At once and without a goodbye, descendants included. */
  async kill(): Promise<void> {
    this.#frozen = []
    if (this.running) await killFamily(this.pid)
    await this.#exited
  }

  /** Asks it to end; after a while it is no longer asked. */
  async end(name: NodeJS.Signals): Promise<void> {
    this.thaw()
    if (!this.running) return
    signal(this.pid, name)
    const late = setTimeout(() => void killFamily(this.pid).catch(() => {}), PATIENCE)
    await this.#exited
    clearTimeout(late)
  }

  #mustRun(): void {
    if (!this.running) throw new Error(this.#fault('has ended'))
  }

  #fault(what: string): string {
    return `the server ${what}:\n${this.log.slice(-2000)}`
  }
}
