/** The installed package works as a user runs it, on each Node.js that it names. */

import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { portOf } from '../proxy/support.ts'
import { until } from '../runtime/workers/support.ts'
import { Installation, nodeOf, Runner } from './installation.ts'
import { fetchConforming } from '../support/openapi.ts'

/** Mebibytes. */
const MAX_SIZE = 25

const installation = new Installation(t)
installation.install()

t.test('it holds compiled code, schemas and nothing else', async (t) => {
  const files = installation.files()
  t.ok(files.includes('dist/src/config/gateway.schema.json'))
  t.ok(files.includes('LICENSE'))
  t.same(
    files.filter((name) => name.endsWith('.ts') || /^(test|bench|docs|deploy)\b/.test(name)),
    [],
  )
  const installed = installation.kibibytes() / 1024
  t.ok(installed < MAX_SIZE, `${installed.toFixed(1)} MiB installed`)
  const manifest = JSON.parse(
    readFileSync(join(installation.folder, 'node_modules/seatgate/package.json'), 'utf8'),
  )
  t.notOk('private' in manifest)
  t.notOk('node' in manifest.dependencies, 'no Node.js of its own')
})

const VERSIONS = ['22.19.0', '24', null]

for (const tested of VERSIONS)
  t.test(`Node.js ${tested ?? process.version}`, async (t) => {
    const node = tested === null ? null : nodeOf(tested, installation.folder)
    const port = await service(t)
    const folder = mkdtempSync(join(installation.folder, 'own-'))
    const runner = new Runner(installation, folder, node, {})
    const config = join(folder, 'gateway.config.yaml')

    const version = await runner.run(t, '--version')
    t.match(version.out, /^seatgate \d+\.\d+\.\d+ \([0-9a-f]{7,}\+?, Node\.js \d+\.\d+\.\d+\)\n$/)
    t.match(await runner.run(t, 'init', '--upstream', `http://127.0.0.1:${port}`), { code: 0, err: '' })
    writeFileSync(config, readFileSync(config, 'utf8').replace(/127\.0\.0\.1:(8080|9090)/g, '127.0.0.1:0'))
    const check = await runner.run(t, 'check')
    t.equal(check.err, '')
    t.match(check, { code: 0, out: /no faults/ })

    const bootstrap = await runner.run(t, 'bootstrap', '--tenant', 'acme', '--json')
    t.equal(bootstrap.code, 0, bootstrap.err)
    const { key } = JSON.parse(bootstrap.out)

    const start = runner.spawn(t, 'start')
    const url = await address(start.out)
    const created = await fetchConforming(`${url}/v1/seats`, {
      method: 'POST',
      headers: { 'x-api-key': key, Space: 'admin', 'Content-Type': 'application/json' },
      body: '{"name":"Clerk","spaces":["main"],"permissions":["example:read"]}',
    })
    t.equal(created.status, 200)
    const { out: token } = await runner.run(
      t,
      'token',
      '--tenant',
      'acme',
      '--sub',
      'alice',
      '--seat',
      'Clerk',
    )
    const ask = (path: string, space: string) =>
      fetch(url + path, { headers: { Authorization: `Bearer ${token.trim()}`, Space: space } })
    t.equal((await ask('/v1/orders', 'main')).status, 200)
    t.equal((await ask('/v1/orders', 'other')).status, 403)

    const request = ['GET', '/v1/orders', '--space', 'main', '--tenant', 'acme', '--seat', 'Clerk']
    t.match(await runner.run(t, 'explain', ...request), { code: 0, out: /allow/ })

    writeFileSync(
      join(folder, 'routes/more.yaml'),
      'upstream: example\nroutes:\n  GET /v1/more: authenticated\n',
    )
    start.child.kill('SIGHUP')
    await until(async () => (await ask('/v1/more', 'other')).status === 200)

    start.child.kill('SIGTERM')
    const ended = await start.ended
    t.equal(ended.code, 0, ended.err)
    t.equal(ended.err, '', 'nothing on standard error')

    writeFileSync(config, `${readFileSync(config, 'utf8')}workers: 2\n`)
    const workers = runner.spawn(t, 'start')
    const shared = await address(workers.out)
    const again = await fetch(`${shared}/v1/more`, {
      headers: { Authorization: `Bearer ${token.trim()}`, Space: 'main' },
    })
    t.equal(again.status, 200, 'two workers')
    workers.child.kill('SIGTERM')
    t.equal((await workers.ended).code, 0)
  })

/** The user's own service. @returns its port */
async function service(t: Test): Promise<number> {
  const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return portOf(server)
}

/** The address of the listener, from the log, once the gateway listens. */
async function address(log: () => string): Promise<string> {
  let url = ''
  await until(() => {
    const port = /127\.0\.0\.1:(\d+) \(front/.exec(log())?.[1]
    url = `http://127.0.0.1:${port}`
    return port !== undefined
  })
  return url
}
