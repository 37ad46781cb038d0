/** `.env` beside the configuration, as `check` and a running gateway take it. */

import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const ENV = `OWN_SECRET='${SECRET}'\n`
const files = {
  'gateway.config.yaml': `${CONFIG.replace('ACME_SECRET', 'OWN_SECRET')}drain: \${OWN_DRAIN:-1s}\n`,
  'routes/trainings.yaml': ROUTES,
  '.env': ENV,
}

t.test('check: from .env, with a warning where others may read it', async (t) => {
  const cwd = folderWith(t, files)
  chmodSync(join(cwd, '.env'), 0o600)
  t.match(await seatgateHere(cwd, ['check']), { code: 0, out: /no faults/, err: '' })
  chmodSync(join(cwd, '.env'), 0o644)
  const { code, out, err } = await seatgateHere(cwd, ['check'])
  t.equal(code, 0)
  t.match(err, /^\.env:1:1: warning: [^\n]* \[env_file_shared\]\n$/)
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
    return void t.pass({ skip: 'another user may not run this program' })
  t.match(given, { status: 0, stdout: /no faults/ })
  // What follows is of tap, which can't write as another user.
  t.match(
    given.stderr,
    /^\.env:1:1: warning: is not readable by this user: no variable is taken from it \[env_file_unreadable\]\n/,
  )
  t.match(check({}), { status: 1, stderr: /^gateway\.config\.yaml:5:30: .*\bOWN_SECRET\b/m })
})

t.test('start: the warning is logged, and a change of .env is loaded', async (t) => {
  const cwd = folderWith(t, files)
  chmodSync(join(cwd, '.env'), 0o640)
  const gateway = await startGatewayProcess(t, { folder: cwd })
  const warning = /"level":"warn"[^\n]*"file":"\.env"[^\n]*may read this file/g
  const warnings = () => gateway.log.match(warning)?.length
  const says = (text: string) =>
    until(
      () => gateway.log.includes(text),
      () => `${text} is not in ${gateway.log}`,
    )
  t.equal(warnings(), 1)
  writeFileSync(join(cwd, '.env'), `${ENV}OWN_DRAIN=2s\n`)
  await says('configuration reloaded')
  t.equal(warnings(), 2, 'again at a reload')
  writeFileSync(join(cwd, '.env'), `${ENV}OWN_DRAIN=soon\n`)
  await says('reload refused')
  t.notOk(gateway.log.includes(SECRET))
  t.equal(await gateway.end(), 0)
})
