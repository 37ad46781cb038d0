/**
 * The data behind the requests: a tenant, its secret, its Seats in a store, and tokens of its users. They are
 * the same for all peers, and made once in a run of the bench.
 */

import { createHmac, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type * as Admin from '../seats-admin/index.ts'
import type { Store } from '../seats-admin/index.ts'
import { type CertificateFiles, makeCertificate } from './certificate.ts'
import { PERMISSION, PERMISSIONS, routeEntry, SEATS, SPACE, seatName, TENANT } from './names.ts'
import { storeOf } from './store.ts'

/** Lifetime of tokens in seconds: longer than a whole run. */
const LIFETIME = 12 * 3600
/** API keys that are used in turn. */
const KEYS = 100

export interface World {
  readonly folder: string
  /** Secret of the tenant's tokens, as text. */
  readonly secret: string
  /** `sqlite:PATH` */
  readonly store: string
  readonly apiKeys: readonly string[]
  /** The certificate of the peers. */
  readonly certificate: CertificateFiles
}

/** @param root of the source that reads the store: another one where revisions are compared */
export async function makeWorld(folder: string, root = new URL('..', import.meta.url)): Promise<World> {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'seatgate.db')
  const admin = (await import(new URL('seats-admin/index.ts', root).href)) as typeof Admin
  await storeOf(path, SEATS, admin.openStore)
  const store = await admin.openStore({ kind: 'sqlite', path })
  try {
    const apiKeys: string[] = []
    for (let number = 0; number < KEYS; number++) apiKeys.push(await makeKey(store, seatName(number)))
    const certificate = makeCertificate(folder)
    return { folder, secret: randomBytes(32).toString('hex'), store: `sqlite:${path}`, apiKeys, certificate }
  } finally {
    await store.close()
  }
}

async function makeKey(store: Store, seat: string): Promise<string> {
  const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
  const writer = { tenant: TENANT, by: 'bench', scope, now: Date.now() }
  const result = await store.createApiKey(writer, { name: `of ${seat}`, seats: [seat], expiresAt: null })
  if ('refused' in result) throw new Error(result.detail)
  return result.value.key
}

/** The subject of a token, and its differences from a valid one. */
export interface TokenSetup {
  readonly tenant?: string
  readonly user?: string
  readonly hashPerm?: readonly string[]
  /** Seconds from now. */
  readonly expiresIn?: number
  readonly secret?: string
}

const HEADER = encode({ alg: 'HS256', typ: 'JWT' })

/** The same tokens as the gateway's, made faster, because many are needed. */
export function token(world: Pick<World, 'secret'>, setup: TokenSetup = {}): string {
  const {
    tenant = TENANT,
    user = 'user-0',
    hashPerm = [`${SPACE}:${seatName(0)}`],
    expiresIn = LIFETIME,
  } = setup
  const email = `${user}@acme.example`
  const iat = Math.floor(Date.now() / 1000) - 60
  const text = `${HEADER}.${encode({
    sub: user,
    email,
    tenant_id: tenant,
    is_sso: false,
    user_metadata: { email, name: user, sub: user },
    hash_perm: hashPerm,
    exp: iat + 60 + expiresIn,
    iat,
    nbf: iat,
  })}`
  const signature = createHmac('sha256', setup.secret ?? world.secret).update(text)
  return `${text}.${signature.digest('base64url')}`
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Writes Seatgate's configuration into the folder; returns its path. */
export function writeConfiguration(folder: string, setup: ConfigurationSetup): string {
  mkdirSync(join(folder, 'routes'))
  const { world, upstream, ca, workers, part = {} } = setup
  writeFileSync(join(folder, 'routes', 'main.yaml'), routeTable(setup.routes, part.table))
  if (part.variables !== undefined)
    writeFileSync(join(folder, '.env'), part.variables.join('\n'), { mode: 0o600 })
  const tls = ca === null ? '' : `, tls: { ca: ${JSON.stringify(ca)} }`
  const protocol = setup.h2c === true ? ', protocol: h2c' : ''
  const file = join(folder, 'gateway.config.yaml')
  const text = `listen: ${listenOf(setup)}
ops: 127.0.0.1:0
workers: ${workers}
drain: 1s
${setup.decision === undefined ? '' : `decision: { listen: "127.0.0.1:${setup.decision}" }\n`}store: ${JSON.stringify(world.store)}
tenants: { ${TENANT}: { token: { secrets: ["${world.secret}"] } } }
upstreams: { main: { targets: ["${upstream}"]${tls}${protocol} } }
routes: [routes/*.yaml]
${(part.top ?? []).map((line) => `${line}\n`).join('')}`
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

/** What a part of Seatgate that is off by default adds to the configuration, as lines. */
export interface ConfiguredPart {
  readonly top?: readonly string[]
  /** Lines of the route table. */
  readonly table?: readonly string[]
  /** Lines of the environment. */
  readonly variables?: readonly string[]
}

export interface ConfigurationSetup {
  readonly world: World
  readonly port: number
  /** The port of the decision listener; left out: there is none. */
  readonly decision?: number
  /** An origin. */
  readonly upstream: string
  /** Certificate of its authority; null: no TLS. */
  readonly ca: string | null
  readonly routes: number
  readonly workers: number
  /** Whether the upstream speaks HTTP/2 without TLS. */
  readonly h2c?: boolean
  /** Whether the listener has TLS and HTTP/2. */
  readonly tls?: boolean
  readonly part?: ConfiguredPart
}

function listenOf({ world, port, tls = false }: ConfigurationSetup): string {
  const address = `127.0.0.1:${port}`
  if (!tls) return address
  const { cert, key } = world.certificate
  return JSON.stringify([{ address, http2: true, tls: { certificates: [{ cert, key }] } }])
}

/** Entries in a table of any size. */
const FIXED = [
  `GET /v1/trainings/{id}: ${PERMISSION}`,
  `POST /v1/trainings/{id}: ${PERMISSION}`,
  'GET /open/{id}: public',
  `GET /v1/sizes/*: ${PERMISSION}`,
]

function routeTable(routes: number, head: readonly string[] = []): string {
  const more = Array.from({ length: Math.max(0, routes - FIXED.length) }, (_, i) => {
    const { method, path } = routeEntry(i)
    return `${method} ${path}/{id}: ${PERMISSIONS[i % PERMISSIONS.length]}`
  })
  return `${['upstream: main', ...head].join('\n')}\nroutes:\n${[...FIXED, ...more].map((line) => `  ${line}\n`).join('')}`
}
