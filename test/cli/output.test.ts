/** Standard output that accepts nothing: one line, or none where its reader is gone; never a stack. */

import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import t, { type Test } from 'tap'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET } from './command-line.ts'

const files = { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES }

/** Runs with standard output into a full disk, or into a pipe without a reader. */
function run(t: Test, args: string[], into: 'full' | 'gone'): Promise<{ code: number | null; err: string }> {
  const out = into === 'full' ? openSync('/dev/full', 'w') : 'pipe'
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folderWith(t, files),
    env: { ...process.env, ACME_SECRET: SECRET },
    stdio: ['ignore', out, 'pipe'],
  })
  if (typeof out === 'number') closeSync(out)
  child.stdout?.destroy()
  let err = ''
  child.stderr?.on('data', (chunk) => (err += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, err })))
}

t.test('a pipe without a reader', async (t) => {
  for (const args of [
    ['routes'],
    ['routes', '--json'],
    ['check'],
    ['explain', 'GET', '/docs/a'],
    ['explain', 'GET', '/docs/a', '--json'],
    ['--help'],
    ['routes', '--help'],
  ]) {
    const { code, err } = await run(t, args, 'gone')
    t.equal(code, 0, args.join(' '))
    t.match(err, /^(?:note: [^\n]*\n)?$/)
  }
  const made = await run(t, ['bootstrap', '--tenant', 'acme'], 'gone')
  t.equal(made.code, 1)
  t.match(made.err, /^seatgate bootstrap: API key \S+ was created but could not be printed: [^\n]*\n$/)
})

t.test('a full disk', async (t) => {
  if (!existsSync('/dev/full')) return void t.pass('skipped: this machine has no /dev/full')
  for (const args of [['routes'], ['check'], ['--help']]) {
    const { code, err } = await run(t, args, 'full')
    t.equal(code, 1, args.join(' '))
    t.match(err, /^seatgate: standard output can't be written: ENOSPC[^\n]*\n$/)
  }
  const made = await run(t, ['bootstrap', '--tenant', 'acme'], 'full')
  t.equal(made.code, 1)
  t.match(made.err, /API key \S+ was created but could not be printed: .*ENOSPC/)
})

t.test('standard error that accepts nothing', async (t) => {
  const child = spawn(process.execPath, [MAIN, 'nonsense'], { stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr.destroy()
  t.equal(await new Promise((resolve) => child.on('close', resolve)), 2)
})
