/** Standard output that accepts nothing: one line, or none where its reader is gone; never a stack. */

import { execFileSync, spawn } from 'node:child_process'
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CONFIG, folderWith, MAIN, outcomeOf, type Ran, ROUTES, SECRET } from './command-line.ts'

const files = { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES }
const noFullDisk = existsSync('/dev/full') ? false : 'this machine has no /dev/full'

/** The end for writing of a pipe whose reader is gone. */
function unreadPipe(t: Test): number {
  const path = join(folderWith(t, {}), 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, 'w')
  closeSync(reader)
  return writer
}

/** @param out is closed */
function runInto(t: Test, out: number, args: string[]): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folderWith(t, files),
    env: { ...process.env, ACME_SECRET: SECRET },
    stdio: ['ignore', out, 'pipe'],
  })
  closeSync(out)
  return outcomeOf(child)
}

// Each command without a reader: `every-command.slow.test.ts`.
t.test('a pipe without a reader', async (t) => {
  t.match(await runInto(t, unreadPipe(t), ['--version']), { code: 0, err: /^(?:note: [^\n]*\n)?$/ })
})

t.test('a full disk', { skip: noFullDisk }, async (t) => {
  t.match(await runInto(t, openSync('/dev/full', 'w'), ['--version']), {
    code: 1,
    err: /^seatgate: standard output cannot be written: ENOSPC[^\n]*\n$/,
  })
  t.match(await runInto(t, openSync('/dev/full', 'w'), ['bootstrap', '--tenant', 'acme']), {
    code: 1,
    err: /^seatgate bootstrap: API key \S+ was created but could not be printed: [^\n]*ENOSPC[^\n]*\n$/,
  })
})

t.test('standard error that accepts nothing', async (t) => {
  const err = unreadPipe(t)
  const child = spawn(process.execPath, [MAIN, 'nonsense'], { stdio: ['ignore', 'ignore', err] })
  closeSync(err)
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 2)
})
