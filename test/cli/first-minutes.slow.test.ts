/** The commands that `init` and `bootstrap` print, run as printed, lead to an allowed request. */

import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { reservePort } from '../support/servers/ports.ts'
import { startUpstream } from '../support/world.ts'
import { folderWith, MAIN, outcomeOf, type Ran } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

/**
 * The shell waits in a process of its own, while the service answers in this one.
 * @param pasted what a person pastes where a command waits for it
 */
function shell(cwd: string, script: string, pasted = ''): Promise<Ran> {
  const functions = `seatgate() { "$NODE" "$MAIN" "$@"; }
curl() { command curl --silent --output /dev/null --write-out '%{http_code}\\n' "$@"; }`
  const env = { ...process.env, NODE: process.execPath, MAIN }
  const child = spawn('bash', ['-c', `${functions}\n${script}`], { cwd, env })
  child.stdin.end(pasted)
  return outcomeOf(child)
}

const missing = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed'

t.test('from an empty folder to an allowed request', { skip: missing }, async (t) => {
  const cwd = folderWith(t, {})
  const { url } = await startUpstream(t)
  const made = await seatgateHere(cwd, ['init', 'my', '--upstream', url])
  t.equal(made.code, 0, made.err)
  const config = join(cwd, 'my', 'gateway.config.yaml')
  const [front, ops] = [await reservePort(t), await reservePort(t)]
  const text = readFileSync(config, 'utf8')
  writeFileSync(config, text.replace('127.0.0.1:8080', `0.0.0.0:${front}`).replace(':9090', `:${ops}`))

  const [check = '', bootstrap = '', start = ''] = made.out.trimEnd().split('\n').slice(-3)
  t.match(await shell(cwd, check), { code: 0, err: '' })
  const created = await shell(cwd, bootstrap)
  t.match(created, { code: 0, err: '' })
  const [, ...args] = start.trim().split(' ').slice(1)
  await startGatewayProcess(t, { folder: cwd, args })
  const steps = created.out.split('\n').filter((line) => /^(?:read|curl|TOKEN=)/.test(line))
  t.equal(steps.length, 4, created.out)
  const key = `${/^sk_\w+$/m.exec(created.out)?.[0]}\n`
  t.equal(created.out.split(key.trim()).length, 2, 'the key is printed once')
  t.match(await shell(cwd, steps.join('\n'), key), { code: 0, out: '200\n200\n' })

  const file = join(cwd, 'my', 'admin.key')
  const written = await shell(cwd, `${bootstrap} --out my/admin.key`)
  t.match(written, {
    code: 0,
    err: '',
    out: /new API key is "bootstrap 2"[^]*:\n {2}"bootstrap" \w{26}\n/,
  })
  t.equal(statSync(file).mode & 0o777, 0o600)
  const kept = readFileSync(file, 'utf8')
  t.match(kept, /^sk_\w+\n$/)
  t.notOk(written.out.includes(kept.trim()))
  const again = written.out.split('\n').filter((line) => /^(?:export|curl .*\/v1\/seats)/.test(line))
  t.match(await shell(cwd, again.join('\n').replace('First', 'Second')), { code: 0, out: '200\n' })
  t.match(await shell(cwd, `${bootstrap} --out my/admin.key`), {
    code: 1,
    out: '',
    err: /no key is created, because my\/admin\.key is there already/,
  })
  t.equal(readFileSync(file, 'utf8'), kept, 'the file stays as it is')
})
