/** A gateway of two tenants: one that works, and an attacker with all that its attacks need. */

import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import OidcProvider from 'oidc-provider'
import { openStore, type Store, type Writer } from '../../seats-admin/index.ts'
import { loadCores, peerCores } from '../cores.ts'
import { PERMISSION, SPACE, TENANT } from '../names.ts'
import { freePort, Program } from '../program.ts'
import { token } from '../world.ts'
import { makeCertificate } from '../certificate.ts'
import { HEAVY_ROUTES } from './attacks.ts'
import { PROXY_ADDRESS, startProxy, startServices } from './shared.ts'

const GATEWAY = fileURLToPath(new URL('../../src/cli/seatgate.js', import.meta.url))
const ECHO = fileURLToPath(new URL('../servers/websocket-echo.ts', import.meta.url))
const SHARED = fileURLToPath(new URL('../servers/neighbour-upstream.ts', import.meta.url))

const ATTACKER = 'mallory'
const SEAT = 'Role 0'
const HEAVY = 300
const LONG = 1000
const PERMISSIONS = Array.from({ length: 10_000 }, (_, at) => `resource-${at}:operation`)

export interface Neighbourhood {
  readonly port: number
  readonly pid: number
  /** Of the working and of the attacking tenant. */
  readonly honest: string
  readonly token: string
  readonly keys: { readonly large: string; readonly long: string }
  stop(): Promise<void>
}

/** @param upstream an origin @param proxied `port` is that of a proxy */
export async function openNeighbourhood(
  folder: string,
  upstream: string,
  proxied: boolean,
): Promise<Neighbourhood> {
  mkdirSync(join(folder, 'routes'), { recursive: true })
  const store = join(folder, 'seatgate.db')
  const keys = await fill(store)
  const secrets = { honest: randomBytes(32).toString('hex'), attacker: randomBytes(32).toString('hex') }
  const provider = await startProvider()
  const echoPort = await freePort()
  const echo = await Program.start({
    command: [process.execPath, ECHO, `${echoPort}`],
    port: echoPort,
    cores: loadCores(1),
    folder,
  })
  const [port, tlsPort, http1Port, http2Port] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  const services = await startServices(folder)
  const shared = await Program.start({
    command: [process.execPath, SHARED, `${http1Port}`, `${http2Port}`],
    port: http2Port,
    cores: loadCores(1),
    folder,
  })
  const origins = {
    main: upstream,
    echo: `http://127.0.0.1:${echoPort}`,
    http1: `http://127.0.0.1:${http1Port}`,
    http2: `http://127.0.0.1:${http2Port}`,
    issuer: provider.issuer,
    shared: services.shared,
    large: services.large,
  }
  const file = join(folder, 'gateway.config.yaml')
  const { cert, key } = makeCertificate(folder)
  const listen = proxied
    ? `[{ address: 127.0.0.1:${port} }, { address: 127.0.0.1:${tlsPort}, http2: true, tls: { certificates: [{ cert: ${cert}, key: ${key} }] } }]
trusted_proxies: [${PROXY_ADDRESS}/32]`
    : `127.0.0.1:${port}`
  writeFileSync(file, configuration(listen, store, secrets, origins), { mode: 0o600 })
  writeFileSync(join(folder, 'routes', 'main.yaml'), MAIN)
  writeFileSync(
    join(folder, 'routes', 'echo.yaml'),
    `upstream: echo\nroutes:\n  GET /v1/socket: ${PERMISSION}\n`,
  )
  for (const name of ['shared', 'large'])
    writeFileSync(
      join(folder, 'routes', `${name}.yaml`),
      `upstream: ${name}\nroutes:\n  GET /v1/${name}/{id}: ${PERMISSION}\n  POST /v1/${name}/{id}: ${PERMISSION}\n`,
    )
  for (const name of ['http1', 'http2'])
    writeFileSync(join(folder, 'routes', `${name}.yaml`), sharedRoutes(name))
  const command = [process.execPath, GATEWAY, 'start', '--config', file]
  const gateway = await Program.start({ command, port, cores: peerCores(1), folder })
  const proxy = proxied ? await startProxy(folder, tlsPort) : null
  const minted = (tenant: string, secret: string) =>
    token({ secret }, { tenant, secret, hashPerm: [`${SPACE}:${SEAT}`] })
  return {
    port: proxy?.port ?? port,
    pid: gateway.pid,
    honest: minted(TENANT, secrets.honest),
    token: minted(ATTACKER, secrets.attacker),
    keys,
    async stop() {
      await proxy?.stop()
      await gateway.stop()
      await services.stop()
      await echo.stop()
      await shared.stop()
      provider.close()
    },
  }
}

const MAIN = `upstream: main
routes:
  GET /v1/trainings/{id}: ${PERMISSION}
  POST /v1/trainings/{id}: ${PERMISSION}
  GET /v1/limited/{id}: { permission: ${PERMISSION}, rate_limit: [calls] }
  GET /open/{id}: public
  GET /page/{id}: { permission: authenticated, sign_in: ${ATTACKER} }
${Array.from({ length: HEAVY_ROUTES }, (_, at) => `  GET /v1/heavy${at}: resource-${at}:operation\n`).join('')}`

const sharedRoutes = (name: string) => `upstream: ${name}
routes:
  GET /${name}/*: ${PERMISSION}
  POST /${name}/*: ${PERMISSION}
`

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
      client_id: bench
      client_secret: ${'s'.repeat(32)}
      redirect_uri: http://localhost/auth/oidc/callback
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

async function fill(path: string): Promise<Neighbourhood['keys']> {
  const store = await openStore({ kind: 'sqlite', path })
  try {
    await seat(store, TENANT, SEAT, [PERMISSION])
    await seat(store, ATTACKER, SEAT, [PERMISSION])
    const large = Array.from({ length: HEAVY }, (_, at) => `Heavy ${at}`)
    const long = Array.from({ length: LONG }, (_, at) => `${at} `.padEnd(256, '☃'))
    for (const name of large) await seat(store, ATTACKER, name, PERMISSIONS)
    for (const name of long) await seat(store, ATTACKER, name, [PERMISSION])
    return { large: await key(store, large), long: await key(store, long) }
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
  const made = await store.createSeat(writer(tenant), { name, spaces: [SPACE], permissions })
  if ('refused' in made) throw new Error(made.detail)
}

async function key(store: Store, seats: readonly string[]): Promise<string> {
  const made = await store.createApiKey(writer(ATTACKER), { name: 'k', seats, expiresAt: null })
  if ('refused' in made) throw new Error(made.detail)
  return made.value.key
}

/** A real one, in this process: sign-in begins with its discovery document. */
async function startProvider(): Promise<{ issuer: string; close: () => void }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const redirectUris = ['http://localhost/auth/oidc/callback']
  const client = { client_id: 'bench', client_secret: 's'.repeat(32), redirect_uris: redirectUris }
  const provider = new OidcProvider(issuer, { clients: [client] })
  server.on('request', provider.callback())
  return {
    issuer,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
