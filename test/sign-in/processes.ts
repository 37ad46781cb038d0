/**
 * Sign-in on gateways in processes of their own, with one tenant's provider. Everything stops with the test. Then the
 * test searches logs and metrics for every secret that was seen.
 */

import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { adminRequest, bootstrap } from '../fleet/fleet.ts'
import { FleetGateway } from '../fleet/gateway.ts'
import { CLIENT_SECRET, TestProvider } from '../oidc/provider.ts'
import { startService, succeed } from '../operations/service.ts'
import { type Answer, Client } from '../support/client.ts'
import { metricsOf } from '../support/operations.ts'
import { eavesdrop } from './eavesdrop.ts'
import { searchAtEnd, searchIn } from './search.ts'
import { Visitor } from './visitor.ts'
import { tenantLine } from './world.ts'

export interface ProcessOptions {
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

export class SignInProcesses {
  readonly gateways: readonly FleetGateway[]
  readonly provider: TestProvider
  readonly secrets = new Set<string>([CLIENT_SECRET])
  readonly #key: string

  constructor(gateways: readonly FleetGateway[], provider: TestProvider, key: string) {
    this.gateways = gateways
    this.provider = provider
    this.#key = key
  }

  at(index: number): FleetGateway {
    const gateway = this.gateways[index]
    if (gateway === undefined) throw new Error(`no gateway ${index}`)
    return gateway
  }

  visitor(user = 'alice', index = 0): Visitor {
    return new Visitor(user, `http://127.0.0.1:${this.at(index).port}`, this.secrets)
  }

  /** The origin of all of them for browsers: the first one's address. */
  get origin(): string {
    return `http://127.0.0.1:${this.at(0).port}`
  }

  user(name: string, memberOf: readonly string[] = []): void {
    this.provider.user(name, { memberOf })
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
  const redirectUri = `http://127.0.0.1:${first.port}/auth/oidc/callback`
  const uri = `http://127.0.0.1:${first.port}/auth/oidc/backchannel-logout/acme`
  const provider = await TestProvider.start(t, { redirectUri, backchannelLogout: { uri, session: true } })
  for (const { file } of gateways) addProvider(file, provider)
  const processes = new SignInProcesses(
    gateways,
    provider,
    await bootstrap(await loadConfig(first.file, env)),
  )
  eavesdrop(provider, processes.secrets)
  await Promise.all(gateways.map((gateway) => gateway.start()))
  searched(() => processes.search())
  return processes
}

function addProvider(file: string, provider: TestProvider): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replace(/^  acme: .*$/m, () => tenantLine('acme', provider.config())),
  )
}
