/** The commands that `init` and `bootstrap` print, run as printed, lead to an allowed request. */

import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { reservePort } from '../support/servers/ports.ts'
import { startUpstream } from '../support/world.ts'
import { folderWith, MAIN, outcomeOf, type Ran } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

/** The shell waits in a process of its own, while the service answers in this one. */
function shell(cwd: string, script: string): Promise<Ran> {
  const functions = `seatgate() { "$NODE" "$MAIN" "$@"; }
curl() { command curl --silent --output /dev/null --write-out '%{http_code}\\n' "$@"; }`
  const env = { ...process.env, NODE: process.execPath, MAIN }
  return outcomeOf(spawn('bash', ['-c', `${functions}\n${script}`], { cwd, env }))
}

const missing = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed'

t.test('from an empty folder to an allowed request', { skip: missing }, async (t) => {
  const cwd = folderWith(t, {})
  const { url } = await startUpstream(t)
  const made = await seatgateHere(cwd, ['init', 'my', '--upstream', url])
  t.equal(made.code, 0, made.err)
  const file = join(cwd, 'my', 'gateway.config.yaml')
  const [front, ops] = [await reservePort(t), await reservePort(t)]
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('127.0.0.1:8080', `0.0.0.0:${front}`).replace(':9090', `:${ops}`))

  const [check = '', bootstrap = '', start = ''] = made.out.trimEnd().split('\n').slice(-3)
  t.match(await shell(cwd, check), { code: 0, err: '' })
  const created = await shell(cwd, bootstrap)
  t.match(created, { code: 0, err: '' })
  const [, ...args] = start.trim().split(' ').slice(1)
  await startGatewayProcess(t, { folder: cwd, args })
  const steps = created.out.split('\n').filter((line) => /^(?:curl|TOKEN=)/.test(line))
  t.equal(steps.length, 3, created.out)
  t.match(await shell(cwd, steps.join('\n')), { code: 0, out: '200\n200\n' })
})
