/**
 * `npm run demo`: a sample service, and the gateway in front of it on the shipped configuration, with everything that
 * it takes to see a 200, a 401 and a 403. Secrets are random, the store is a temporary folder; both end with it.
 */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootstrapTenant, openStore, type Store } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { runGateway } from '../../src/cli/start.ts'
import { mintForSeats } from '../../src/cli/token.ts'
import type { Config, TenantConfig } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openLog } from '../../src/telemetry/logger.ts'
import { startTrainingsService } from './trainings-service.ts'

const TENANT = 'acme'
const SPACE = 'main'
const SEATS = [
  { name: 'Viewer', spaces: [SPACE], permissions: ['trainings:list', 'trainings:read'] },
  {
    name: 'Editor',
    spaces: [SPACE],
    permissions: ['trainings:create', 'trainings:update', 'trainings:delete'],
  },
]

const folder = await mkdtemp(join(tmpdir(), 'seatgate-demo-'))
const service = await startTrainingsService()
try {
  const env = {
    SEATGATE_LISTEN: '127.0.0.1:8080',
    SEATGATE_OPS: '127.0.0.1:9090',
    ...process.env,
    SEATGATE_STORE: `sqlite:${join(folder, 'seatgate.db')}`,
    ACME_TOKEN_SECRET: `base64url:${randomBytes(32).toString('base64url')}`,
    TRAININGS_URL: service.url,
  }
  const file = fileURLToPath(new URL('../../gateway.config.yaml', import.meta.url))
  const load = () => loadConfig(file, env)
  const config = await load()
  const shown = await prepare(config)
  const log = await openLog({ pretty: true })
  try {
    await runGateway(config, log, load, {
      listening: ({ front }) => console.log(introduction(shown, `http://127.0.0.1:${front.port}`)),
    })
  } finally {
    await log.close()
  }
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await service.close()
  await rm(folder, { recursive: true, force: true })
}

interface Shown {
  readonly viewer: string
  readonly editor: string
  readonly key: string
}

/** Three Seats, two tokens and an API key, made the way an operator would. */
async function prepare(config: Config): Promise<Shown> {
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

function introduction({ viewer, editor, key }: Shown, url: string): string {
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

Ctrl-C ends the demo. The log of the gateway follows.
`
}
