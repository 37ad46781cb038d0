/**
 * A lock between processes, which the system lets go when all who work under it have ended: the process that took it,
 * and the commands it runs, which outlive it when it is killed.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

export class Lock {
  readonly #file: number

  private constructor(file: number) {
    this.#file = file
  }

  /** Waits until nobody else holds it. */
  static async take(path: string): Promise<Lock> {
    const file = openSync(path, 'w')
    // What it locks is the open file, which is this process's too.
    const child = spawn('flock', ['3'], { stdio: ['ignore', 'ignore', 'ignore', file] })
    const [code] = await once(child, 'exit')
    if (code === 0) return new Lock(file)
    closeSync(file)
    throw new Error(`${path} cannot be locked`)
  }

  /** Runs a command under the lock, and gives what it printed. */
  async run(cwd: string, command: string, ...args: string[]): Promise<string> {
    const env = { PATH: process.env['PATH'], LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' }
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe', this.#file] })
    const [out, err, [code]] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      once(child, 'close'),
    ])
    if (code !== 0) throw new Error(err.trim() || `${command} ended with ${code}`)
    return out
  }

  release(): void {
    closeSync(this.#file)
  }
}

async function textOf(stream: Readable | null): Promise<string> {
  return stream === null ? '' : text(stream)
}
