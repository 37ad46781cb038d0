/**
 * Sign-in on a whole gateway: the gateway of `support/world.ts` on its embedded store, and two tenants with a real
 * provider each. Everything stops with the test. Before that, the test searches log, metrics and store for every
 * secret that was seen.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { OidcConfig } from '../../src/config/config.ts'
import type { ProviderLimits } from '../../src/config/provider-limits.ts'
import type { ProviderOptions } from '../oidc/provider.ts'
import { routeTable } from '../support/configuration.ts'
import { env as secretsOf, startWorld, type World, type WorldOptions } from '../support/world.ts'
import { eavesdrop } from './eavesdrop.ts'
import { searchAtEnd, searchIn } from './search.ts'
import { SignInTenants, startProviders } from './tenants.ts'
import { metricsOf } from '../support/operations.ts'

/** A slow machine is no slow provider. */
const PATIENT: ProviderLimits = { connect: 30_000, total: 30_000 }

/** Null: the tenant has no provider. Absent: its own, with the default configuration. */
export interface Settings {
  readonly acme?: Partial<OidcConfig> | null | undefined
  readonly globex?: Partial<OidcConfig> | null | undefined
  /** Settings of acme's token. */
  readonly token?: readonly string[] | undefined
  readonly routes?: readonly string[] | undefined
  /** Of requests to the providers, where they differ from those of a patient gateway. */
  readonly limits?: ProviderLimits | undefined
  /** Variables more of the environment. */
  readonly env?: Readonly<Record<string, string>> | undefined
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
  /** Lines of the log before the latest {@link anew}. */
  #before = 0
  /** Secrets that no sign-in has brought. */
  readonly #configured: number

  constructor(gateway: World, ...tenants: ConstructorParameters<typeof SignInTenants>) {
    super(...tenants)
    this.gateway = gateway
    for (const secret of Object.values(secretsOf)) this.secrets.add(secret)
    this.#configured = this.secrets.size
  }

  /** Writes a new configuration and reloads it. */
  async configure({ acme = {}, globex = {}, token = [], routes = ROUTES, ...more }: Settings = {}) {
    const { file } = this.gateway.config
    configureTenant(file, 'acme', acme && this.acme.config(acme), token)
    configureTenant(file, 'globex', globex && this.globex.config(globex))
    rewrite(join(this.gateway.folder, 'routes', 'main.yaml'), () => routeTable(routes))
    await this.gateway.reload(more.env, { providerLimits: { ...PATIENT, ...more.limits } })
  }

  /** For a further case on the same gateway: users, counts of requests and lines of the log begin anew. */
  async anew(settings: Settings = {}): Promise<void> {
    for (const provider of [this.acme, this.globex]) {
      provider.accounts.clear()
      provider.requestCounts.clear()
      eavesdrop(provider, this.secrets)
    }
    // Also where nothing has changed: what the gateway remembers of the providers goes.
    await this.configure(settings)
    this.#before = this.gateway.log().length
  }

  /** Log lines of sign-in. */
  lines(): Record<string, unknown>[] {
    return this.gateway
      .log()
      .slice(this.#before)
      .filter((line) => 'event' in line)
  }

  /** Log lines of a sign-in event. */
  events(event: string): Record<string, unknown>[] {
    return this.lines().filter((line) => line['event'] === event)
  }

  /** No token, code, secret or cookie is in the log or the metrics, or unsealed in the store. */
  async search(): Promise<void> {
    if (this.secrets.size === this.#configured)
      throw new Error('no secret was seen, so that the search would find nothing')
    const { ops, storeFile } = this.gateway
    searchIn('the log', this.gateway.logText(), this.secrets)
    searchIn('the metrics', await metricsOf({ ops }), this.secrets)
    for (const file of [storeFile, `${storeFile}-wal`])
      searchIn('the store', readFileSync(file, 'latin1'), this.secrets)
  }
}

/**
 * Replaces the tenant's line in the configuration.
 *
 * @param token lines for its token; its secrets are added where they are absent
 * @param more further settings of the tenant
 */
export function configureTenant(
  file: string,
  id: string,
  oidc: OidcConfig | null,
  token: readonly string[] = [],
  more: readonly string[] = [],
): void {
  const secret = `"\${${id.toUpperCase()}_SECRET}"`
  const secrets = token.some((line) => line.startsWith('secrets:')) ? [] : [`secrets: [${secret}]`]
  const parts = [...secrets, ...token].join(', ')
  const own = [`token: { ${parts} }`, ...(oidc === null ? [] : [`oidc: ${written(oidc)}`]), ...more]
  const line = `  ${id}: { ${own.join(', ')} }`
  rewrite(file, (text) => text.replace(new RegExp(`^  ${id}: .*$`, 'm'), () => line))
}

/** Many cases have the same text as the one before. */
function rewrite(file: string, change: (text: string) => string): void {
  const before = readFileSync(file, 'utf8')
  const after = change(before)
  if (after !== before) writeFileSync(file, after)
}

/** As the configuration has it: in JSON, which is also YAML. */
function written(oidc: OidcConfig): string {
  const settings = settingsOf(oidc)
  const events = oidc.events === null ? {} : { events: settingsOf(oidc.events) }
  return JSON.stringify({ ...settings, ...events, session_lifetime: `${oidc.sessionLifetime}ms` })
}

/** With the keys of the file, and without what is null. */
function settingsOf(values: object): Record<string, unknown> {
  const settings = Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value])
  return Object.fromEntries(settings)
}

export interface Start
  extends Settings, Pick<WorldOptions, 'answer' | 'target' | 'secure' | 'top' | 'tables'> {
  /** The gateway's origin for browsers, by its port. */
  readonly originOf?: (port: number, gateway: World) => string | Promise<string>
  /** Settings of the providers, by the origin. */
  readonly providers?: (origin: string) => Partial<ProviderOptions>
}

export async function startSignIn(
  t: Test,
  { originOf = (port) => `http://127.0.0.1:${port}`, providers = () => ({}), ...more }: Start = {},
): Promise<SignInWorld> {
  const { acme, globex, token, routes, limits, env, ...options } = more
  const searched = searchAtEnd(t)
  const gateway = await startWorld(t, options)
  const origin = await originOf(gateway.port, gateway)
  const common = { lazy: true, postLogoutRedirect: `${origin}/bye` }
  const started = await startProviders(t, origin, { ...common, ...providers(origin) })
  const world = new SignInWorld(gateway, origin, started)
  searched(() => world.search())
  await world.anew({ acme, globex, token, routes, limits, env })
  return world
}
