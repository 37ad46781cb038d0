/**
 * A second gateway on the store of a running one would not notice its writes. The lock file is deleted or replaced,
 * the database is opened by other names, the owner is overwritten: two gateways never decide at the same time.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { mintToken } from '../../src/decision/authn/token.ts'
import { loadConfig } from '../../src/config/load.ts'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET, seatgate } from '../cli/command-line.ts'
import { startUpstream } from '../support/world.ts'
import { fetchConforming } from '../support/openapi.ts'

interface Started {
  readonly child: ChildProcess
  /** Null where the process ended before it listened. */
  readonly url: string | null
  readonly exit: Promise<unknown[]>
  output(): string
}

async function start(t: Test, cwd: string, env: NodeJS.ProcessEnv, through: string[] = []): Promise<Started> {
  const [program = '', ...args] = [...through, process.execPath, MAIN, 'start']
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exit
  })
  let output = ''
  const url = await new Promise<string | null>((resolve) => {
    const collect = (chunk: Buffer) => {
      output += chunk
      const found = /listening on (http:\S+) \(front/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('close', () => resolve(null))
  })
  return { child, url, exit, output: () => output }
}

async function prepare(t: Test, more = '') {
  const upstream = await startUpstream(t)
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG.replace('./seatgate.db', './data/seatgate.db') + more,
    'routes/trainings.yaml': ROUTES,
  })
  const env = { ...process.env, ACME_SECRET: SECRET, TRAININGS_URL: upstream.url }
  const made = await seatgate(cwd, ['bootstrap', '--tenant', 'acme', '--json'])
  const key: string = JSON.parse(made.out).key
  const tenant = (await loadConfig(join(cwd, 'gateway.config.yaml'), env)).tenants.get('acme')
  if (tenant === undefined) throw new Error('no tenant')
  const token = await mintToken(tenant, { sub: 'alice', hashPerm: ['s1:Viewer'] }, Date.now() - 1000)
  return { cwd, env, path: join(cwd, 'data', 'seatgate.db'), key, token }
}

function admin(url: string, key: string, method: string, path: string, body: unknown) {
  const headers = { 'x-api-key': key, space: 'admin', 'content-type': 'application/json' }
  return fetchConforming(url + path, { method, headers, body: JSON.stringify(body) })
}

async function makeViewer(url: string, key: string): Promise<string> {
  const seat = { name: 'Viewer', spaces: ['s1'], permissions: ['trainings:list'] }
  const made = await admin(url, key, 'POST', '/v1/seats', seat)
  return ((await made.json()) as { id: string }).id
}

async function ask(url: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, space: 's1' }
  return (await fetch(`${url}/v1/trainings`, { headers })).status
}

/** Writes at the first gateway, then sends requests to the second, and counts its decisions on older state. */
async function staleDecisions(first: string, second: string, key: string, token: string): Promise<number> {
  const id = await makeViewer(first, key)
  let stale = 0
  for (let round = 0; round < 40; round++) {
    const grant = round % 2 === 1
    const permissions = grant ? ['trainings:list'] : ['trainings:read']
    await admin(first, key, 'PUT', `/v1/seats/${id}`, { permissions })
    if ((await ask(second, token)) !== (grant ? 200 : 403)) stale++
  }
  return stale
}

t.test('beside a running gateway, with any lock file and any name', async (t) => {
  const { cwd, env, path, key, token } = await prepare(t)
  const first = await start(t, cwd, env)
  const url = first.url ?? ''

  const refused = async (t: Test, why: RegExp, through: string[] = []) => {
    const second = await start(t, cwd, env, through)
    if (second.url !== null)
      t.equal(await staleDecisions(url, second.url, key, token), 0, 'stale decisions of the second gateway')
    t.equal(second.url, null, 'it does not listen')
    if (second.url !== null) second.child.kill('SIGKILL')
    t.equal((await second.exit)[0], 1)
    t.match(second.output(), why)
    t.equal(await ask(url, token), 403, 'the first one keeps running')
  }

  await t.test('the store is unchanged', (t) => refused(t, /another gateway runs on the store/))
  await t.test('the lock file is deleted', (t) => {
    rmSync(`${path}.lock`)
    return refused(t, /another process has the file open/)
  })
  await t.test('the lock file is moved away and replaced by a copy', (t) => {
    renameSync(`${path}.lock`, `${path}.away`)
    copyFileSync(`${path}.away`, `${path}.lock`)
    return refused(t, /another process has the file open/)
  })
  await t.test('by a symbolic link', (t) => {
    rmSync(`${path}.lock`)
    symlinkSync(path, join(cwd, 'link.db'))
    useStore(cwd, './link.db')
    return refused(t, /another process has the file open/)
  })
  await t.test('by a hard link in another folder', async (t) => {
    mkdirSync(join(cwd, 'other'))
    linkSync(path, join(cwd, 'other', 'other.db'))
    useStore(cwd, './other/other.db')
    await refused(t, /the file has 2 hard links/)
    rmSync(join(cwd, 'other', 'other.db'))
  })
  await t.test('by a bind mount of the file', async (t): Promise<void> => {
    const mounted = join(cwd, 'other', 'mounted.db')
    writeFileSync(mounted, '')
    const bind = [
      'unshare',
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      'mount --bind "$0" "$1" && shift && exec "$@"',
    ]
    const [program = '', ...args] = [...bind, path, mounted, 'true']
    if (spawnSync(program, args).status !== 0) {
      t.pass('skipped: this machine does not permit bind mounts')
      return
    }
    useStore(cwd, './other/mounted.db')
    return refused(t, /another process has the file open/, [...bind, path, mounted])
  })

  useStore(cwd, './data/seatgate.db')
  const id = await makeViewer(url, key)
  t.equal(await ask(url, token), 200)
  first.child.kill('SIGKILL')
  await first.exit
  const next = await start(t, cwd, env)
  t.equal(await ask(next.url ?? '', token), 200, 'killed: the next one starts at once')
  const put = await admin(next.url ?? '', key, 'PUT', `/v1/seats/${id}`, { permissions: [] })
  t.equal(put.status, 200)
  t.equal(await ask(next.url ?? '', token), 403)
})

function useStore(cwd: string, path: string): void {
  writeFileSync(join(cwd, 'gateway.config.yaml'), CONFIG.replace('./seatgate.db', path))
}

t.test('of four that start at once without a common lock file, one decides', async (t) => {
  const { cwd, env, path } = await prepare(t)
  const deleting = setInterval(() => rmSync(`${path}.lock`, { force: true }), 1)
  const all = await Promise.all(Array.from({ length: 4 }, () => start(t, cwd, env)))
  clearInterval(deleting)
  t.equal(all.filter(({ url }) => url !== null).length, 1, all.map(({ output }) => output()).join('\n'))
})

for (const workers of [1, 2]) {
  t.test(
    `another owner is recorded in the store, ${workers} workers: the gateway stops deciding and ends`,
    async (t) => {
      const { cwd, env, path, key, token } = await prepare(t, `workers: ${workers}\n`)
      const gateway = await start(t, cwd, env)
      const url = gateway.url ?? ''
      await makeViewer(url, key)
      t.equal(await ask(url, token), 200)
      // It is stopped meanwhile, so that its memory is unchanged when it continues.
      gateway.child.kill('SIGSTOP')
      const store = new DatabaseSync(path)
      store.exec("UPDATE counter SET owner = '0:0'")
      store.close()
      gateway.child.kill('SIGCONT')
      t.equal((await gateway.exit)[0], 1)
      t.match(gateway.output(), /another gateway has taken over this store/)
      await t.rejects(ask(url, token))
    },
  )
}

t.test('superseded: no write is committed', async (t) => {
  const { cwd, env, path, key } = await prepare(t)
  const gateway = await start(t, cwd, env)
  const url = gateway.url ?? ''
  const store = new DatabaseSync(path)
  t.teardown(() => store.close())
  store.exec("BEGIN IMMEDIATE; UPDATE counter SET owner = '0:0'")
  const written = admin(url, key, 'POST', '/v1/seats', { name: 'Late', spaces: [], permissions: [] })
  const status = written.then(
    (answer) => answer.status,
    () => 'cut',
  )
  await new Promise((resolve) => setTimeout(resolve, 300))
  store.exec('COMMIT')
  t.ok([503, 'cut'].includes(await status))
  t.equal(store.prepare("SELECT count(*) AS n FROM seats WHERE name = 'Late'").get()?.n, 0)
  t.equal((await gateway.exit)[0], 1)
})

for (const workers of [1, 2]) {
  t.test(
    `a restored folder replaces the store, and a second gateway starts on it, ${workers} workers`,
    async (t) => {
      const { cwd, env, path, key, token } = await prepare(t, `workers: ${workers}\n`)
      const first = await start(t, cwd, env)
      const id = await makeViewer(first.url ?? '', key)
      t.equal(await ask(first.url ?? '', token), 200)
      mkdirSync(join(cwd, 'restored'))
      const store = new DatabaseSync(path)
      store.exec(`VACUUM INTO '${join(cwd, 'restored', 'seatgate.db')}'`)
      store.close()
      const restored = new DatabaseSync(join(cwd, 'restored', 'seatgate.db'))
      restored.exec("UPDATE counter SET owner = '0:0'")
      restored.close()
      renameSync(join(cwd, 'data'), join(cwd, 'data.old'))
      renameSync(join(cwd, 'restored'), join(cwd, 'data'))
      const second = await start(t, cwd, env)
      const put = await admin(second.url ?? '', key, 'PUT', `/v1/seats/${id}`, { permissions: [] })
      t.equal(put.status, 200)
      const answer = ask(first.url ?? '', token).catch(() => 'cut')
      t.ok([503, 'cut'].includes(await answer), 'after that the first one decides nothing')
      const asking = setInterval(() => void ask(first.url ?? '', token).catch(() => null), 100)
      t.teardown(() => clearInterval(asking))
      t.equal((await first.exit)[0], 1, 'it ends')
      clearInterval(asking)
      t.match(first.output(), /another gateway has taken over this store/)
      t.equal(await ask(second.url ?? '', token), 403)
    },
  )
}
