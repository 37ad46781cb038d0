/**
 * An instance that was frozen while its files changed decides by the new ones first: whoever waited for the
 * fleet was told that no instance decides by the old ones. Real processes, stopped by SIGSTOP.
 */

import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { startService, succeed } from '../operations/service.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const ROUNDS = 4
const [OLD, NEW] = ['an old secret of at least thirty-two bytes', 'a new secret of at least thirty-two bytes']

const { url } = await startService(t, 'front', succeed)

const FILES = {
  'gateway.config.yaml': `listen: 127.0.0.1:0
ops: 127.0.0.1:0
store: sqlite:./seatgate.db
tenants: { acme: { token: { secrets: ["\${file:secret}"] } } }
upstreams: { main: { targets: ['${url}'] } }
routes: [routes/*.yaml]
`,
  'routes/main.yaml': tableOf('public'),
  secret: OLD,
}

function tableOf(requirement: string): string {
  return `upstream: main\nroutes:\n  GET /gate: ${requirement}\n  GET /me: authenticated\n`
}

/** As a deployment does: the file is replaced at once. */
function replace({ folder }: GatewayProcess, name: string, text: string): void {
  const path = join(folder, name)
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

/** The status of the first response after the gateway was frozen for longer than a lease. */
async function firstStatus(gateway: GatewayProcess, request: string, meanwhile: () => void): Promise<number> {
  await gateway.freeze()
  // The kernel accepts connections and their bytes.
  const clients = Array.from({ length: 4 }, () => new RawClient(gateway.port).send(request))
  await sleep(LEASE + MARGIN)
  meanwhile()
  gateway.thaw()
  const statuses = new Set(await Promise.all(clients.map(statusOf)))
  // On a busy machine, the store may answer too slowly for a decision: that is none by the old files.
  const decided = statuses.size === 1 && statuses.has(503) ? statuses : statuses.difference(new Set([503]))
  if (decided.size !== 1) throw new Error(`different statuses: ${[...statuses]}`)
  const [first = 0] = decided
  return first === 503 ? statusOf(new RawClient(gateway.port).send(request)) : first
}

async function statusOf(client: RawClient): Promise<number> {
  const { all } = await client.responses(1)
  client.close()
  return all[0]?.status ?? 0
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`

async function token(secret: string): Promise<string> {
  const config = {
    secrets: [Buffer.from(secret)],
    algorithm: 'HS256',
    lifetime: 3_600_000,
    leeway: 0,
  } as const
  const tenant = { id: 'acme', adminSpace: 'admin', token: config, oidc: null }
  return mintToken(tenant, { sub: 'alice', hashPerm: [] }, Date.now())
}

async function drill(t: Test, workers: number): Promise<void> {
  const main = `${FILES['gateway.config.yaml']}workers: ${workers}\n`
  const gateway = await startGatewayProcess(t, { files: { ...FILES, 'gateway.config.yaml': main } })

  await t.test('a public route that was closed', async (t) => {
    for (let round = 0; round < ROUNDS; round++) {
      const [before, after] = round % 2 === 0 ? ['public', 'authenticated'] : ['authenticated', 'public']
      const status = await firstStatus(gateway, get('/gate'), () =>
        replace(gateway, 'routes/main.yaml', tableOf(after ?? '')),
      )
      t.equal(status, after === 'public' ? 200 : 401, `from ${before} to ${after}`)
    }
  })

  await t.test('a secret that was withdrawn', async (t) => {
    const me = async (secret: string) => get('/me', `Authorization: Bearer ${await token(secret)}\r\n`)
    const old = await me(OLD)
    t.equal(await firstStatus(gateway, old, () => {}), 200, 'the files are the same')
    t.equal(await firstStatus(gateway, old, () => replace(gateway, 'secret', NEW)), 401)
    t.equal(await firstStatus(gateway, await me(NEW), () => {}), 200)
  })

  await t.test('files with faults: the instance goes on, and says so', async (t) => {
    const status = await firstStatus(gateway, get('/gate'), () =>
      replace(gateway, 'routes/main.yaml', tableOf('nonsense')),
    )
    t.equal(status, 200)
    const refused = async () => ((await gateway.ready()).body['config'] as { refused?: unknown }).refused
    t.match(await refused(), { faults: 1, first: /^routes\/main\.yaml:3:14: / })
    replace(gateway, 'routes/main.yaml', tableOf('public'))
    await until(async () => (await refused()) === undefined, 'the end of the refusal')
  })
}

t.test('one process', (t) => drill(t, 1))
t.test('workers', (t) => drill(t, 2))
