/**
 * A fleet for a test: gateways in processes of their own on one PostgreSQL and one Redis. Each can reach them through a
 * proxy of its own that can be cut.
 */

import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { openStore, type Store } from '../../seats-admin/index.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { startService, succeed } from '../operations/service.ts'
import { bootstrapIn } from '../support/bootstrapped-store.ts'
import { adminRequest, type Answer, Client } from '../support/client.ts'
import { served } from '../support/served.ts'
import { type PostgresServer, startPostgres } from '../support/servers/postgres.ts'
import { startTcpProxy, type TcpProxy } from '../support/servers/proxy.ts'
import { type RedisServer, startRedis } from '../support/servers/redis.ts'
import { FleetGateway } from './gateway.ts'
import { type LogoutProvider, type NewSession, startLogoutProvider } from './provider.ts'

export interface FleetOptions {
  readonly gateways?: number
  /** Of each gateway, or of one by its name. */
  readonly workers?: number | ((name: string) => number)
  /** `own`: started for the fleet; `url`: for all gateways; `urls`: one for each gateway. */
  readonly redis?: 'own' | 'none' | { readonly url: string } | { readonly urls: readonly string[] }
  /** Servers that each gateway reaches through a proxy of its own. A proxy costs time, most of all to the store. */
  readonly proxies?: readonly ('store' | 'redis')[]
  /** A store that was started for the fleet, in place of one PostgreSQL. */
  readonly database?: DatabaseServer
  /** One address of the store for all, which can lead to another server. */
  readonly oneAddress?: boolean
  readonly postgres?: { readonly fsync?: boolean; readonly settings?: readonly string[] }
  /** The rate limit of all requests but those to built-in endpoints, on one line. */
  readonly rateLimit?: string
  /** Lines of the configuration of the gateway that listens on this port, as `configure` takes them. */
  readonly linesOf?: (port: number) => readonly string[]
  /** The upstream, and the lines of its route table; left out: each request for trainings is answered at once. */
  readonly upstream?: { readonly target: string; readonly routes: readonly string[] }
  /** Further settings of acme, as in `ConfigurationOptions`. */
  readonly acme?: readonly string[]
  /** Further settings of the section `oidc:` of acme. */
  readonly oidc?: readonly string[]
  /** The value of `tables`; left out: they are in files. */
  readonly tablesFrom?: string
  /** In place of the command line's entry point. */
  readonly program?: readonly string[]
  /** Additional environment of one gateway. */
  readonly envOf?: (name: string) => Readonly<Record<string, string>>
}

export const TENANT = 'acme'
/** The space of all requests. */
export const SPACE = 's1'
const VIEWER = { spaces: [SPACE], permissions: ['trainings:list'] }
/** A tenant without Seats at the start. */
export const EMPTY_TENANT = 'globex'

const DATABASE = 'fleet'

/** What has the store's tables: one PostgreSQL, or the address of several. */
export type DatabaseServer = Pick<PostgresServer, 'port' | 'createDatabase' | 'query'>

interface FleetParts {
  readonly gateways: readonly FleetGateway[]
  readonly database: DatabaseServer
  readonly ownPostgres: PostgresServer | null
  /** Null without `oneAddress`. */
  readonly address: TcpProxy | null
  readonly env: Readonly<Record<string, string>>
  /** An API key with all permissions in the admin space. */
  readonly key: string
  readonly provider: LogoutProvider
  readonly store: Store
  readonly ownRedis: RedisServer | null
  readonly tenants: Config['tenants']
  /** Another gateway with the same configuration, not yet started. It is not in `gateways`. */
  readonly another: (name: string) => Promise<FleetGateway>
}

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor assigns all of the parts
export interface Fleet extends FleetParts {}

export class Fleet {
  constructor(parts: FleetParts) {
    Object.assign(this, parts)
  }

  get postgres(): PostgresServer {
    if (this.ownPostgres === null) throw new Error('the fleet has no PostgreSQL of its own')
    return this.ownPostgres
  }

  get redis(): RedisServer {
    if (this.ownRedis === null) throw new Error('the fleet has no Redis of its own')
    return this.ownRedis
  }

  /** The first gateway. */
  get first(): FleetGateway {
    return this.at(0)
  }

  at(index: number): FleetGateway {
    const gateway = this.gateways[index]
    if (gateway === undefined) throw new Error(`no gateway ${index}`)
    return gateway
  }

  /** Runs a statement on the store's tables, bypassing the gateways. */
  query(text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
    return this.database.query(text, values, DATABASE)
  }

  /** A token with these `hash_perm` entries. */
  async token(hashPerm: readonly string[], sub = 'alice', id = TENANT): Promise<string> {
    return mintToken(this.#tenant(id), { sub, hashPerm }, Date.now())
  }

  /** A program's session, as after a sign-in, and its token. Rejects when the store is unavailable. */
  session(session: NewSession): Promise<{ id: string; token: string }> {
    return this.provider.session(this.store, this.#tenant(TENANT), session)
  }

  #tenant(id: string) {
    const tenant = this.tenants.get(id)
    if (tenant === undefined) throw new Error(`no tenant ${id}`)
    return tenant
  }

  /** A request by the administrator, on a new connection. */
  admin(gateway: FleetGateway, method: string, path: string, body?: unknown): Promise<Answer> {
    return onNewConnection(gateway, (client) => client.send(method, path, ...adminRequest(this.key, body)))
  }

  /**
   * Makes a Seat, again after 503. A request answered with 503 may have made one, so each repetition has another name.
   * @returns the Seat whose creation was acknowledged
   */
  async makeSeat(gateway: FleetGateway, name: string, lists = VIEWER): Promise<{ id: string; name: string }> {
    let tries = 0
    const seat = () => ({ name: ++tries === 1 ? name : `${name} ${tries}`, ...lists })
    const { status, body, json } = await served(() => this.admin(gateway, 'POST', '/v1/seats', seat()))
    if (status !== 200) throw new Error(`${status} ${body}`)
    return json
  }

  /** The status of a request for trainings, on a new connection. */
  async statusOf(gateway: FleetGateway, headers: Record<string, string>): Promise<number> {
    return (await onNewConnection(gateway, (client) => client.send('GET', '/v1/trainings', headers))).status
  }

  /** The same of the first response other than 503: on a busy machine, a gateway may have no lease for a while. */
  async decidedStatusOf(gateway: FleetGateway, headers: Record<string, string>): Promise<number> {
    return (await served(async () => ({ status: await this.statusOf(gateway, headers) }))).status
  }
}

async function onNewConnection<T>({ port }: FleetGateway, send: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(port)
  try {
    return await send(client)
  } finally {
    client.close()
  }
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']

export async function startFleet(t: Test, options: FleetOptions = {}): Promise<Fleet> {
  const { gateways: count = 3, workers = 1, redis: wanted = 'own', proxies = ['redis'] } = options
  const ownPostgres =
    options.database === undefined ? await startPostgres(t, { fsync: false, ...options.postgres }) : null
  const server = options.database ?? ownPostgres
  if (server === null) throw new Error('a fleet without a store')
  const address = options.oneAddress === true ? await startTcpProxy(t, server) : null
  const database = through(address, await server.createDatabase(DATABASE))
  const ownRedis = wanted === 'own' ? await startRedis(t) : null
  const limited = options.rateLimit !== undefined
  const { target, routes } = options.upstream ?? {
    target: (await startService(t, 'fleet', succeed)).url,
    routes: [`GET /v1/trainings: { permission: trainings:list${limited ? ', rate_limit: [reads]' : ''} }`],
  }
  const provider = await startLogoutProvider(t, options.oidc)
  const secret = () => randomBytes(32).toString('hex')
  const env = { ACME_SECRET: secret(), GLOBEX_SECRET: secret() }
  const another = async (name: string) => {
    const redisUrl = urlFor(NAMES.indexOf(name), wanted) ?? ownRedis?.url ?? null
    const toStore = proxies.includes('store') ? await startTcpProxy(t, server) : null
    const toRedis = ownRedis !== null && proxies.includes('redis') ? await startTcpProxy(t, ownRedis) : null
    const gateway = await FleetGateway.prepare(t, {
      name,
      configuration: {
        store: through(toStore, database),
        target,
        routes,
        ...(options.tablesFrom === undefined ? {} : { tablesFrom: options.tablesFrom }),
        acme: [`oidc: ${provider.settings}`, ...(options.acme ?? [])],
        top: limited ? [`rate_limits: { reads: ${options.rateLimit} }`] : [],
      },
      redis: redisUrl === null ? null : through(toRedis, redisUrl),
      workers: typeof workers === 'number' ? workers : workers(name),
      program: options.program,
      env: { ...env, ...options.envOf?.(name) },
      toStore,
      toRedis,
    })
    for (const line of options.linesOf?.(gateway.port) ?? []) gateway.configure(line)
    return gateway
  }
  const gateways = await Promise.all(NAMES.slice(0, count).map(another))
  const config = await loadConfig(gateways[0]?.file ?? '', env)
  const key = await bootstrap(config)
  await Promise.all(gateways.map((gateway) => gateway.start()))
  const store = await openStore({ kind: 'postgres', url: database })
  t.teardown(() => store.close())
  const { tenants } = config
  const servers = { database: server, ownPostgres, address, ownRedis, store, provider }
  return new Fleet({ gateways, ...servers, env, key, tenants, another })
}

function urlFor(at: number, wanted: FleetOptions['redis']): string | null {
  if (typeof wanted !== 'object') return null
  return 'url' in wanted ? wanted.url : (wanted.urls[at] ?? null)
}

function through(proxy: TcpProxy | null, url: string): string {
  if (proxy === null) return url
  const place = new URL(url)
  place.port = String(proxy.port)
  return place.href
}

/** Returns the API key of acme's administrator. */
export async function bootstrap(config: Config): Promise<string> {
  const store = await openStore(config.store)
  try {
    return await bootstrapIn(store, TENANT)
  } finally {
    await store.close()
  }
}
