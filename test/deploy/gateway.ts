/** `seatgate start` in a process of its own, with an environment of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import type { Test } from 'tap'
import { MAIN, SECRET } from '../cli/command-line.ts'

export interface Started {
  readonly process: ChildProcess
  /** Its exit code. */
  readonly ended: Promise<number | null>
  readonly log: () => string
  /** @param listener as its line in the log describes it */
  origin(listener: 'front door' | '/livez'): string
}

export function startGateway(t: Test, folder: string, env: Record<string, string>): Started {
  const child = spawn(process.execPath, [MAIN, 'start'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ACME_SECRET: SECRET, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  return {
    process: child,
    ended,
    log: () => text,
    origin: (listener) => new RegExp(`(http://[\\d.:]+) \\(${listener}`).exec(text)?.[1] ?? '',
  }
}
