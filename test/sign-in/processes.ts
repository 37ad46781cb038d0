/**
 * Sign-in on gateways in processes of their own. Everything stops with the test. Then the test searches logs and metrics for
 * every secret that was seen.
 */

import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { bootstrap } from '../fleet/fleet.ts'
import { FleetGateway } from '../fleet/gateway.ts'
import { startService, succeed } from '../operations/service.ts'
import { adminRequest, type Answer, Client } from '../support/client.ts'
import { metricsOf } from '../support/operations.ts'
import { until } from '../support/until.ts'
import { eavesdrop } from './eavesdrop.ts'
import { searchAtEnd, searchIn } from './search.ts'
import { SignInTenants, startProviders } from './tenants.ts'
import { Visitor } from './visitor.ts'
import { configureTenant } from './world.ts'

interface ProcessOptions {
  readonly names: readonly string[]
  readonly store: string
  readonly redis: string | null
  readonly workers?: number
}

const ROUTES = [
  'GET /v1/trainings: trainings:list',
  'ANY /v1/me: authenticated',
  'GET /pages/*: { permission: authenticated, sign_in: acme }',
]

const VIEWER = { name: 'Viewer', spaces: ['main'], permissions: ['trainings:list'] }

const originOf = ({ port }: FleetGateway) => `http://127.0.0.1:${port}`

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
    return new Visitor(user, originOf(this.at(index)), this.secrets)
  }

  async admin(method: string, path: string, body?: unknown, index = 0): Promise<Answer> {
    const client = new Client(this.at(index).port)
    try {
      return await client.send(method, path, ...adminRequest(this.#key, body))
    } finally {
      client.close()
    }
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
  const { names, store, redis, workers = 1 } = options
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
  for (const { file } of gateways) configureTenant(file, 'acme', providers.acme.config())
  const key = await bootstrap(await loadConfig(first.file, env))
  const processes = new SignInProcesses(gateways, key, origin, providers)
  eavesdrop(processes.acme, processes.secrets)
  await Promise.all(gateways.map((gateway) => gateway.start()))
  // On a busy machine the store may answer too late, and have written it: the repetition is then refused with 409.
  await until(async () => {
    const { status } = await processes.admin('POST', '/v1/seats', VIEWER)
    return status === 200 || status === 409
  }, 'the Seat')
  searched(() => processes.search())
  return processes
}
