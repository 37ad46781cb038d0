/**
 * Sign-in on a whole gateway: the gateway of `support/world.ts` on its embedded store, and two tenants with a real
 * provider each. Everything stops with the test. Before that, the test searches log, metrics and store for every
 * secret that was seen.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { OidcConfig } from '../../src/config/config.ts'
import { routeTable } from '../support/configuration.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'
import { eavesdrop } from './eavesdrop.ts'
import { searchAtEnd, searchIn } from './search.ts'
import { SignInTenants, startProviders } from './tenants.ts'
import { metricsOf } from '../support/operations.ts'

/** Null: the tenant has no provider. Absent: its own, with the default configuration. */
interface Settings {
  readonly acme?: Partial<OidcConfig> | null | undefined
  readonly globex?: Partial<OidcConfig> | null | undefined
  /** Settings of acme's token. */
  readonly token?: readonly string[] | undefined
  readonly routes?: readonly string[] | undefined
}

const ROUTES = [
  'GET /v1/trainings: trainings:list',
  'POST /v1/trainings: trainings:create',
  'ANY /v1/me: authenticated',
  'GET /pages/*: { permission: authenticated, sign_in: acme }',
  'GET /globex/*: { permission: authenticated, sign_in: globex }',
  'GET /lists/*: { permission: trainings:list, sign_in: acme }',
  'GET /bye: public',
]

export class SignInWorld extends SignInTenants {
  readonly gateway: World

  constructor(gateway: World, ...tenants: ConstructorParameters<typeof SignInTenants>) {
    super(...tenants)
    this.gateway = gateway
  }

  /** Writes a new configuration and reloads it. */
  async configure({ acme = {}, globex = {}, token = [], routes = ROUTES }: Settings = {}): Promise<void> {
    const { file } = this.gateway.config
    configureTenant(file, 'acme', acme && this.acme.config(acme), token)
    configureTenant(file, 'globex', globex && this.globex.config(globex))
    writeFileSync(join(this.gateway.folder, 'routes', 'main.yaml'), routeTable(routes))
    await this.gateway.reload()
  }

  /** Log lines of a sign-in event. */
  events(event: string): Record<string, unknown>[] {
    return this.gateway.log().filter((line) => line['event'] === event)
  }

  /** No token, code, secret or cookie is in the log or the metrics, or unsealed in the store. */
  async search(): Promise<void> {
    if (this.secrets.size < 2) throw new Error('no secret was seen, so that the search would find nothing')
    const { ops, storeFile } = this.gateway
    searchIn('the log', this.gateway.logText(), this.secrets)
    searchIn('the metrics', await metricsOf({ ops }), this.secrets)
    for (const file of [storeFile, `${storeFile}-wal`])
      searchIn('the store', readFileSync(file, 'latin1'), this.secrets)
  }
}

/** Replaces the tenant's line in the configuration. @param token further lines for its token */
export function configureTenant(
  file: string,
  id: string,
  oidc: OidcConfig | null,
  token: readonly string[] = [],
): void {
  const secret = `"\${${id.toUpperCase()}_SECRET}"`
  const parts = [`secrets: [${secret}]`, ...token].join(', ')
  const line = `  ${id}: { token: { ${parts} }${oidc === null ? '' : `, oidc: ${written(oidc)}`} }`
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(new RegExp(`^  ${id}: .*$`, 'm'), () => line),
  )
}

/** In JSON, which is also YAML. */
function written(oidc: OidcConfig): string {
  const settings = Object.entries(oidc)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value])
  return JSON.stringify({ ...Object.fromEntries(settings), session_lifetime: `${oidc.sessionLifetime}ms` })
}

export interface Start extends Settings, Pick<WorldOptions, 'answer' | 'target' | 'secure' | 'top'> {
  /** The gateway's origin for browsers, by its port. */
  readonly originOf?: (port: number, gateway: World) => string | Promise<string>
}

export async function startSignIn(
  t: Test,
  { acme, globex, token, routes, originOf = (port) => `http://127.0.0.1:${port}`, ...options }: Start = {},
): Promise<SignInWorld> {
  const searched = searchAtEnd(t)
  const gateway = await startWorld(t, options)
  const origin = await originOf(gateway.port, gateway)
  const providers = await startProviders(t, origin, { postLogoutRedirect: `${origin}/bye` })
  const world = new SignInWorld(gateway, origin, providers)
  for (const provider of Object.values(providers)) eavesdrop(provider, world.secrets)
  searched(() => world.search())
  await world.configure({ acme, globex, token, routes })
  return world
}
