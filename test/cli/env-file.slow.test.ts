/** `.env` beside the configuration, as `check` and a running gateway take it. */

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET, seatgate } from './command-line.ts'

const ENV = `OWN_SECRET='${SECRET}'\n`
const files = {
  'gateway.config.yaml': `${CONFIG.replace('ACME_SECRET', 'OWN_SECRET')}drain: \${OWN_DRAIN:-1s}\n`,
  'routes/trainings.yaml': ROUTES,
  '.env': ENV,
}

t.test('check: from .env, with a warning where others may read it', async (t) => {
  const cwd = folderWith(t, files)
  chmodSync(join(cwd, '.env'), 0o600)
  t.match(await seatgate(cwd, ['check']), { code: 0, out: /no faults/, err: '' })
  chmodSync(join(cwd, '.env'), 0o644)
  const { code, out, err } = await seatgate(cwd, ['check'])
  t.equal(code, 0)
  t.match(err, /^\.env:1:1: warning: group or others may read this file[^\n]*chmod 600[^\n]*\n$/)
  t.notOk((out + err).includes(SECRET))
})

t.test('one that belongs to another user: the environment is enough', async (t) => {
  const cwd = folderWith(t, files)
  chmodSync(cwd, 0o755)
  chmodSync(join(cwd, '.env'), process.getuid?.() === 0 ? 0o600 : 0o000)
  // Root may read any file.
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const check = (env: Record<string, string>) =>
    spawnSync(process.execPath, [MAIN, 'check'], { cwd, env, encoding: 'utf8', ...user })
  const given = check({ OWN_SECRET: SECRET })
  if (given.error !== undefined || given.status === null)
    return void t.pass('skipped: another user may not run this program')
  t.match(given, { status: 0, stdout: /no faults/ })
  // What follows is of tap, which can't write as another user.
  t.match(
    given.stderr,
    /^\.env:1:1: warning: is not readable by this user: no variable is taken from it \[env_file_unreadable\]\n/,
  )
  t.match(check({}), { status: 1, stderr: /OWN_SECRET, which is not set/ })
})

t.test('start: the warning is logged, and a change of .env is loaded', async (t) => {
  const cwd = folderWith(t, files)
  chmodSync(join(cwd, '.env'), 0o640)
  const child = spawn(process.execPath, [MAIN, 'start'], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  child.stdout.on('data', (chunk) => (out += chunk))
  const until = async (text: string) => {
    while (!out.includes(text)) await sleep(25)
  }
  const warning = /"level":"warn"[^\n]*"file":"\.env"[^\n]*may read this file/
  await until('/livez')
  t.match(out, warning)
  out = ''
  writeFileSync(join(cwd, '.env'), `${ENV}OWN_DRAIN=2s\n`)
  await until('configuration reloaded')
  t.match(out, warning, 'again at a reload')
  writeFileSync(join(cwd, '.env'), `${ENV}OWN_DRAIN=soon\n`)
  await until('reload refused')
  t.notOk(out.includes(SECRET))
  child.kill('SIGTERM')
  await until('"ended"')
})
