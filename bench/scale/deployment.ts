/** A filled store, the configuration of the gateways on it, and requests that use its Seats. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { serverFolder } from '../../test/support/servers/folder.ts'
import type { Ending } from './ending.ts'
import { type Filled, fill } from './fill.ts'
import { ScaleGateway } from './gateway.ts'
import { PERMISSION, type Seat, tenantId, usedSeatOf } from './population.ts'
import type { Request } from './requests.ts'
import type { Servers } from './servers.ts'

/** Lifetime of tokens in milliseconds: longer than the whole measurement. */
const LIFETIME = 12 * 3_600_000

export interface Setup {
  /** Of the database and of the keys in Redis. */
  readonly name: string
  readonly upstream: string
  /** Indexes of the tenants in the configuration. */
  readonly tenants: readonly number[]
  /** A tenant has the same secret in all deployments, so that its tokens are valid in all. */
  readonly secretOf: (tenant: number) => string
  readonly seats: Iterable<Seat>
  readonly count: number
}

export class Deployment {
  readonly name: string
  readonly filled: Filled
  /** Milliseconds to load the configuration. */
  readonly configLoad: number
  readonly #ending: Ending
  readonly #file: string
  readonly #folder: string
  readonly #config: Config

  private constructor(parts: {
    name: string
    filled: Filled
    configLoad: number
    ending: Ending
    file: string
    folder: string
    config: Config
  }) {
    this.name = parts.name
    this.filled = parts.filled
    this.configLoad = parts.configLoad
    this.#ending = parts.ending
    this.#file = parts.file
    this.#folder = parts.folder
    this.#config = parts.config
  }

  static async make(ending: Ending, { postgres, redis }: Servers, setup: Setup): Promise<Deployment> {
    const { name, seats, count } = setup
    const store = await postgres.createDatabase(name)
    const filled = await fill(store, count, seats)
    const folder = serverFolder(ending.t, `scale-${name}`)
    const file = writeConfiguration(folder, store, `${redis.url}?prefix=${name}:`, setup)
    const begun = performance.now()
    const config = await loadConfig(file, process.env)
    return new Deployment({
      name,
      filled,
      configLoad: performance.now() - begun,
      ending,
      file,
      folder,
      config,
    })
  }

  /** Starts another gateway of the fleet. */
  async gateway(): Promise<ScaleGateway> {
    const gateway = await ScaleGateway.start(this.#file, this.#folder)
    this.#ending.teardown(() => gateway.stop())
    return gateway
  }

  /** One request for each tenant: a user whose token names the Seat in use, in a space where it grants. */
  requests(tenants: readonly number[]): Promise<Request[]> {
    return Promise.all(tenants.map((tenant) => this.#request(tenant)))
  }

  async #request(tenant: number): Promise<Request> {
    const { name, spaces } = usedSeatOf(tenant)
    const [space = ''] = spaces
    const config = this.#config.tenants.get(tenantId(tenant))
    if (config === undefined) throw new Error(`no tenant ${tenant}`)
    const subject = { sub: `user-${tenant}`, hashPerm: [`${space}:${name}`] }
    const token = await mintToken(config, subject, Date.now(), LIFETIME)
    return { authorization: `Bearer ${token}`, space }
  }
}

function writeConfiguration(
  folder: string,
  store: string,
  redis: string,
  { upstream, tenants, secretOf }: Setup,
): string {
  mkdirSync(join(folder, 'routes'))
  writeFileSync(
    join(folder, 'routes', 'main.yaml'),
    `upstream: main\nroutes:\n  GET /v1/trainings/{id}: ${PERMISSION}\n`,
  )
  const file = join(folder, 'gateway.config.yaml')
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
  writeFileSync(file, text, { mode: 0o600 })
  return file
}
