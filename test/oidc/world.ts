/**
 * Sign-in as a whole: two tenants, each with a real provider, and the sign-in endpoints behind a real server.
 * Everything stops with the test. Then the test searches the log for every secret that was seen.
 */

import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { mintToken } from '../../src/decision/authn/token.ts'
import type { OidcConfig, TenantConfig } from '../../src/config/config.ts'
import { ProcessEphemeral } from '../../src/oidc/sign-in/ephemeral.ts'
import type { HttpLimits } from '../../src/oidc/provider/http.ts'
import { Oidc } from '../../src/oidc/oidc.ts'
import type {
  Ephemeral,
  OidcLog,
  OidcPorts,
  OidcTenant,
  SeatDirectory,
  SeatOfName,
} from '../../src/oidc/ports.ts'
import type { Committed } from '../../seats-admin/index.ts'
import type { SignedInIdentity } from '../../seats-admin/model/user.ts'
import { Browser, type Page } from './browser-client.ts'
import { openSessions } from './sessions.ts'
import { mount } from './mount.ts'
import { CLIENT_SECRET, type Account, TestProvider } from './provider.ts'

export type Line = Readonly<Record<string, unknown>> & { readonly level: string; readonly message: string }

export interface WorldOptions {
  readonly acme?: Partial<OidcConfig>
  readonly globex?: Partial<OidcConfig>
  readonly limits?: HttpLimits
  readonly ephemeral?: Ephemeral
  /** The providers send back-channel logouts; `session`: with `sid`. */
  readonly backchannel?: 'session' | 'user'
  /** ms */
  readonly tokenLifetime?: number
}

export const HOUR = 3_600_000

/** A slow machine is no slow provider. */
const PATIENT: HttpLimits = { connect: 30_000, total: 30_000 }

/** Seats of a tenant, and their recorded members. */
export class Seats implements SeatDirectory {
  readonly #seats = new Map<string, SeatOfName>()
  /** `tenant user` → Seat ids of the latest sign-in. */
  readonly members = new Map<string, readonly string[]>()
  /** `tenant user` → the latest sign-in. */
  readonly users = new Map<string, SignedInIdentity>()
  fault: Error | null = null

  add(tenant: string, name: string, spaces: readonly string[]): string {
    const id = createHash('sha256').update(`${tenant} ${name}`).digest('hex').slice(0, 26)
    this.#seats.set(`${tenant} ${name}`, { id, name, spaces })
    return id
  }

  async seatsByName(tenant: string, names: readonly string[]): Promise<SeatOfName[]> {
    if (this.fault !== null) throw this.fault
    return names.map((name) => this.#seats.get(`${tenant} ${name}`)).filter((seat) => seat !== undefined)
  }

  async recordSignIn(tenant: string, user: SignedInIdentity, seatIds: readonly string[]): Promise<void> {
    if (this.fault !== null) throw this.fault
    this.members.set(`${tenant} ${user.sub}`, seatIds)
    this.users.set(`${tenant} ${user.sub}`, user)
  }
}

export class SignInWorld {
  readonly t: Test
  readonly origin: string
  readonly acme: TestProvider
  readonly globex: TestProvider
  readonly seats = new Seats()
  readonly sessions = openSessions()
  /** `tenant user` */
  readonly blocked = new Set<string>()
  readonly announced: Committed[] = []
  readonly lines: Line[] = []
  readonly secrets = new Set<string>([CLIENT_SECRET])
  readonly ephemeral: Ephemeral
  /** Offset of the clock, ms. */
  ahead = 0
  readonly #tokens: Record<string, TenantConfig>
  #oidc: Oidc

  constructor(
    t: Test,
    parts: { server: Server; origin: string; acme: TestProvider; globex: TestProvider },
    options: WorldOptions,
  ) {
    this.t = t
    this.origin = parts.origin
    this.acme = parts.acme
    this.globex = parts.globex
    this.ephemeral = options.ephemeral ?? new ProcessEphemeral()
    const token = () => tokenConfig(options.tokenLifetime ?? HOUR)
    this.#tokens = {
      acme: { id: 'acme', adminSpace: 'admin', token: token(), oidc: null },
      globex: { id: 'globex', adminSpace: 'admin', token: token(), oidc: null },
    }
    this.#oidc = this.#open(options)
    mount(parts.server, this)
    t.teardown(() => this.#oidc.close())
  }

  get oidc(): Oidc {
    return this.#oidc
  }

  readonly now = (): number => Date.now() + this.ahead

  tenant(id: string): TenantConfig {
    const tenant = this.#tokens[id]
    if (tenant === undefined) throw new Error(`no tenant ${id}`)
    return tenant
  }

  /** A second instance on the same store; stops with the test. */
  instance(options: WorldOptions = {}): Oidc {
    const other = this.#open(options)
    this.t.teardown(() => other.close())
    return other
  }

  /** As after a reload: new objects, the same store. */
  async reopen(options: WorldOptions = {}): Promise<void> {
    await this.#oidc.close()
    this.#oidc = this.#open(options)
  }

  /** A token issued by the gateway. */
  ownToken(): Promise<string> {
    return mintToken(this.tenant('acme'), { sub: 'alice', hashPerm: [] }, this.now())
  }

  /** Adds a first secret; `before`: the earlier ones stay. */
  async newSecret(id: string, before: 'keep' | 'drop'): Promise<void> {
    const tenant = this.tenant(id)
    const secrets = [randomBytes(32), ...(before === 'keep' ? tenant.token.secrets : [])]
    this.#tokens[id] = { ...tenant, token: { ...tenant.token, secrets } }
    await this.reopen()
  }

  browser(user = 'alice'): Browser {
    return new Browser(user, this.secrets)
  }

  user(name: string, claims: Account, provider: TestProvider = this.acme): void {
    provider.accounts.set(name, {
      email: `${name}@acme.example`,
      email_verified: true,
      name: 'A. User',
      ...claims,
    })
  }

  /** Begins a sign-in for a program; the browser has its cookies. */
  begin(browser: Browser, tenant = 'acme', more: Readonly<Record<string, unknown>> = {}): Promise<Page> {
    return browser.postJson(`${this.origin}/auth/oidc/login`, { tenant, ...more })
  }

  /** The provider's response, as the URL of the callback. */
  async answer(
    browser: Browser,
    tenant = 'acme',
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<URL> {
    const begun = await this.begin(browser, tenant, more)
    const stopped = await browser.walk(begun.json.authorization_url, (url) =>
      url.startsWith(`${this.origin}/`),
    )
    return new URL(stopped.headers.location ?? 'nowhere:')
  }

  /** A complete sign-in for a program. */
  async signIn(browser: Browser, tenant = 'acme'): Promise<Page> {
    return browser.send((await this.answer(browser, tenant)).href)
  }

  /** A complete sign-in for a page; the browser then has a session. */
  signInAtPage(browser: Browser, path = '/pages/home'): Promise<Page> {
    return browser.walk(`${this.origin}${path}`)
  }

  refresh(browser: Browser, handle: string): Promise<Page> {
    return browser.postJson(`${this.origin}/auth/oidc/refresh`, { refresh_token: handle })
  }

  events(event: string): Line[] {
    return this.lines.filter((line) => line.event === event)
  }

  #open(options: WorldOptions): Oidc {
    const ports: OidcPorts = {
      ephemeral: this.ephemeral,
      sessions: this.sessions,
      seats: this.seats,
      isBlocked: (tenant, sub) => this.blocked.has(`${tenant} ${sub}`),
      mint: (tenant, subject, now, lifetime) => mintToken(this.tenant(tenant), subject, now, lifetime),
      announce: async (committed) => void this.announced.push(committed),
      log: this.#log(),
      now: this.now,
    }
    return new Oidc(ports, this.tenants(options), { ...PATIENT, ...options.limits })
  }

  tenants(options: WorldOptions = {}): OidcTenant[] {
    return [
      { ...this.tenant('acme'), oidc: this.acme.config(options.acme) },
      { ...this.tenant('globex'), oidc: this.globex.config(options.globex) },
    ]
  }

  #log(): OidcLog {
    const write = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
      this.lines.push({ ...fields, level, message })
    }
    return { info: write('info'), warn: write('warn'), error: write('error') }
  }

  /** No token, code, secret or cookie is in any line. */
  searchLog(): void {
    const text = JSON.stringify(this.lines)
    const found = [...this.secrets].filter((secret) => secret.length > 8 && text.includes(secret))
    if (found.length > 0) throw new Error(`${found.length} secrets are in the log`)
    for (const { token } of Object.values(this.#tokens))
      for (const secret of token.secrets)
        if (text.includes(Buffer.from(secret).toString('base64url')))
          throw new Error('a token secret is in the log')
  }
}

function tokenConfig(lifetime: number): TenantConfig['token'] {
  return { secrets: [randomBytes(32)], algorithm: 'HS256', lifetime, leeway: 0 }
}

export async function startWorld(t: Test, options: WorldOptions = {}): Promise<SignInWorld> {
  let world: SignInWorld | null = null
  // Teardowns run in reverse order.
  t.teardown(() => world?.searchLog())
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const redirectUri = `${origin}/auth/oidc/callback`
  const postLogoutRedirect = `${origin}/pages/bye`
  const { backchannel } = options
  const uri = `${origin}/auth/oidc/backchannel-logout`
  const own = {
    // Many tests use one of the two providers, or none.
    lazy: true,
    redirectUri,
    postLogoutRedirect,
    ...(backchannel && { backchannelLogout: { uri, session: backchannel === 'session' } }),
  }
  const [acme, globex] = await Promise.all([
    TestProvider.start(t, own),
    TestProvider.start(t, { ...own, claimsInIdToken: false }),
  ])
  world = new SignInWorld(t, { server, origin, acme, globex }, options)
  return world
}
