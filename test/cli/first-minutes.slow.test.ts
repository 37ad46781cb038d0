/** The commands that `init` and `bootstrap` print, run as printed, lead to an allowed request. */

import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { reservePort } from '../support/servers/ports.ts'
import { folderWith, MAIN, seatgate } from './command-line.ts'

/** Answers every request. */
async function service(t: Test): Promise<string> {
  const server = createServer((_, response) => response.end('served'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The shell waits in a process of its own, while the service answers in this one. */
function shell(cwd: string, script: string): Promise<{ code: number | null; out: string; err: string }> {
  const functions = `seatgate() { "$NODE" "$MAIN" "$@"; }
curl() { command curl --silent --output /dev/null --write-out '%{http_code}\\n' "$@"; }`
  const env = { ...process.env, NODE: process.execPath, MAIN }
  const child = spawn('bash', ['-c', `${functions}\n${script}`], { cwd, env })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })))
}

const missing = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed'

t.test('from an empty folder to an allowed request', { skip: missing }, async (t) => {
  const cwd = folderWith(t, {})
  const made = await seatgate(cwd, ['init', 'my', '--upstream', await service(t)])
  t.equal(made.code, 0, made.err)
  const file = join(cwd, 'my', 'gateway.config.yaml')
  const [front, ops] = [await reservePort(t), await reservePort(t)]
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('127.0.0.1:8080', `0.0.0.0:${front}`).replace(':9090', `:${ops}`))

  const [check = '', bootstrap = '', start = ''] = made.out.trimEnd().split('\n').slice(-3)
  t.match(await shell(cwd, check), { code: 0, err: '' })
  const created = await shell(cwd, bootstrap)
  t.match(created, { code: 0, err: '' })
  const gateway = spawn(process.execPath, [MAIN, ...start.trim().split(' ').slice(1)], { cwd })
  t.teardown(() => gateway.kill('SIGKILL'))
  let log = ''
  await new Promise<void>((resolve) =>
    gateway.stdout.on('data', (chunk) => (log += chunk).includes('/livez') && resolve()),
  )
  const steps = created.out.split('\n').filter((line) => /^(?:curl|TOKEN=)/.test(line))
  t.equal(steps.length, 3, created.out)
  t.match(await shell(cwd, steps.join('\n')), { code: 0, out: '200\n200\n' })
})
