/** Gateways on a filled store, and requests that use its Seats. */

import { join } from 'node:path'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { routeTable, writeFiles } from '../../test/support/configuration.ts'
import { serverFolder } from '../../test/support/servers/folder.ts'
import type { Ending } from '../harness.ts'
import { type Filled, fill } from './fill.ts'
import { ScaleGateway } from './gateway.ts'
import { PERMISSION, type Seat, tenantId, usedSeatOf } from './population.ts'
import type { Request } from './requests.ts'
import type { Servers } from './servers.ts'

/** Lifetime of tokens in milliseconds: longer than the whole measurement. */
const LIFETIME = 12 * 3_600_000
const CONFIGURATION = 'gateway.config.yaml'

export interface Setup {
  /** The name of the database, and the prefix of the keys in Redis. */
  readonly name: string
  readonly upstream: string
  /** Indexes of the tenants in the configuration. */
  readonly tenants: readonly number[]
  /** A tenant has the same secret in all deployments, so that its tokens are valid in all. */
  readonly secretOf: (tenant: number) => string
  readonly seats: Iterable<Seat>
  readonly count: number
}

/** A filled store, and the configuration of the gateways on it. */
export interface Deployment {
  readonly name: string
  readonly filled: Filled
  /** Milliseconds to load the configuration. */
  readonly configLoad: number
  /** Starts another gateway of the fleet. With `inspected`, its heap can be measured, and nothing else. */
  gateway(inspected?: boolean): Promise<ScaleGateway>
  /**
   * Makes one request for each tenant: its user's token names the Seat in use, and this Seat grants in the
   * space.
   */
  requests(tenants: readonly number[]): Promise<Request[]>
}

export async function deploy(
  ending: Ending,
  { postgres, redis }: Servers,
  setup: Setup,
): Promise<Deployment> {
  const { name, seats, count } = setup
  const store = await postgres.createDatabase(name)
  const filled = await fill(store, count, seats)
  const folder = serverFolder(ending.t, `scale-${name}`)
  writeConfiguration(folder, store, `${redis.url}?prefix=${name}:`, setup)
  const begun = performance.now()
  const config = await loadConfig(join(folder, CONFIGURATION), process.env)
  const configLoad = performance.now() - begun
  return {
    name,
    filled,
    configLoad,
    gateway: (inspected = false) => ScaleGateway.start(ending, folder, inspected),
    requests: (tenants) => Promise.all(tenants.map((tenant) => requestOf(config, tenant))),
  }
}

async function requestOf({ tenants }: Config, tenant: number): Promise<Request> {
  const { name, spaces } = usedSeatOf(tenant)
  const [space = ''] = spaces
  const config = tenants.get(tenantId(tenant))
  if (config === undefined) throw new Error(`no tenant ${tenant}`)
  const subject = { sub: `user-${tenant}`, hashPerm: [`${space}:${name}`] }
  const token = await mintToken(config, subject, Date.now(), LIFETIME)
  return { authorization: `Bearer ${token}`, space }
}

function writeConfiguration(
  folder: string,
  store: string,
  redis: string,
  { upstream, tenants, secretOf }: Setup,
): void {
  const each = (tenant: number) => `  ${tenantId(tenant)}: { token: { secrets: ["${secretOf(tenant)}"] } }\n`
  const text = `listen: 127.0.0.1:0
ops: 127.0.0.1:0
store: ${JSON.stringify(store)}
redis: ${JSON.stringify(redis)}
drain: 1s
tenants:
${tenants.map(each).join('')}upstreams: { main: { targets: ["${upstream}"] } }
routes: [routes/*.yaml]
`
  const routes = routeTable([`GET /v1/trainings/{id}: ${PERMISSION}`])
  writeFiles(folder, { [CONFIGURATION]: text, 'routes/main.yaml': routes }, 0o600)
}
