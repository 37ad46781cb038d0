/** `npm run demo`, and its curl lines pasted into a shell. */

import { execFile, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { until } from '../support/until.ts'

const DEMO = fileURLToPath(new URL('./demo.ts', import.meta.url))

t.test('the lines work as printed', async (t) => {
  const env = { ...process.env, SEATGATE_LISTEN: '127.0.0.1:0', SEATGATE_OPS: '127.0.0.1:0' }
  const demo = spawn(process.execPath, [DEMO], { env, stdio: ['ignore', 'pipe', 'inherit'] })
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
  const statuses: number[] = []
  for (const line of lines.filter((line) => line.startsWith('curl '))) {
    const script = `${variables}\n${line} -o /dev/null -w '%{http_code}' 2>/dev/null`
    // `-i` writes its header to the same place as the body.
    const { stdout } = await promisify(execFile)('bash', ['-c', script])
    statuses.push(Number(stdout))
  }
  t.same(statuses, [200, 401, 403, 201, 200, 200])
  const ended = new Promise((resolve) => demo.once('exit', resolve))
  demo.kill('SIGINT')
  t.equal(await ended, 0)
})
