/**
 * A program that listens on a port: started on its cores, waited for, ended. What it prints goes to a file, as an access
 * log would. Called by the peers and for the upstream.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { unwatch, watch } from '../test/support/servers/watch.ts'
import { bound } from './cores.ts'

/** Milliseconds: to accept its first connection, and to end when it is told to. */
const PATIENCE = 60_000
const LAST_WAIT = 5000

export interface Launch {
  readonly command: readonly string[]
  readonly port: number
  readonly cores: string | null
  /** For what it prints; goes with the process at the latest. */
  readonly folder: string
  readonly env?: NodeJS.ProcessEnv
}

export class Program {
  readonly pid: number
  readonly port: number
  /** Milliseconds from the start of the process to connections accepted. */
  readonly startedIn: number
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>

  private constructor(
    child: ChildProcess,
    pid: number,
    exited: Promise<unknown>,
    port: number,
    time: number,
  ) {
    this.#child = child
    this.#exited = exited
    this.pid = pid
    this.port = port
    this.startedIn = time
  }

  /** Resolves once it accepts connections; rejects, with what it printed, when it ends before. */
  static async start({ command, port, cores, folder, env }: Launch): Promise<Program> {
    const [file = '', ...args] = bound(cores, command)
    const printed = join(folder, `out-${port}.log`)
    const output = openSync(printed, 'a')
    const begun = performance.now()
    const child = spawn(file, args, { stdio: ['ignore', output, output], ...(env ? { env } : {}) })
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    const { pid } = child
    watch(pid, folder)
    const exited = once(child, 'exit').then(() => unwatch(pid))
    const program = new Program(child, pid, exited, port, 0)
    try {
      await accepting(port, child)
    } catch (cause) {
      await program.stop()
      throw new Error(`${command[0]}: ${readFileSync(printed, 'utf8').slice(-2000)}`, { cause })
    }
    return new Program(child, pid, exited, port, performance.now() - begun)
  }

  /** Told to, or made to. */
  async stop(): Promise<void> {
    const running = () => this.#child.exitCode === null && this.#child.signalCode === null
    if (!running()) return void (await this.#exited)
    this.#child.kill('SIGTERM')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), LAST_WAIT)
    await this.#exited
    clearTimeout(late)
  }
}

async function accepting(port: number, child: ChildProcess): Promise<void> {
  const end = performance.now() + PATIENCE
  while (!(await accepts(port))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('it ended')
    if (performance.now() > end) throw new Error('it does not listen')
    await sleep(10)
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(false))
    socket.on('connect', () => {
      // Where nobody listens yet, a connection may be given that very port on its own side, and so reach itself.
      resolve(socket.localPort !== port)
      socket.destroy()
    })
  })
}

/** One that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
