/**
 * A program that listens on a port: started on its cores, awaited, stopped. Its output goes to a file, like an access
 * log.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { unwatch, watch } from '../test/support/servers/watch.ts'
import { bound } from './cores.ts'

/** Milliseconds: until it accepts its first connection, which takes an emulated one minutes, and until it ends after the signal. */
const TIMEOUT = 300_000
const LAST_WAIT = 5000

export interface Launch {
  readonly command: readonly string[]
  readonly port: number
  readonly cores: string | null
  /** For its output; removed with the process at the latest. */
  readonly folder: string
  readonly env?: NodeJS.ProcessEnv
}

export class Program {
  readonly pid: number
  readonly port: number
  /** Milliseconds from the start of the process until it accepts connections. */
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

  /** Resolves once it accepts connections; rejects, with its output, when it ends before. */
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

  /** Ends by signal, or is killed. */
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
  const end = performance.now() + TIMEOUT
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
      // Without a listener, a connection may get this very port as its own, and so connect to itself.
      resolve(socket.localPort !== port)
      socket.destroy()
    })
  })
}

/** A port without a listener. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
