/** `npm run demo` that cannot start, and without its provider. */

import { execFile, spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { reservePort } from '../support/servers/ports.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'

const noCurl = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed'
const DEMO = fileURLToPath(new URL('./demo.ts', import.meta.url))

t.test('a port that is taken is said in a line', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.teardown(() => taken.close())
  const { port } = taken.address() as { port: number }
  const env = { ...process.env, SEATGATE_LISTEN: `127.0.0.1:${port}`, SEATGATE_OPS: '127.0.0.1:0' }
  const failed = await promisify(execFile)(process.execPath, [DEMO], { env }).catch((error) => error)
  t.equal(failed.code, 1)
  t.match(failed.stderr, /^demo: .*EADDRINUSE/)
  t.notMatch(failed.stderr, /\n +at /)
})

t.test('--no-provider', async (t) => {
  const env = {
    ...process.env,
    SEATGATE_LISTEN: `127.0.0.1:${await reservePort(t)}`,
    SEATGATE_OPS: '127.0.0.1:0',
  }
  const demo = spawn(process.execPath, [DEMO, '--no-provider'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => demo.kill('SIGKILL'))
  let out = ''
  demo.stdout.on('data', (chunk) => {
    out += chunk
  })
  await until(
    () => out.includes('Ctrl-C'),
    () => `it prints ${out}`,
  )
  t.match(out, 'Sign in with the text of KEY.\n')
  t.notMatch(out, 'carol')
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(out) ?? []
  const body = JSON.stringify({ tenant: 'acme' })
  const headers = { 'content-type': 'application/json' }
  const login = await fetch(`${url}/auth/oidc/login`, { method: 'POST', headers, body })
  t.equal(login.status, 404)
  const ended = new Promise((resolve) => demo.once('exit', resolve))
  demo.kill('SIGINT')
  t.equal(await ended, 0)
})

t.test('--agents', { skip: noCurl }, async (t) => {
  const listen = `127.0.0.1:${await reservePort(t)}`
  const env = { ...process.env, SEATGATE_LISTEN: listen, SEATGATE_OPS: '127.0.0.1:0' }
  const options = [DEMO, '--no-provider', '--agents']
  const demo = spawn(process.execPath, options, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => demo.kill('SIGKILL'))
  let out = ''
  demo.stdout.on('data', (chunk) => {
    out += chunk
  })
  await until(
    () => out.includes('Ctrl-C'),
    () => `it prints ${out}`,
  )
  const lines = out.split('\n')
  const variables = lines.filter((line) => /^[A-Z]+='/.test(line)).join('\n')
  const answers: string[] = []
  for (const line of lines.filter((each) => each.includes('Mcp-Method'))) {
    const run = () => promisify(execFile)('bash', ['-c', `${variables}\n${line} 2>/dev/null`])
    let answer = ''
    // The demo has the usual time limits.
    await served(async () => {
      answer = (await run()).stdout
      return { status: Number(answer.split(' ')[1]) }
    })
    answers.push(answer)
  }
  const [list = '', call = '', denied = ''] = answers
  t.match(list, /^HTTP\/1.1 200 [\s\S]*get_weather/)
  t.notMatch(list, 'delete_user')
  t.match(call, /^HTTP\/1.1 200 [\s\S]*sun/)
  t.match(denied, /^HTTP\/1.1 403 [\s\S]*insufficient_scope[\s\S]*people:delete[\s\S]*-32001/)
  const ended = new Promise((resolve) => demo.once('exit', resolve))
  demo.kill('SIGINT')
  t.equal(await ended, 0)
})

t.test('an unknown option is refused', async (t) => {
  const failed = await promisify(execFile)(process.execPath, [DEMO, '--provider']).catch((error) => error)
  t.equal(failed.code, 2)
  t.match(failed.stderr, /^demo: .*--provider[\s\S]*usage: npm run demo -- \[--no-provider\] \[--agents\]/)
})
