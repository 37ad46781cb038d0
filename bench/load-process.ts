/**
 * Load programs as processes beside the peer: on the cores that it does not use, and with a limit on their
 * time.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { bound, loadCores, prioritized } from './cores.ts'

/** Milliseconds beyond its time that a load may take. */
const MARGIN = 30_000

export interface LoadProcess {
  readonly seconds: number
  /** Cores that the peer may use, and the load may not; left out: 1. */
  readonly workers?: number
  /** The load runs at the lowest priority, so that it does not delay others on its cores. */
  readonly background?: boolean
}

/**
 * Resolves with the standard output of a load program. Tokens are passed by its standard input or by files: a
 * command is visible to every user of the machine.
 *
 * @throws with what it printed to standard error, if it fails
 */
export async function outputOf(
  command: readonly string[],
  { seconds, workers = 1, background }: LoadProcess,
  input = '',
): Promise<string> {
  const [file = '', ...args] = bound(loadCores(workers), prioritized(background, command))
  const child = spawn(file, args, { timeout: seconds * 1000 + MARGIN })
  child.stdin.on('error', () => {}).end(input)
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  const [code, signal] = await once(child, 'close')
  const [printed, errors] = await output
  if (code !== 0) throw new Error(`${command[0]} ended with ${code ?? signal}: ${errors.trim()}`)
  return printed
}

/**
 * Runs a client of this folder, which reads its load from standard input and prints its result, both as JSON.
 */
export async function runClient<Result>(script: string, load: LoadProcess): Promise<Result> {
  const command = [process.execPath, join(import.meta.dirname, script)]
  return JSON.parse(await outputOf(command, load, JSON.stringify(load))) as Result
}
