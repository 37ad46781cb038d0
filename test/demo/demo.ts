/**
 * `npm run demo`: a sample service, and the gateway in front of it on the shipped configuration, with everything that
 * it takes to see a 200, a 401 and a 403, and to sign in to the console: a sample identity provider, unless `--no-provider`
 * leaves it out, and an MCP server with `--agents`. Secrets are random, the store is a temporary folder; both end with it.
 */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bootstrapTenant, openStore, type Store } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { withoutStored } from '../../src/cli/reloading.ts'
import { runGateway } from '../../src/cli/start.ts'
import { mintForSeats } from '../../src/cli/token.ts'
import type { Config, TenantConfig } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openLog } from '../../src/telemetry/logger.ts'
import { serve, type Serving } from './loopback.ts'
import { agentLines, withAgents } from './sample-agents.ts'
import { type SampleProvider, startSampleProvider } from './sample-provider.ts'
import { startTrainingsService } from './trainings-service.ts'

const TENANT = 'acme'
const SPACE = 'main'
const SEATS = [
  { name: 'Viewer', spaces: [SPACE], permissions: ['trainings:list', 'trainings:read', 'weather:read'] },
  {
    name: 'Editor',
    spaces: [SPACE],
    permissions: ['trainings:create', 'trainings:update', 'trainings:delete'],
  },
]

/** At the sample provider. Seat `admin` is that of the bootstrap. */
const USERS = [
  { sub: 'carol', name: 'Carol', seats: ['admin'] },
  { sub: 'bob', name: 'Bob', seats: ['Viewer', 'Editor'] },
  { sub: 'alice', name: 'Alice', seats: ['Viewer'] },
]
const CONSOLE = '/_seatgate/console/'
const SIGN_IN = `, or choose the identity provider and the
tenant ${TENANT}. That is a sample, which asks for no password: ${USERS.map(({ sub, seats }) => `${sub} (${seats.join(', ')})`).join(', ')}.`

const wanted = readOptions()
const folder = await mkdtemp(join(tmpdir(), 'seatgate-demo-'))
const service = await startTrainingsService()
let agents: Serving | null = null
let provider: SampleProvider | null = null
try {
  const listen = await fixedPort(process.env['SEATGATE_LISTEN'] ?? '127.0.0.1:8080')
  // Browsers keep the session cookie, which is Secure, at this name without TLS.
  const page = `http://localhost:${listen.slice(listen.lastIndexOf(':') + 1)}`
  const redirectUri = `${page}/auth/oidc/callback`
  if (wanted.agents) agents = await startAgents()
  if (wanted.provider)
    provider = await startSampleProvider(USERS, { redirectUri, afterLogout: page + CONSOLE })
  const env = {
    SEATGATE_OPS: '127.0.0.1:9090',
    ...process.env,
    SEATGATE_LISTEN: listen,
    SEATGATE_STORE: `sqlite:${join(folder, 'seatgate.db')}`,
    ACME_TOKEN_SECRET: `base64url:${randomBytes(32).toString('base64url')}`,
    TRAININGS_URL: service.url,
  }
  const file = fileURLToPath(new URL('../../gateway.config.yaml', import.meta.url))
  const withTools = (config: Config) =>
    agents === null ? config : withAgents(config, agents.url, `http://${listen}`)
  const load = async () => withoutStored(withTools(forDemo(await loadConfig(file, env), provider)))
  const first = await load()
  const shown = await prepare(first.config)
  const log = await openLog({ pretty: true })
  try {
    await runGateway(first, log, load, {
      env: process.env['npm_lifecycle_event'] === 'demo' ? { SEATGATE_PARENT: String(process.ppid) } : {},
      listening: ({ front }) =>
        console.log(introduction({ ...shown, page }, `http://127.0.0.1:${front.port}`)),
    })
  } finally {
    await log.close()
  }
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await provider?.close()
  await agents?.close()
  await service.close()
  await rm(folder, { recursive: true, force: true })
}

interface Shown {
  readonly viewer: string
  readonly editor: string
  readonly key: string
  /** The origin for browsers. */
  readonly page: string
}

function readOptions(): { provider: boolean; agents: boolean } {
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values } = parseArgs({ options: { 'no-provider': flag, agents: flag } })
    return { provider: !values['no-provider'], agents: values.agents }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    console.error(`demo: ${message}\nusage: npm run demo -- [--no-provider] [--agents]`)
    process.exit(2)
  }
}

/** Its packages take a while to load. */
async function startAgents(): Promise<Serving> {
  const { sampleServer } = await import('../support/mcp-server.ts')
  return serve(sampleServer().listener)
}

/** The provider has to know the port before the gateway listens. @param listen may have port 0 */
async function fixedPort(listen: string): Promise<string> {
  if (!listen.endsWith(':0')) return listen
  const probe = await serve(() => {})
  await probe.close()
  return listen.replace(/0$/, new URL(probe.url).port)
}

/** The shipped configuration, with the console and the sample provider. */
function forDemo(config: Config, sample: SampleProvider | null): Config {
  const own = config.tenants.get(TENANT)
  const tenants = new Map(config.tenants)
  if (own !== undefined && sample !== null) tenants.set(TENANT, { ...own, oidc: sample.oidc })
  return { ...config, api: { ...config.api, console: true }, tenants }
}

/** Three Seats, two tokens and an API key, made the way an operator would. */
async function prepare(config: Config): Promise<Omit<Shown, 'page'>> {
  const tenant = config.tenants.get(TENANT)
  if (tenant === undefined) throw new Error(`${config.file} has no tenant ${TENANT}`)
  const store = await openStore(config.store)
  try {
    const first = await bootstrapTenant(store, {
      tenant: TENANT,
      adminSpace: tenant.adminSpace,
      now: Date.now(),
    })
    if (isRefusal(first)) throw new Error(first.detail)
    const scope = { space: tenant.adminSpace, admin: true, all: true, permissions: ['*'] }
    for (const seat of SEATS) {
      const made = await store.createSeat({ tenant: TENANT, by: 'demo', scope, now: Date.now() }, seat)
      if (isRefusal(made)) throw new Error(made.detail)
    }
    return {
      viewer: await tokenFor(store, tenant, 'alice', ['Viewer']),
      editor: await tokenFor(store, tenant, 'bob', ['Viewer', 'Editor']),
      key: first.key,
    }
  } finally {
    await store.close()
  }
}

function tokenFor(store: Store, tenant: TenantConfig, sub: string, seats: string[]): Promise<string> {
  return mintForSeats(store, tenant, { sub, email: `${sub}@acme.example` }, seats)
}

function introduction({ viewer, editor, key, page }: Shown, url: string): string {
  return `
Seatgate listens on ${url}, in front of a sample service of trainings.
Paste these into another terminal:

ALICE='${viewer}'
BOB='${editor}'
KEY='${key}'

# 200: alice holds Seat Viewer in space ${SPACE}, which has trainings:list
curl -i -H "Authorization: Bearer $ALICE" -H 'Space: ${SPACE}' ${url}/v1/trainings

# 401: the request has no credential
curl -i -H 'Space: ${SPACE}' ${url}/v1/trainings

# 403: none of alice's Seats has trainings:create; one of bob's has
curl -i -H "Authorization: Bearer $ALICE" -H 'Space: ${SPACE}' -H 'Content-Type: application/json' -d '{"title":"Ladders"}' ${url}/v1/trainings
curl -i -H "Authorization: Bearer $BOB" -H 'Space: ${SPACE}' -H 'Content-Type: application/json' -d '{"title":"Ladders"}' ${url}/v1/trainings

# The Seats, with the API key of the tenant's administrator
curl -s -H "x-api-key: $KEY" -H 'Space: admin' ${url}/v1/seats

# The caller, as the service sees it
curl -s -H "Authorization: Bearer $ALICE" ${url}/v1/me
${wanted.agents ? agentLines(url) : ''}
The console, in a browser on this machine: ${page}${CONSOLE}
Sign in with the text of KEY${wanted.provider ? SIGN_IN : '.'}

Ctrl-C ends the demo. The log of the gateway follows.
`
}
