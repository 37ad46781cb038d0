/**
 * The package as users install it, packed and installed into an empty folder with its production dependencies only, works
 * on each Node.js that it names: all of it on the oldest, where something could be missing, and the start on the others.
 */

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { outcomeOf } from '../cli/command-line.ts'
import { fetchConforming } from '../support/openapi.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/world.ts'
import { packCopy } from './clone-copy.ts'
import { nodeOf, npm } from './node-versions.ts'
import { serverFolder } from '../support/servers/folder.ts'

/** Arguments of `env`: the test runner gives options to each Node.js below it, which other programs can't bear. */
const PLAIN = ['-u', 'NODE_OPTIONS']

/**
 * Packs a copy of the clone, since packing replaces package.json for a moment, and installs the result.
 *
 * @returns the folder, which is removed with the test
 */
function install(t: Test): string {
  const folder = serverFolder(t, 'package')
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  npm(folder, 'install', '--omit=dev', '--prefer-offline', packCopy(t))
  return folder
}

interface Place {
  /** Of the installation. */
  readonly folder: string
  readonly cwd: string
  /** The folder of the Node.js; null: that of this process. */
  readonly node: string | null
}

/** Starts the installed command. It is killed with the test. */
function launch(t: Test, { folder, cwd, node }: Place, ...args: string[]) {
  const command = join(folder, 'node_modules/.bin/seatgate')
  const bin = node ?? dirname(process.execPath)
  const env = { PATH: [bin, '/usr/bin', '/bin'].join(delimiter), HOME: cwd }
  const child = spawn('env', [...PLAIN, command, ...args], { cwd, env })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  child.stdout.on('data', (chunk) => (out += chunk))
  return { child, ended: outcomeOf(child), out: () => out }
}

/** Mebibytes. */
const MAX_SIZE = 25

const folder = install(t)
const { url: service } = await startUpstream(t)

t.test('it holds compiled code, schemas, the manual and what the manual deploys', async (t) => {
  const own = join(folder, 'node_modules/seatgate')
  const files = readdirSync(own, { recursive: true, encoding: 'utf8' })
  t.ok(files.includes('dist/src/config/gateway.schema.json'))
  t.ok(files.includes('dist/seats-admin/console/main.js'))
  t.ok(files.includes('LICENSE'))
  t.same(
    files.filter(
      (name) => name.endsWith('.ts') || /^(test|bench|docs\/(generate|site)|deploy\/package)\b/.test(name),
    ),
    [],
  )
  for (const name of ['pino-pretty', 'prom-client']) t.ok(files.includes(`dist/packages/${name}.js`))
  const used = execFileSync('du', ['-sk', join(folder, 'node_modules')], { encoding: 'utf8' })
  const installed = Number.parseInt(used, 10) / 1024
  t.ok(installed < MAX_SIZE, `${installed.toFixed(1)} MiB installed`)
  const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))
  t.notOk('private' in manifest)
  t.notOk('node' in manifest.dependencies, 'no Node.js of its own')
})

t.jobs = 2

/** The oldest, one between, and that of this process. */
const VERSIONS = ['22.19.0', '24', null]

for (const tested of VERSIONS)
  t.test(`Node.js ${tested ?? process.version}`, async (t) => {
    const node = tested === null ? null : nodeOf(tested)
    const cwd = mkdtempSync(join(folder, 'own-'))
    const place = { folder, cwd, node }
    const run = (...args: string[]) => launch(t, place, ...args).ended
    const config = join(cwd, 'gateway.config.yaml')

    const version = await run('--version')
    t.match(version.out, /^seatgate \d+\.\d+\.\d+ \([0-9a-f]{7,}\+?, Node\.js \d+\.\d+\.\d+\)\n$/)
    t.match(await run('init', '--upstream', service), { code: 0, err: '' })
    writeFileSync(config, readFileSync(config, 'utf8').replace(/127\.0\.0\.1:(8080|9090)/g, '127.0.0.1:0'))
    const check = await run('check')
    t.equal(check.err, '')
    t.match(check, { code: 0, out: /no faults/ })

    if (tested !== VERSIONS[0]) {
      // The readable log is made by a package that is inside.
      const { child, out, ended } = launch(t, place, 'start', '--pretty')
      t.equal((await fetch(`${await address(out)}/v1/orders`)).status, 401)
      child.kill('SIGTERM')
      t.match(await ended, { code: 0, err: '' })
      return
    }

    const bootstrap = await run('bootstrap', '--tenant', 'acme', '--json')
    t.equal(bootstrap.code, 0, bootstrap.err)
    const { key } = JSON.parse(bootstrap.out)

    const start = launch(t, place, 'start')
    const url = await address(start.out)
    const created = await fetchConforming(`${url}/v1/seats`, {
      method: 'POST',
      headers: { 'x-api-key': key, Space: 'admin', 'Content-Type': 'application/json' },
      body: '{"name":"Clerk","spaces":["main"],"permissions":["example:read"]}',
    })
    t.equal(created.status, 200)
    const { out: token } = await run('token', '--tenant', 'acme', '--sub', 'alice', '--seat', 'Clerk')
    const ask = (path: string, space: string) =>
      fetch(url + path, { headers: { Authorization: `Bearer ${token.trim()}`, Space: space } })
    t.equal((await ask('/v1/orders', 'main')).status, 200)
    t.equal((await ask('/v1/orders', 'other')).status, 403)

    const request = ['GET', '/v1/orders', '--space', 'main', '--tenant', 'acme', '--seat', 'Clerk']
    t.match(await run('explain', ...request), { code: 0, out: /allow/ })

    writeFileSync(
      join(cwd, 'routes/more.yaml'),
      'upstream: example\nroutes:\n  GET /v1/more: authenticated\n',
    )
    start.child.kill('SIGHUP')
    await until(async () => (await ask('/v1/more', 'other')).status === 200, 'the new route')

    start.child.kill('SIGTERM')
    const ended = await start.ended
    t.equal(ended.code, 0, ended.err)
    t.equal(ended.err, '', 'nothing on standard error')

    writeFileSync(config, `${readFileSync(config, 'utf8')}workers: 2\nconsole: true\n`)
    const workers = launch(t, place, 'start')
    const shared = await address(workers.out)
    const again = await fetch(`${shared}/v1/more`, {
      headers: { Authorization: `Bearer ${token.trim()}`, Space: 'main' },
    })
    t.equal(again.status, 200, 'two workers')
    const page = await (await fetch(`${shared}/_seatgate/console/`)).text()
    const files = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path = '']) => path)
    // Connections of their own reach both workers, which agree on the paths of the files.
    const statuses = files.map(
      async (path) => (await fetch(shared + path, { headers: { connection: 'close' } })).status,
    )
    t.same(new Set(await Promise.all(statuses)), new Set([200]), `${files.length} files of the console`)
    workers.child.kill('SIGTERM')
    t.equal((await workers.ended).code, 0)
  })

/** The address of the listener, from the log, once the gateway listens. */
async function address(log: () => string): Promise<string> {
  const port = () => /127\.0\.0\.1:(\d+) \(front/.exec(log())?.[1]
  await until(
    () => port() !== undefined,
    () => `the gateway does not listen: ${log()}`,
  )
  return `http://127.0.0.1:${port()}`
}
