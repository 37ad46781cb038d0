/** The end of a gateway with workers: requests in flight finish, the log is complete, and no process is left. */

import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET } from '../../cli/command-line.ts'
import { Client } from '../../support/client.ts'
import { until, workersOf } from './support.ts'

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} to the process group: requests in flight finish, exit code 0`, async (t) => {
    let waiting = 0
    const service = createServer((_request, response) => {
      waiting++
      setTimeout(() => response.end('done'), 500)
    })
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      service.closeAllConnections()
      service.close()
    })
    const cwd = folderWith(t, {
      'gateway.config.yaml': `${CONFIG}workers: 2\n`,
      'routes/trainings.yaml': ROUTES,
    })
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const env = { ...process.env, ACME_SECRET: SECRET, TRAININGS_URL: url }
    const child = spawn(process.execPath, [MAIN, 'start'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    const ended = new Promise((resolve) => child.once('close', (code) => resolve(code)))
    t.teardown(() => child.kill('SIGKILL'))
    const port = () => /listening on http:\/\/127\.0\.0\.1:(\d+) \(front/.exec(out)?.[1]
    await until(() => port() !== undefined)
    const workers = workersOf(child.pid)
    t.equal(workers.length, 2)
    const clients = Array.from({ length: 20 }, () => new Client(Number(port())))
    const answers = clients.map((client) => client.send('GET', '/docs/a'))
    await until(() => waiting === 20)
    process.kill(-(child.pid ?? 0), signal)
    for (const answer of await Promise.all(answers)) t.match(answer, { status: 200, body: 'done' })
    t.equal(await ended, 0)
    for (const client of clients) client.close()
    const lines = out.trim().split('\n')
    t.equal(
      lines.filter((line) => JSON.parse(line).msg === 'request').length,
      20,
      'each line is complete, and none is lost',
    )
    for (const pid of workers) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  })
}

t.test('the workers of a killed primary end', async (t) => {
  const cwd = folderWith(t, { 'gateway.config.yaml': `${CONFIG}workers: 2\n`, 'routes/a.yaml': ROUTES })
  const env = { ...process.env, ACME_SECRET: SECRET }
  const child = spawn(process.execPath, [MAIN, 'start'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  t.teardown(() => child.kill('SIGKILL'))
  await until(() => out.includes('(front door)'))
  const workers = workersOf(child.pid)
  child.kill('SIGKILL')
  await until(() =>
    workers.every((pid) => {
      try {
        process.kill(pid, 0)
        return false
      } catch {
        return true
      }
    }),
  )
  t.equal(workers.length, 2)
})

t.test(
  'a port in use, or a fault in the table, ends the start with a message and no process left',
  async (t) => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    t.teardown(() => taken.close())
    const { port } = taken.address() as AddressInfo
    const config = `${CONFIG}workers: 2\n`.replace('listen: 127.0.0.1:0', `listen: 127.0.0.1:${port}`)
    for (const [text, table, expected] of [
      [config, ROUTES, /EADDRINUSE/],
      [`${CONFIG}workers: 2\n`, `${ROUTES}  GET /v1/seats: public\n`, /v1\/seats/],
    ] as const) {
      const cwd = folderWith(t, { 'gateway.config.yaml': text, 'routes/a.yaml': table })
      const env = { ...process.env, ACME_SECRET: SECRET }
      const child = spawn(process.execPath, [MAIN, 'start'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
      let err = ''
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      t.equal(await new Promise((resolve) => child.once('close', resolve)), 1)
      t.match(err, expected)
      t.equal(err.trim().split('\n').length, 1, err)
    }
  },
)
