/**
 * Sign-in as a whole: two tenants, each with a real provider, and the sign-in endpoints behind a real server.
 * Everything stops with the test. Then the test searches the log for every secret that was seen.
 */

import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
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
import { Authenticator } from '../../src/decision/authn/authenticator.ts'
import type { BrowserContext } from '../../src/model/authorization-request.ts'
import { Refusal } from '../../src/model/errors.ts'
import type { Principal } from '../../src/model/principal.ts'
import { headerLines, isNavigation } from '../../src/oidc/sign-in/browser.ts'
import type { PublicResponse } from '../../src/model/route.ts'
import type { Reply } from '../../src/oidc/ports.ts'
import { Sessions } from '../../src/oidc/session/session-authentication.ts'
import { problemContent, problemHeaders, rawProblem } from '../../src/http/server/problem.ts'
import { verifiedToken } from '../../src/runtime/other-issuers.ts'
import { DEFAULT_MEMORY } from '../support/default-settings.ts'
import { openSessions } from './sessions.ts'

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

/** The endpoints, one page that requires sign-in, and one route for programs. */
function mount(server: Server, world: SignInWorld): void {
  server.on('request', (request, response) => {
    serve(request, world)
      .catch(() => new Refusal('unavailable', 'The gateway cannot decide at the moment.'))
      .then((result) => (result instanceof Refusal ? refuse(response, result) : reply(response, result)))
  })
  // Cookies of many sign-ins.
  server.on('clientError', (_error, socket) =>
    socket.end(rawProblem(new Refusal('headers_too_large', 'The request cannot be read.'), 'a-test')),
  )
}

async function serve(request: IncomingMessage, world: SignInWorld): Promise<Reply> {
  const { method = '', url = '', rawHeaders } = request
  const requestId = randomUUID()
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2)
  const received = await buffer(request)
  const body = received.length === 0 ? null : received
  if (path.startsWith(`${world.prefix}/auth/oidc/`))
    return world.oidc.serve({ method, path, query, rawHeaders, body, requestId })
  const caller = await authenticate(world, { method, rawHeaders, upgrade: false, requestId })
  if (path === '/pages/bye') return { status: 200, headers: [], body: { page: 'bye' } }
  // The behaviour of `sign_in: acme` on a route.
  if (
    caller instanceof Refusal &&
    caller.status === 401 &&
    path.startsWith('/pages/') &&
    isNavigation(method, rawHeaders)
  )
    return world.oidc.signIn('acme', { target: url, rawHeaders, requestId })
  return caller instanceof Refusal ? caller : { status: 200, headers: [], body: { path, ...shown(caller) } }
}

/** As on a route that requires `authenticated`. */
async function authenticate(world: SignInWorld, browser: BrowserContext): Promise<Principal | Refusal> {
  const sessionById = async (tenant: string, id: string) =>
    (await world.sessions.readSession(tenant, id)).value
  const tenants = new Map(world.tenants().map((each) => [each.id, each]))
  const { now, oidc } = world
  const authenticator = new Authenticator({
    ...{ tenants, defaultTenant: null, apiKeyById: () => null, sessionById, now, memory: DEFAULT_MEMORY },
    sessions: new Sessions({ tenants, sessionById, renew: oidc.renew, now }),
    otherIssuer: async (token, requestId) => {
      const found = await oidc.verifyProviderToken(token, requestId)
      return found === null || found instanceof Refusal ? found : verifiedToken(found, 'bearer', 0)
    },
  })
  const linesOf = (name: string) => headerLines(browser.rawHeaders, name)
  const credentials = {
    apiKey: [],
    authorization: linesOf('authorization'),
    cookie: linesOf('cookie'),
    space: [],
  }
  return authenticator.authenticate(credentials, undefined, browser)
}

function shown({ method, tenant, user, email, claims }: Principal) {
  return {
    auth: method,
    tenant,
    user,
    email,
    entries: claims.by === 'name' ? Object.fromEntries(claims.entries) : {},
  }
}

function reply(response: ServerResponse, { status, headers, body }: PublicResponse): void {
  const bytes = body === undefined ? '' : JSON.stringify(body)
  const own = ['Cache-Control', 'no-store', 'Content-Type', 'application/json', 'X-Request-Id', 'a-test']
  response.writeHead(status, [...own, ...headers])
  response.end(bytes)
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  const { type, text } = problemContent(refusal, 'a-test')
  response.writeHead(refusal.status, ['Content-Type', type, ...problemHeaders(refusal, 'a-test')])
  response.end(text)
}
