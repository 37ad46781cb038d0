/**
 * Sign-in as a whole: two tenants, each with a real provider, and the sign-in endpoints behind a real server.
 * Everything stops with the test. Then the test searches the log for every secret that was seen.
 */

import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { Test } from 'tap'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import type { OidcConfig, TenantConfig } from '../../src/config/config.ts'
import { ProcessEphemeral } from '../../src/oidc/sign-in/completed-sign-ins.ts'
import type { HttpLimits } from '../../src/oidc/provider/http.ts'
import { Oidc } from '../../src/oidc/oidc.ts'
import type { Ephemeral, OidcPorts, OidcTenant, SeatDirectory, SeatOfName } from '../../src/oidc/ports.ts'
import type { AuditEntry, Committed } from '../../seats-admin/index.ts'
import type { SignedInIdentity } from '../../seats-admin/model/user.ts'
import { searchIn } from '../sign-in/search.ts'
import { SignInTenants, startProviders } from '../sign-in/tenants.ts'
import { listen } from '../support/listen.ts'
import { openSessions } from './sessions.ts'
import { mount } from './mount.ts'

export type Line = Readonly<Record<string, unknown>> & { readonly level: string; readonly message: string }

export interface WorldOptions {
  readonly acme?: Partial<OidcConfig>
  readonly globex?: Partial<OidcConfig>
  readonly limits?: HttpLimits
  readonly ephemeral?: Ephemeral
  /** The providers send back-channel logouts; `session`: with `sid`. */
  readonly backchannel?: 'session' | 'user'
  /** Before the paths of sign-in. */
  readonly prefix?: string
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

export class SignInWorld extends SignInTenants {
  readonly t: Test
  readonly prefix: string
  readonly seats = new Seats()
  readonly sessions = openSessions()
  /** `tenant user` */
  readonly blocked = new Set<string>()
  readonly announced: Committed[] = []
  readonly lines: Line[] = []
  readonly ephemeral: Ephemeral
  /** Offset of the clock, ms. */
  ahead = 0
  oidc: Oidc
  #acme = tenantConfig('acme')
  readonly #globex = tenantConfig('globex')

  constructor(
    t: Test,
    parts: { server: Server; origin: string; providers: Awaited<ReturnType<typeof startProviders>> },
    options: WorldOptions,
  ) {
    super(parts.origin, parts.providers)
    this.t = t
    this.prefix = options.prefix ?? ''
    this.ephemeral = options.ephemeral ?? new ProcessEphemeral()
    this.oidc = this.#open(options)
    mount(parts.server, this)
    t.teardown(() => this.oidc.close())
  }

  readonly now = (): number => Date.now() + this.ahead

  /** A second instance on the same store; stops with the test. */
  instance(options: WorldOptions = {}): Oidc {
    const other = this.#open(options)
    this.t.teardown(() => other.close())
    return other
  }

  /** As after a reload: new objects, the same store. */
  async reopen(options: WorldOptions = {}): Promise<void> {
    await this.oidc.close()
    this.oidc = this.#open(options)
  }

  /** A token issued by the gateway. */
  ownToken(): Promise<string> {
    return mintToken(this.#acme, { sub: 'alice', hashPerm: [] }, this.now())
  }

  /** Adds a first secret to those of acme; `before`: the earlier ones stay. */
  async newSecret(before: 'keep' | 'drop'): Promise<void> {
    const { token } = this.#acme
    const secrets = [randomBytes(32), ...(before === 'keep' ? token.secrets : [])]
    this.#acme = { ...this.#acme, token: { ...token, secrets } }
    await this.reopen()
  }

  events(event: string): Line[] {
    return this.lines.filter((line) => line.event === event)
  }

  /**
   * The sessions that the audit of `acme` says its provider ended, oldest first.
   *
   * @param event of the log: each line's request is the one of an entry
   */
  endedByProvider(event: string): AuditEntry[] {
    const { issuer } = this.acme
    const actor = { kind: 'provider', id: issuer, name: new URL(issuer).host }
    const entries = this.sessions.audit()
    for (const each of entries)
      this.t.match(each, { tenant: 'acme', action: 'session.end', actor, space: 'admin' })
    const asked = new Set(entries.map(({ request_id }) => request_id))
    const logged = new Set(this.events(event).map(({ request_id }) => request_id))
    this.t.same([...asked], [...logged], 'the audit and the log name the same requests')
    return entries
  }

  #open(options: WorldOptions): Oidc {
    const write = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
      void this.lines.push({ ...fields, level, message })
    const ports: OidcPorts = {
      ephemeral: this.ephemeral,
      sessions: this.sessions,
      seats: this.seats,
      isBlocked: (tenant, sub) => this.blocked.has(`${tenant} ${sub}`),
      mint: (tenant, subject, now, lifetime) =>
        mintToken(tenant === 'acme' ? this.#acme : this.#globex, subject, now, lifetime),
      announce: async (committed) => void this.announced.push(committed),
      log: { info: write('info'), warn: write('warn'), error: write('error') },
      now: this.now,
    }
    const { prefix } = this
    return new Oidc(ports, this.tenants(options), { ...PATIENT, ...options.limits, prefix })
  }

  tenants(options: WorldOptions = {}): (TenantConfig & OidcTenant)[] {
    return [
      { ...this.#acme, oidc: this.acme.config(options.acme) },
      { ...this.#globex, oidc: this.globex.config(options.globex) },
    ]
  }

  /** No token, code, secret or cookie is in any line. */
  searchLog(): void {
    const known = [this.#acme, this.#globex].flatMap(({ token }) => token.secrets)
    const secrets = [...this.secrets, ...known.map((each) => Buffer.from(each).toString('base64url'))]
    searchIn('the log', JSON.stringify(this.lines), new Set(secrets))
  }
}

function tenantConfig(id: string): TenantConfig {
  const token = { secrets: [randomBytes(32)], algorithm: 'HS256', lifetime: HOUR, leeway: 0 } as const
  return { id, adminSpace: 'admin', token, oidc: null }
}

export async function startWorld(t: Test, options: WorldOptions = {}): Promise<SignInWorld> {
  let world: SignInWorld | null = null
  // Teardowns run in reverse order.
  t.teardown(() => world?.searchLog())
  const server = createServer()
  const origin = `http://127.0.0.1:${await listen(t, server)}`
  const { backchannel, prefix = '' } = options
  const uri = `${origin}${prefix}/auth/oidc/backchannel-logout`
  const providers = await startProviders(t, origin, {
    // Many tests use one of the two providers, or none.
    lazy: true,
    redirectUri: `${origin}${prefix}/auth/oidc/callback`,
    postLogoutRedirect: `${origin}/pages/bye`,
    ...(backchannel && { backchannelLogout: { uri, session: backchannel === 'session' } }),
  })
  world = new SignInWorld(t, { server, origin, providers }, options)
  return world
}
