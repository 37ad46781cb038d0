/**
 * The gateway's decision engine in this process, on a real store and configuration, and a request from a real
 * connection.
 */

import { mkdirSync, rmSync } from 'node:fs'
import { Client } from 'undici'
import { openStore, type Store } from '../../seats-admin/index.ts'
import { credentialsOf } from '../../src/pipeline/request-input.ts'
import { fieldTable } from '../../test/support/field-table.ts'
import type { Config, TenantConfig } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { extensions } from '../../src/composition.ts'
import { type CompiledConfig, DecisionPoint } from '../../src/runtime/decision-point.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import { NextHop, nextHop } from '../../src/http/server/next-hop.ts'
import type { AuthorizationRequest } from '../../src/model/authorization-request.ts'
import type { Evaluation } from '../../src/model/decision.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import { ProcessEphemeral } from '../../src/oidc/sign-in/completed-sign-ins.ts'
import { openListener } from '../../test/support/listener.ts'
import { SPACE, TENANT } from '../names.ts'
import { token, type TokenSetup, type World, writeConfiguration } from '../world.ts'

export const TARGET = '/v1/trainings/7?page=2'
const SILENT = { info: () => {}, warn: () => {}, error: () => {} }

export interface SubjectSetup {
  readonly routes?: number
  /** Tenants beside the one in use. */
  readonly tenants?: number
  /** A store in place of the world's. */
  readonly store?: string
}

export class Subject {
  readonly config: Config
  readonly decisionPoint: DecisionPoint
  readonly compiled: CompiledConfig
  readonly #store: Store
  readonly #folder: string
  readonly #world: World

  private constructor(
    world: World,
    config: Config,
    compiled: CompiledConfig,
    decisionPoint: DecisionPoint,
    folder: string,
  ) {
    this.#world = world
    this.config = config
    this.compiled = compiled
    this.decisionPoint = decisionPoint
    this.#store = decisionPoint.store
    this.#folder = folder
  }

  /** @param folder does not exist yet */
  static async open(world: World, folder: string, setup: SubjectSetup = {}): Promise<Subject> {
    const { routes = 10_000, tenants = 0, store: path = world.store } = setup
    mkdirSync(folder, { recursive: true })
    const more = { port: 0, upstream: 'http://127.0.0.1:9', ca: null, routes, workers: 1 }
    const file = writeConfiguration(folder, { world: { ...world, store: path }, ...more })
    const config = withTenants(await loadConfig(file, process.env), tenants)
    const store = await openStore(config.store)
    const decisionPoint = await DecisionPoint.forOneDecision(
      store,
      { ephemeral: new ProcessEphemeral(), log: SILENT },
      config.memory,
      extensions.endpoints,
    )
    return new Subject(world, config, await decisionPoint.compile(config), decisionPoint, folder)
  }

  /** Renews the lease for the next second. */
  readonly lease = async (): Promise<void> => {
    await this.decisionPoint.lease.renewed()
  }

  ask(setup?: TokenSetup): AuthorizationRequest {
    return askOf(`Bearer ${token(this.#world, setup)}`)
  }

  /**
   * Decides from memory, after the same request.
   *
   * @throws if it would read the store
   */
  engine(ask: AuthorizationRequest): Evaluation {
    const evaluation = this.compiled.engine.evaluate(ask)
    if (evaluation instanceof Promise) throw new Error('memory could not answer')
    return evaluation
  }

  /** Decides once, so that memory has the data. */
  async meet(ask: AuthorizationRequest): Promise<Evaluation> {
    const evaluation = await this.compiled.engine.evaluate(ask)
    if (evaluation.refusal !== null) throw new Error(evaluation.refusal.detail)
    return evaluation
  }

  async close(): Promise<void> {
    this.decisionPoint.lease.end()
    await this.#store.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export function askOf(authorization: string): AuthorizationRequest {
  const rawHeaders = ['Host', 'gw.example', 'Space', SPACE, 'Authorization', authorization]
  return {
    method: 'GET',
    target: TARGET,
    host: 'gw.example',
    credentials: credentialsOf(fieldTable(...rawHeaders)),
    browser: { method: 'GET', rawHeaders, upgrade: false },
  }
}

function withTenants(config: Config, count: number): Config {
  const tenant = config.tenants.get(TENANT)
  if (tenant === undefined || count === 0) return config
  const tenants = new Map<string, TenantConfig>([[TENANT, tenant]])
  for (let i = 0; i < count; i++) tenants.set(`tenant-${i}`, { ...tenant, id: `tenant-${i}` })
  return { ...config, tenants }
}

const ID = '0c1e3c5e-5d0e-4d0e-9c58-0f3f6e5c8b1a'

/**
 * A request with its response, as the log and the metrics get it: the second of its client, on the same
 * connection.
 */
export async function exchangeWith(evaluation: Evaluation, authorization: string): Promise<Exchange> {
  let last: Exchange | null = null
  const listener = await openListener((request, response) => {
    const exchange = new Exchange(request, response, ID, performance.now())
    last = exchange
    exchange.evaluation = evaluation
    const hop = new NextHop(performance.now())
    hop.respondedAt = hop.startedAt + 1
    nextHop.set(exchange, hop)
    response.writeHead(200, ResponseFields.of(['Content-Length', '2']))
    response.end('{}')
    return exchange
  })
  const headers = { Space: SPACE, Authorization: authorization, Accept: '*/*' }
  const client = new Client(`http://127.0.0.1:${listener.address.port}`)
  for (let i = 0; i < 2; i++) {
    const { body } = await client.request({ path: TARGET, method: 'GET', headers })
    await body.dump()
  }
  await client.close()
  await listener.close(0)
  if (last === null) throw new Error('nothing was asked')
  return last
}
