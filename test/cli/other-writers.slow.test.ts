/** Programs that write to the store beside a running gateway: decisions use their changes once they report success. */

import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { mintToken } from '../../src/decision/authn/token.ts'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { loadConfig } from '../../src/config/load.ts'
import { startTrainingsService } from '../demo/trainings-service.ts'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET, seatgate } from './command-line.ts'
import { fetchConforming } from '../support/openapi.ts'

async function startGateway(t: Test) {
  const service = await startTrainingsService()
  t.teardown(() => service.close())
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES })
  const env = { ...process.env, ACME_SECRET: SECRET, TRAININGS_URL: service.url }
  const child = spawn(process.execPath, [MAIN, 'start'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  const url = await new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk) => {
      out += chunk
      const found = /listening on (http:\S+) \(front/.exec(out)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
  return { child, cwd, url, env }
}

t.test('bootstrap: the key works as soon as it is printed', async (t) => {
  const { cwd, url } = await startGateway(t)
  for (let round = 0; round < 3; round++) {
    const made = await seatgate(cwd, ['bootstrap', '--tenant', 'acme', '--json'])
    t.equal(made.code, 0, made.err)
    const headers = { 'x-api-key': JSON.parse(made.out).key, space: 'admin' }
    t.equal((await fetchConforming(`${url}/v1/seats`, { headers })).status, 200)
  }
})

t.test('explain agrees with the gateway, on the same store', async (t) => {
  const { cwd, url } = await startGateway(t)
  const { key } = JSON.parse((await seatgate(cwd, ['bootstrap', '--tenant', 'acme', '--json'])).out)
  const token = (
    await seatgate(cwd, ['token', '--tenant', 'acme', '--sub', 'a', '--seat', 'admin'])
  ).out.trim()
  const callers = [['--api-key', key], ['--token', token], ['--token', 'nonsense'], []]
  const asks: [method: string, path: string, spaces: string[]][] = [
    ['GET', '/v1/trainings', ['admin', 's1']],
    ['GET', '/v1/me', ['s1']],
    ['GET', '/v1/openapi.json', ['s1']],
    ['GET', '/docs/a', ['s1']],
    ['POST', '/v1/trainings', ['admin']],
    ['GET', '/%2e', ['admin']],
  ]
  for (const [method, path, spaces] of asks) {
    for (const caller of callers) {
      for (const space of spaces) {
        const explained = await seatgate(cwd, [
          'explain',
          method,
          path,
          '--space',
          space,
          '--json',
          ...caller,
        ])
        const [kind, value = ''] = caller
        const headers: Record<string, string> = { space }
        if (kind === '--api-key') headers['x-api-key'] = value
        if (kind === '--token') headers.authorization = `Bearer ${value}`
        const answer = await fetchConforming(url + path, { method, headers })
        const problem = answer.headers.get('content-type') === 'application/problem+json'
        const code = problem ? ((await answer.json()) as { code: string }).code : 'allow'
        // `fetch` resolves dot segments itself, so this path is compared with its own response only.
        if (path !== '/%2e')
          t.equal(JSON.parse(explained.out).code, code, `${method} ${path} ${caller[0]} ${space}`)
        else t.equal(JSON.parse(explained.out).code, 'path_ambiguous')
      }
    }
  }
})

t.test('stopped during a write and continued: no decision uses the old state', async (t) => {
  const { child, cwd, url, env } = await startGateway(t)
  const config = await loadConfig(`${cwd}/gateway.config.yaml`, env)
  const tenant = config.tenants.get('acme')
  if (tenant === undefined) throw new Error('no tenant')
  const store = await openStore(config.store)
  t.teardown(() => store.close())
  const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
  const writer = () => ({ tenant: 'acme', by: 'test', scope, now: Date.now() })
  const made = await store.createSeat(writer(), {
    name: 'Viewer',
    spaces: ['s1'],
    permissions: ['trainings:list'],
  })
  if (isRefusal(made)) throw new Error(made.detail)
  const token = await mintToken(tenant, { sub: 'alice', hashPerm: ['s1:Viewer'] }, Date.now())
  const headers = { authorization: `Bearer ${token}`, space: 's1' }
  const ask = async () => (await fetch(`${url}/v1/trainings`, { headers })).status
  await sleep(LEASE + MARGIN)
  for (let round = 0; round < 4; round++) {
    const grant = round % 2 === 1
    const before = await ask()
    t.equal(before, grant ? 403 : 200, 'in memory')
    child.kill('SIGSTOP')
    const permissions = grant ? ['trainings:list'] : ['trainings:read']
    await store.updateSeat(writer(), made.value.id, { permissions })
    await sleep(LEASE + MARGIN)
    // Sent while it is stopped, so that they are the first that it reads.
    const answers = Promise.all(Array.from({ length: 20 }, ask))
    await sleep(100)
    child.kill('SIGCONT')
    t.same(new Set(await answers), new Set([grant ? 200 : 403]))
  }
})
