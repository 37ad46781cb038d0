/** Health checks and the process that makes them. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { serve, upstreamConfig } from './support.ts'

t.test('a check never keeps the process alive', async (t) => {
  let checks = 0
  const port = await serve(t, (_, response) => {
    checks++
    response.end()
  })
  const module = JSON.stringify(new URL('../../src/proxy/upstream.ts', import.meta.url).href)
  const health = { path: '/healthz', interval: 3_600_000, timeout: 30_000, healthy: 2, unhealthy: 3 }
  const config = JSON.stringify({ ...upstreamConfig(port), targets: undefined, health })
  const program = `
    const { Upstream } = await import(${module})
    const targets = [new URL('http://127.0.0.1:${port}')]
    new Upstream({ ...${config}, targets }).start()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
  t.equal(checks, 1)
})
