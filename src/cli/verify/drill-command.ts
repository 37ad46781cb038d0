/** The command of `--during`: a drill that the operator runs while the gateways are watched. */

import { spawn } from 'node:child_process'
import type { Terminal } from '../command.ts'

/** The time in ms between SIGTERM and SIGKILL. */
const GRACE = 5000
/** The time in ms in which the rest of the output arrives. */
const OUTPUT = 200

/**
 * Runs the command in a shell, in a process group of its own, so that Ctrl-C at the terminal does not end a
 * drill halfway. Its output goes to standard error. It does not get the API key of this command.
 *
 * @param elapsed ms since the start of the run
 * @param ends the signal that ends the command
 * @returns when the command has ended
 */
export async function runDrill(
  command: string,
  elapsed: () => number,
  terminal: Terminal,
  ends: AbortSignal,
) {
  const { SEATGATE_API_KEY: _, ...env } = terminal.env
  const began = elapsed()
  const child = spawn('/bin/sh', ['-c', command], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => terminal.printError(text.replace(/\n$/, '')))
  const kill = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal)
    } catch {
      // It has ended.
    }
  }
  let timer: NodeJS.Timeout | null = null
  const stop = () => {
    kill('SIGTERM')
    timer = setTimeout(() => kill('SIGKILL'), GRACE)
  }
  const exit = await new Promise<number | null>((resolve) => {
    ends.addEventListener('abort', stop, { once: true })
    child.once('error', (cause) => {
      terminal.printError(`--during: ${cause.message}`)
      resolve(null)
    })
    // A program in the background may keep the output open.
    child.once('exit', (code) => setTimeout(resolve, OUTPUT, code))
    if (ends.aborted) stop()
  })
  if (timer !== null) clearTimeout(timer)
  for (const stream of [child.stdout, child.stderr]) stream.destroy()
  ends.removeEventListener('abort', stop)
  return {
    command,
    began_ms: Math.round(began),
    // Null if it was ended with the run.
    ended_ms: ends.aborted ? null : Math.round(elapsed()),
    // Null if a signal ended it.
    exit,
  }
}
