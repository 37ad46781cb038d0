/** Standard output that accepts nothing: one line, or none where its reader is gone; never a stack. */

import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import t from 'tap'
import { MAIN } from './command-line.ts'
import { noFullDisk, runInto, unreadPipe } from './into.ts'

t.test('a pipe without a reader', async (t) => {
  const { code, err } = await runInto(t, 'gone', ['--version'])
  t.equal(code, 0)
  t.match(err, /^(?:note: [^\n]*\n)?$/)
  const made = await runInto(t, 'gone', ['bootstrap', '--tenant', 'acme'])
  t.equal(made.code, 1)
  t.match(made.err, /^seatgate bootstrap: API key \S+ was created but could not be printed: [^\n]*\n$/)
})

t.test('a full disk', { skip: noFullDisk }, async (t) => {
  const { code, err } = await runInto(t, 'full', ['--version'])
  t.equal(code, 1)
  t.match(err, /^seatgate: standard output can't be written: ENOSPC[^\n]*\n$/)
})

t.test('standard error that accepts nothing', async (t) => {
  const err = unreadPipe(t)
  const child = spawn(process.execPath, [MAIN, 'nonsense'], { stdio: ['ignore', 'ignore', err] })
  closeSync(err)
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 2)
})
