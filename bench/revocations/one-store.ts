/** A store of each kind with one gateway on it, which may be filled before the gateway starts. */

import { join } from 'node:path'
import { Pool } from 'undici'
import { openStore, type StoreLocation } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { loadConfig } from '../../src/config/load.ts'
import { SPACE, TENANT } from '../../test/fleet/fleet.ts'
import { bootstrapIn } from '../../test/support/bootstrapped-store.ts'
import { type GatewayProcess, SECRET, startGatewayProcess } from '../../test/support/gateway-process.ts'
import { startPostgres } from '../../test/support/servers/postgres.ts'
import { until } from '../../test/support/until.ts'
import { type Ending, temporaryFolder } from '../harness.ts'
import { memoryOf } from '../process-tree.ts'
import { type Filler, postgresFiller, sqliteFiller } from './fill.ts'

const DATABASE = 'bench'
const SEAT = 'Opener'
export const HASH_PERM: readonly string[] = [`${SPACE}:${SEAT}`]

export interface OneStore {
  readonly kind: 'SQLite' | 'PostgreSQL'
  /** An API key with all permissions, and one of a caller with {@link HASH_PERM}. */
  readonly key: string
  readonly callerKey: string
  /** The value of `store` in the configuration. */
  readonly url: string
  fill(run: (filler: Filler) => Promise<void>): Promise<void>
  /** The statements so far; null: the database does not count them. */
  statements(): number | null
}

export async function openSqlite(ending: Ending): Promise<OneStore> {
  const path = join(temporaryFolder(ending, 'revocations'), 'seatgate.db')
  const keys = await bootstrap({ kind: 'sqlite', path })
  const fill = async (run: (filler: Filler) => Promise<void>) => {
    using filler = sqliteFiller(path)
    await run(filler)
  }
  return { kind: 'SQLite', ...keys, url: `sqlite:${path}`, fill, statements: () => null }
}

export async function openPostgres(ending: Ending): Promise<OneStore> {
  const settings = ["log_statement = 'all'", 'log_parameter_max_length = 0', 'shared_buffers = 128MB']
  const server = await startPostgres(ending.t, { fsync: true, settings })
  const url = await server.createDatabase(DATABASE)
  const keys = await bootstrap({ kind: 'postgres', url })
  const query = (text: string, values: unknown[]) => server.query(text, values, DATABASE)
  return {
    kind: 'PostgreSQL',
    ...keys,
    url,
    async fill(run) {
      await run(postgresFiller(query))
      await query('VACUUM ANALYZE', [])
    },
    statements: () => server.log.match(/ (?:statement|execute [^:]*): /g)?.length ?? 0,
  }
}

async function bootstrap(location: StoreLocation): Promise<Pick<OneStore, 'key' | 'callerKey'>> {
  const store = await openStore(location)
  try {
    const key = await bootstrapIn(store, TENANT)
    const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
    const writer = { tenant: TENANT, by: 'bench', scope, now: Date.now() }
    const seat = { name: SEAT, spaces: [SPACE], permissions: ['trainings:list'] }
    const madeSeat = await store.createSeat(writer, seat)
    const caller = await store.createApiKey(writer, {
      name: 'caller',
      seats: [SEAT],
      expiresAt: null,
      owner: null,
    })
    if (isRefusal(madeSeat) || isRefusal(caller)) throw new Error('a Seat or an API key was refused')
    return { key, callerKey: caller.value.key }
  } finally {
    await store.close()
  }
}

export class OneGateway {
  readonly process: GatewayProcess
  /** Milliseconds from the start of the process until it is ready. */
  readonly startedIn: number
  readonly #pool: Pool
  readonly #key: string
  readonly #callerKey: string

  private constructor(process: GatewayProcess, startedIn: number, { key, callerKey }: OneStore) {
    this.process = process
    this.startedIn = startedIn
    this.#key = key
    this.#callerKey = callerKey
    this.#pool = new Pool(process.origin, { connections: 4, headersTimeout: 120_000 })
  }

  /** @param target of its upstream */
  static async start(ending: Ending, store: OneStore, target: string): Promise<OneGateway> {
    const begun = performance.now()
    const process = await startGatewayProcess(ending.t, {
      store: store.url,
      target,
      routes: ['GET /v1/trainings: trainings:list'],
    })
    await until(async () => (await process.ready()).status === 200, 'a gateway that is ready', { pause: 5 })
    const gateway = new OneGateway(process, performance.now() - begun, store)
    ending.teardown(() => gateway.#pool.destroy())
    return gateway
  }

  /** Resident bytes. */
  get memory(): number {
    return memoryOf([this.process.pid])
  }

  /** Milliseconds of a revocation until its answer. */
  async revoke(subject: object): Promise<number> {
    const begun = performance.now()
    const headers = { 'x-api-key': this.#key, space: 'admin', 'content-type': 'application/json' }
    const sent = {
      method: 'POST',
      path: '/v1/revocations',
      headers,
      body: JSON.stringify({ subject }),
    } as const
    const answer = await this.#pool.request(sent)
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text}`)
    return performance.now() - begun
  }

  /** Milliseconds of a request with the credential, which has to be accepted. */
  async ask(credential: Readonly<Record<string, string>>): Promise<number> {
    const begun = performance.now()
    const answer = await this.#pool.request({ method: 'GET', path: '/v1/trainings', headers: credential })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
    return performance.now() - begun
  }

  /** The credential of a caller that is not revoked. */
  get caller() {
    return { 'x-api-key': this.#callerKey, space: SPACE }
  }

  /** Makes tokens of the users, without sessions. */
  async tokens(users: readonly string[]) {
    const environment = { ACME_SECRET: SECRET, GLOBEX_SECRET: `${SECRET}, of globex` }
    const { tenants } = await loadConfig(join(this.process.folder, 'gateway.config.yaml'), environment)
    const tenant = tenants.get(TENANT)
    if (tenant === undefined) throw new Error('no tenant')
    const tokenOf = (sub: string) => mintToken(tenant, { sub, hashPerm: HASH_PERM }, Date.now())
    const tokens = await Promise.all(users.map(tokenOf))
    return tokens.map((token) => ({ authorization: `Bearer ${token}`, space: SPACE }))
  }
}
