/**
 * A whole gateway for a test: real configuration files, a real store, a real upstream that remembers what
 * reached it, real sockets. Everything ends with the test.
 */

import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { join } from 'node:path'
import type { Test } from 'tap'
import { lockStore } from '../../seats-admin/store/sqlite/gateway-lock.ts'
import { takeOwnership } from '../../seats-admin/store/sqlite/ownership.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import type { Config, TenantConfig } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { startGateway } from '../../src/composition.ts'
import type { Patience } from '../../src/runtime/extensions.ts'
import type { Gateway } from '../../src/runtime/gateway.ts'
import { openLog } from '../../src/telemetry/logger.ts'
import { bootstrappedStore } from './bootstrapped-store.ts'
import { adminRequest, type Answer, Client } from './client.ts'
import { type ConfigurationOptions, writeConfiguration } from './configuration.ts'
import { listen } from './listen.ts'
import { serverFolder } from './servers/folder.ts'

// A busy machine may take longer than the product waits for its workers.
const patience: Patience = { unresponsive: 60_000, activity: 1000 }

/** What reached the upstream. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface Upstream {
  readonly url: string
  /** Complete requests in order of arrival. */
  readonly seen: Seen[]
}

/** Remembers each request and answers 200 `{"ok":true}`, or as `answer` does. */
export async function startUpstream(t: Test, answer?: RequestListener): Promise<Upstream> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return
    }
    seen.push({
      method: request.method ?? '',
      url: request.url ?? '',
      rawHeaders: request.rawHeaders,
      headers: request.headers,
      body: Buffer.concat(chunks).toString('latin1'),
    })
    if (answer !== undefined) return answer(request, response)
    response.setHeader('content-type', 'application/json')
    response.end('{"ok":true}')
  })
  return { url: `http://127.0.0.1:${await listen(t, server)}`, seen }
}

export interface WorldOptions extends ConfigurationOptions {
  readonly answer?: RequestListener
  /** Milliseconds for each answer of the store. */
  readonly storeTimeout?: number
  /** Additional variables of the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Milliseconds that the primary waits for its workers. */
  readonly patience?: Patience
}

export class World {
  readonly gateway: Gateway
  readonly config: Config
  readonly folder: string
  readonly upstream: Upstream
  /** Tenant → the API key of its Seat `admin`. */
  readonly keys: Readonly<Record<string, string>>
  readonly client: Client
  readonly #load: (more: Readonly<Record<string, string>>) => Promise<Config>
  readonly #flush: () => void
  #own: Partial<Config> = {}

  constructor(
    parts: Pick<World, 'gateway' | 'config' | 'folder' | 'upstream' | 'keys'>,
    load: (more: Readonly<Record<string, string>>) => Promise<Config>,
    flush: () => void,
  ) {
    this.gateway = parts.gateway
    this.config = parts.config
    this.folder = parts.folder
    this.upstream = parts.upstream
    this.keys = parts.keys
    this.client = new Client(this.port)
    this.#load = load
    this.#flush = flush
  }

  get port(): number {
    return this.gateway.addresses.front.port
  }

  /** The listener with TLS. */
  get securePort(): number {
    const secured = this.gateway.addresses.fronts.find(({ scheme }) => scheme === 'https')
    if (secured === undefined) throw new Error('there is no listener with TLS')
    return secured.port
  }

  get ops(): string {
    return `http://127.0.0.1:${this.gateway.addresses.ops.port}`
  }

  /** The store's database file. */
  get storeFile(): string {
    const { store } = this.config
    if (store.kind !== 'sqlite') throw new Error('the store is no file')
    return store.path
  }

  tenant(id: string): TenantConfig {
    const tenant = this.config.tenants.get(id)
    if (tenant === undefined) throw new Error(`no tenant ${id}`)
    return tenant
  }

  /** A token of acme's with these `hash_perm` entries. */
  token(
    hashPerm: readonly string[],
    more: { tenant?: string; sub?: string; now?: number } = {},
  ): Promise<string> {
    const { tenant = 'acme', sub = 'alice', now = Date.now() } = more
    return mintToken(this.tenant(tenant), { sub, email: `${sub}@example.com`, hashPerm }, now)
  }

  /** A request to a Seat or key endpoint by the tenant's administrator. */
  admin(method: string, path: string, body?: unknown, tenant = 'acme', space = 'admin'): Promise<Answer> {
    return this.client.send(method, path, ...adminRequest(this.keys[tenant] ?? '', body, space))
  }

  /** Makes a Seat and gives back its id. */
  async seat(
    name: string,
    spaces: readonly string[],
    permissions: readonly string[],
    tenant = 'acme',
  ): Promise<string> {
    const answer = await this.admin('POST', '/v1/seats', { name, spaces, permissions }, tenant)
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`)
    return answer.json.id
  }

  /** Access and other log lines so far. */
  log(): Record<string, unknown>[] {
    return this.logText()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }

  logText(): string {
    this.#flush()
    return readFileSync(join(this.folder, LOG), 'utf8')
  }

  /**
   * Reads the configuration again, from what the files and the environment say now.
   *
   * @param own what no file says; left out: as before
   */
  async reload(more: Readonly<Record<string, string>> = {}, own = this.#own): Promise<void> {
    this.#own = own
    await this.gateway.reload({ ...(await this.#load(more)), ...own })
  }
}

const secret = () => randomBytes(32).toString('hex')
/** The variables of its configuration. */
export const env = { ACME_SECRET: secret(), GLOBEX_SECRET: secret() }

/** The file of the log, in the folder of the configuration. */
const LOG = 'log'

export async function startWorld(t: Test, options: WorldOptions = {}): Promise<World> {
  const folder = serverFolder(t, 'test')
  const upstream = await startUpstream(t, options.answer)
  const file = writeConfiguration(folder, { target: upstream.url, ...options })
  const variables = { ...env, ...options.env }
  // A busy machine may take longer than the product waits for its store.
  const { storeTimeout: timeout = 60_000 } = options
  const load = async (more: Readonly<Record<string, string>> = {}) => {
    const loaded = await loadConfig(file, { ...variables, ...more })
    const store = { ...loaded.store, timeout }
    return { ...loaded, store }
  }
  const config = await load()
  const keys = await putStore(config)
  const path = join(folder, LOG)
  writeFileSync(path, '')
  const log = await openLog({ pretty: false, destination: path })
  const gateway = await startGateway(config, log, options.patience ?? patience)
  const world = new World({ gateway, config, folder, upstream, keys }, load, log.flush)
  t.teardown(async () => {
    world.client.close()
    await gateway.close(1000)
    log.flush()
  })
  return world
}

/**
 * Writes a store with the tenants, as a gateway at this path leaves it. Without it, a first gateway answers
 * its first write after a lease, because another one may decide until then.
 */
async function putStore({ store }: Config): Promise<Readonly<Record<string, string>>> {
  const { keys, file } = await bootstrappedStore()
  if (store.kind !== 'sqlite') throw new Error('the store is no file')
  writeFileSync(store.path, file, { encoding: 'base64', mode: 0o600 })
  const lock = lockStore(store.path)
  if (lock === null) throw new Error(`${store.path} is locked`)
  takeOwnership(store.path, lock.id, 'found')
  lock.release()
  return keys
}
