/** `npm run demo` that cannot start. */

import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

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
