/**
 * Sign-in on gateways in processes of their own. Everything stops with the test. Then the test searches logs and metrics for
 * every secret that was seen.
 */

import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { OidcConfig } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { bootstrap } from '../fleet/fleet.ts'
import { FleetGateway } from '../fleet/gateway.ts'
import { startService, succeed } from '../operations/service.ts'
import { adminRequest, type Answer, Client } from '../support/client.ts'
import { metricsOf } from '../support/operations.ts'
import { served } from '../support/served.ts'
import { eavesdrop } from './eavesdrop.ts'
import { searchAtEnd, searchIn } from './search.ts'
import { SignInTenants, startProviders } from './tenants.ts'
import { type Page, Visitor } from './visitor.ts'
import { configureTenant } from './world.ts'

interface ProcessOptions {
  readonly names: readonly string[]
  readonly store: string
  readonly redis: string | null
  readonly workers?: number
  /** Of acme's provider, where they differ from the default. */
  readonly acme?: Partial<OidcConfig>
  /** Further settings of acme, as in `ConfigurationOptions`. */
  readonly more?: readonly string[]
}

const ROUTES = [
  'GET /v1/trainings: trainings:list',
  'ANY /v1/me: authenticated',
  'GET /pages/*: { permission: authenticated, sign_in: acme }',
]

const VIEWER = { name: 'Viewer', spaces: ['main'], permissions: ['trainings:list'] }

const originOf = ({ port }: FleetGateway) => `http://127.0.0.1:${port}`

/**
 * On a busy machine the store may answer a gateway too late. What can be repeated is asked again: a request of a program, and a
 * sign-in from its beginning.
 */
class PatientVisitor extends Visitor {
  override ask(...asked: Parameters<Visitor['ask']>): Promise<Page> {
    return served(() => super.ask(...asked))
  }

  override signIn(tenant?: string): Promise<Page> {
    return served(() => super.signIn(tenant))
  }

  override page(path: string): Promise<Page> {
    return served(() => super.page(path))
  }
}

/** The origin for browsers is that of the first gateway. */
class SignInProcesses extends SignInTenants {
  readonly gateways: readonly FleetGateway[]
  readonly #key: string

  constructor(
    gateways: readonly FleetGateway[],
    key: string,
    ...tenants: ConstructorParameters<typeof SignInTenants>
  ) {
    super(...tenants)
    this.gateways = gateways
    this.#key = key
  }

  at(index: number): FleetGateway {
    const gateway = this.gateways[index]
    if (gateway === undefined) throw new Error(`no gateway ${index}`)
    return gateway
  }

  override visitor(user = 'alice', index = 0): Visitor {
    return new PatientVisitor(user, originOf(this.at(index)), this.secrets)
  }

  /** Asks again after 503, and may have been heard before: `isRepeated`. */
  async admin(
    method: string,
    path: string,
    body?: unknown,
    index = 0,
  ): Promise<Answer & { isRepeated: boolean }> {
    const client = new Client(this.at(index).port)
    let times = 0
    const send = () => {
      times++
      return client.send(method, path, ...adminRequest(this.#key, body))
    }
    try {
      const answer = await served(send)
      return Object.assign(answer, { isRepeated: times > 1 })
    } finally {
      client.close()
    }
  }

  /** Makes the Seat and gives back its id. */
  async seat(body: { readonly name: string; readonly spaces: string[]; readonly permissions: string[] }) {
    const { status, json, isRepeated } = await this.admin('POST', '/v1/seats', body)
    if (status === 200) return String(json.id)
    if (status !== 409 || !isRepeated) throw new Error(`${status} ${JSON.stringify(json)}`)
    const { data } = (await this.admin('GET', '/v1/seats?limit=100')).json
    return String(data.find(({ name }: { name: string }) => name === body.name).id)
  }

  /** Stops the gateways, so that their logs are complete. */
  async search(): Promise<void> {
    for (const gateway of this.gateways) {
      searchIn('the metrics', await metricsOf(gateway), this.secrets)
      await gateway.end()
      searchIn('the log', gateway.log, this.secrets)
      if (!gateway.log.includes('/auth/oidc/')) throw new Error('the log has no sign-in to be searched')
    }
  }
}

/** They have the Seat `Viewer`. */
export async function startProcesses(t: Test, options: ProcessOptions): Promise<SignInProcesses> {
  const { names, store, redis, workers = 1, acme = {} } = options
  const searched = searchAtEnd(t)
  const { url: target } = await startService(t, 'main', succeed)
  const secret = () => randomBytes(32).toString('hex')
  const env = { ACME_SECRET: secret(), GLOBEX_SECRET: secret() }
  const configuration = { store, target, routes: ROUTES }
  const own = { configuration, redis, workers, env }
  const gateways = await Promise.all(names.map((name) => FleetGateway.prepare(t, { name, ...own })))
  const [first] = gateways
  if (first === undefined) throw new Error('no gateway is named')
  const origin = originOf(first)
  const uri = `${origin}/auth/oidc/backchannel-logout/acme`
  const providers = await startProviders(t, origin, { backchannelLogout: { uri, session: true } })
  for (const { file } of gateways)
    configureTenant(file, 'acme', providers.acme.config(acme), [], options.more)
  const key = await bootstrap(await loadConfig(first.file, env))
  const processes = new SignInProcesses(gateways, key, origin, providers)
  eavesdrop(processes.acme, processes.secrets)
  await Promise.all(gateways.map((gateway) => gateway.start()))
  await processes.seat(VIEWER)
  searched(() => processes.search())
  return processes
}
