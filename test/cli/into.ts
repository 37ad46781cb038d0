/** Runs `seatgate` with a standard output that accepts nothing. */

import { execFileSync, spawn } from 'node:child_process'
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET } from './command-line.ts'

const files = { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES }

/** Where standard output cannot be a full disk: why. */
export const noFullDisk = existsSync('/dev/full') ? false : 'this machine has no /dev/full'

/** The end for writing of a pipe whose reader is gone. */
export function unreadPipe(t: Test): number {
  const path = join(folderWith(t, {}), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, 'w')
  closeSync(reader)
  return writer
}

/** @param into a full disk, or a pipe without a reader */
export function runInto(
  t: Test,
  into: 'full' | 'gone',
  args: string[],
): Promise<{ code: number | null; err: string }> {
  const out = into === 'full' ? openSync('/dev/full', 'w') : unreadPipe(t)
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folderWith(t, files),
    env: { ...process.env, ACME_SECRET: SECRET },
    stdio: ['ignore', out, 'pipe'],
  })
  closeSync(out)
  let err = ''
  child.stderr?.on('data', (chunk) => (err += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, err })))
}
