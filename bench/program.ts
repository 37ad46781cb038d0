/** Programs that listen on a port: started on their cores, awaited, and ended. */

import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { reservePort } from '../test/support/servers/ports.ts'
import { Child } from '../test/support/servers/child.ts'
import { bound, loadCores } from './cores.ts'
import type { Ending } from './harness.ts'

/** Milliseconds until a program accepts its first connection, which takes an emulated one minutes. */
const PATIENCE = 300_000

export interface Launch {
  readonly command: readonly string[]
  readonly port: number
  /** The cores of the program; left out: all. */
  readonly cores?: string | null
  readonly folder: string
  readonly env?: NodeJS.ProcessEnv
}

/** Its output goes to a file, like an access log. */
export class Program extends Child {
  readonly port: number
  #startedIn = 0

  private constructor(folder: string, port: number) {
    super(mkdtempSync(join(folder, 'program-')))
    this.port = port
  }

  /** Resolves once the program accepts connections; rejects with its output if it ends first. */
  static async start(ending: Ending, { command, port, cores = null, folder, env }: Launch): Promise<Program> {
    const program = new Program(folder, port)
    ending.teardown(() => program.end())
    const [path = '', ...args] = bound(cores, command)
    const begun = performance.now()
    await program.spawn({ program: { path, env: { ...process.env, ...env } }, args })
    await program.listensOn(port, { patience: PATIENCE })
    program.#startedIn = performance.now() - begun
    return program
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Milliseconds from the start of the process until it accepts connections. */
  get startedIn(): number {
    return this.#startedIn
  }
}

/**
 * Starts a script of `servers/` beside the load, in a folder of its own.
 *
 * @param ports further ones that it listens on
 */
export async function startServer(
  ending: Ending,
  parent: string,
  script: string,
  ...ports: readonly number[]
): Promise<Program> {
  const port = await reservePort(ending.t)
  const folder = join(parent, script)
  mkdirSync(folder, { recursive: true })
  const path = join(import.meta.dirname, 'servers', `${script}.ts`)
  const command = [process.execPath, path, ...[port, ...ports].map(String)]
  return Program.start(ending, { command, port, cores: loadCores(1), folder })
}
