/** A gateway of two tenants: one that works, and an attacker with all that its attacks need. */

import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, type Store, type Writer } from '../../seats-admin/index.ts'
import { CLIENT_SECRET, TestProvider } from '../../test/oidc/provider.ts'
import { routeTable, writeFiles } from '../../test/support/configuration.ts'
import { MAIN } from '../../test/support/gateway-process.ts'
import { makeCertificate } from '../certificate.ts'
import { peerCores } from '../cores.ts'
import type { Ending } from '../harness.ts'
import { PERMISSION, SPACE, TENANT } from '../names.ts'
import { Program, startServer } from '../program.ts'
import { reservePort } from '../../test/support/servers/ports.ts'
import { token } from '../world.ts'
import { HEAVY_ROUTES } from './attacks.ts'
import { HAPROXY_ADDRESS } from '../../test/support/servers/sharing-haproxy.ts'
import { startNginx, startProxy } from './shared.ts'

const REDIRECT = 'http://localhost/auth/oidc/callback'
const ATTACKER = 'mallory'
const SEAT = 'Role 0'
const HEAVY = 300
const LONG = 1000
const PERMISSIONS = Array.from({ length: 10_000 }, (_, at) => `resource-${at}:operation`)

export interface Neighbourhood {
  readonly port: number
  readonly pid: number
  /** Tokens of the working and of the attacking tenant. */
  readonly honest: string
  readonly token: string
  readonly keys: { readonly large: string; readonly long: string }
}

/**
 * @param upstream its origin
 * @param proxied `port` is the port of a proxy in front of the gateway
 */
export async function openNeighbourhood(
  ending: Ending,
  folder: string,
  seed: SeedStore,
  upstream: string,
  proxied: boolean,
): Promise<Neighbourhood> {
  const store = join(folder, 'seatgate.db')
  mkdirSync(folder)
  copyFileSync(seed.path, store)
  const secrets = { honest: randomBytes(32).toString('hex'), attacker: randomBytes(32).toString('hex') }
  const provider = await TestProvider.start(ending.t, { redirectUri: REDIRECT })
  const [port, tlsPort, http2Port] = [
    await reservePort(ending.t),
    await reservePort(ending.t),
    await reservePort(ending.t),
  ]
  const start = (script: string, ...ports: number[]) => startServer(ending, folder, script, ...ports)
  const shared = await start('http2-service')
  const origins = {
    main: upstream,
    echo: (await start('websocket-echo')).origin,
    http1: (await start('neighbour-upstream', http2Port)).origin,
    http2: `http://127.0.0.1:${http2Port}`,
    issuer: provider.issuer,
    shared: shared.origin,
    large: (await startNginx(ending, folder)) ?? shared.origin,
  }
  const { cert, key } = makeCertificate(folder)
  const listen = proxied
    ? `[{ address: 127.0.0.1:${port} }, { address: 127.0.0.1:${tlsPort}, http2: true, tls: { certificates: [{ cert: ${cert}, key: ${key} }] } }]
trusted_proxies: [${HAPROXY_ADDRESS}/32]`
    : `127.0.0.1:${port}`
  const file = 'gateway.config.yaml'
  writeFiles(folder, { [file]: configuration(listen, store, secrets, origins), ...TABLES }, 0o600)
  const command = [process.execPath, MAIN, 'start', '--config', join(folder, file)]
  const gateway = await Program.start(ending, { command, port, cores: peerCores(1), folder })
  const tokenOf = (tenant: string, secret: string) =>
    token({ secret }, { tenant, secret, hashPerm: [`${SPACE}:${SEAT}`] })
  return {
    port: proxied ? (await startProxy(ending, folder, tlsPort)).port : port,
    pid: gateway.pid,
    honest: tokenOf(TENANT, secrets.honest),
    token: tokenOf(ATTACKER, secrets.attacker),
    keys: seed.keys,
  }
}

const HEAVY_TABLE = Array.from(
  { length: HEAVY_ROUTES },
  (_, at) => `GET /v1/heavy${at}: resource-${at}:operation`,
)

/** File → its text. */
const TABLES = {
  'routes/main.yaml': routeTable([
    `GET /v1/trainings/{id}: ${PERMISSION}`,
    `POST /v1/trainings/{id}: ${PERMISSION}`,
    `GET /v1/limited/{id}: { permission: ${PERMISSION}, rate_limit: [calls] }`,
    'GET /open/{id}: public',
    `GET /page/{id}: { permission: authenticated, sign_in: ${ATTACKER} }`,
    ...HEAVY_TABLE,
  ]),
  'routes/echo.yaml': routeTable([`GET /v1/socket: ${PERMISSION}`], 'echo'),
  ...tablesOf(['shared', 'large'], (name) => `/v1/${name}/{id}`),
  ...tablesOf(['http1', 'http2'], (name) => `/${name}/*`),
}

/** The route tables of some upstreams, with one path each: file → its text. */
function tablesOf(
  upstreams: readonly string[],
  pathOf: (upstream: string) => string,
): Record<string, string> {
  const tableOf = (upstream: string) =>
    routeTable(
      ['GET', 'POST'].map((method) => `${method} ${pathOf(upstream)}: ${PERMISSION}`),
      upstream,
    )
  return Object.fromEntries(upstreams.map((name) => [`routes/${name}.yaml`, tableOf(name)]))
}

function configuration(
  listen: string,
  store: string,
  secrets: { honest: string; attacker: string },
  origins: Readonly<Record<'main' | 'echo' | 'http1' | 'http2' | 'issuer' | 'shared' | 'large', string>>,
): string {
  return `listen: ${listen}
ops: 127.0.0.1:0
drain: 1s
store: ${JSON.stringify(`sqlite:${store}`)}
limits: { connections: 2000 }
rate_limits: { calls: { limit: 10/s, per: caller } }
tenants:
  ${TENANT}: { token: { secrets: ["${secrets.honest}"] } }
  ${ATTACKER}:
    token: { secrets: ["${secrets.attacker}"] }
    oidc:
      issuer: ${origins.issuer}
      client_id: client_secret_basic-RS256
      client_secret: ${JSON.stringify(CLIENT_SECRET)}
      redirect_uri: ${REDIRECT}
      allow_insecure: true
upstreams:
  main: { targets: ["${origins.main}"] }
  echo: { targets: ["${origins.echo}"] }
  shared: { targets: ["${origins.shared}"], protocol: h2c }
  large: { targets: ["${origins.large}"], protocol: h2c }
  http1: { targets: ["${origins.http1}"] }
  http2: { targets: ["${origins.http2}"], protocol: h2c }
routes: [routes/*.yaml]
`
}

/** A store whose copies the gateways have, because filling it takes some seconds. */
export interface SeedStore {
  readonly path: string
  readonly keys: Neighbourhood['keys']
}

/** Makes the Seats and API keys of both tenants. */
export async function seedStore(path: string): Promise<SeedStore> {
  const store = await openStore({ kind: 'sqlite', path })
  try {
    await seat(store, TENANT, SEAT, [PERMISSION])
    await seat(store, ATTACKER, SEAT, [PERMISSION])
    const large = Array.from({ length: HEAVY }, (_, at) => `Heavy ${at}`)
    const long = Array.from({ length: LONG }, (_, at) => `${at} `.padEnd(256, '☃'))
    for (const name of large) await seat(store, ATTACKER, name, PERMISSIONS)
    for (const name of long) await seat(store, ATTACKER, name, [PERMISSION])
    return { path, keys: { large: await key(store, large), long: await key(store, long) } }
  } finally {
    await store.close()
  }
}

function writer(tenant: string): Writer {
  const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
  return { tenant, by: 'bench', scope, now: Date.now() }
}

async function seat(
  store: Store,
  tenant: string,
  name: string,
  permissions: readonly string[],
): Promise<void> {
  const result = await store.createSeat(writer(tenant), { name, spaces: [SPACE], permissions })
  if ('refused' in result) throw new Error(result.detail)
}

async function key(store: Store, seats: readonly string[]): Promise<string> {
  const result = await store.createApiKey(writer(ATTACKER), { name: 'k', seats, expiresAt: null })
  if ('refused' in result) throw new Error(result.detail)
  return result.value.key
}
