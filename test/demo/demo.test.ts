/** `npm run demo`, and its curl lines pasted into a shell. */

import { execFile, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const DEMO = fileURLToPath(new URL('./demo.ts', import.meta.url))

t.test('the lines work as printed', async (t) => {
  const env = { ...process.env, SEATGATE_LISTEN: '127.0.0.1:0', SEATGATE_OPS: '127.0.0.1:0' }
  const demo = spawn(process.execPath, [DEMO], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => demo.kill('SIGKILL'))
  let out = ''
  await new Promise<void>((resolve) => {
    demo.stdout.on('data', (chunk) => {
      out += chunk
      if (out.includes('Ctrl-C')) resolve()
    })
  })
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

t.test('a port that is taken is said in a line', async (t) => {
  const { createServer } = await import('node:net')
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
