/** Sign-in of one configuration: connects `oidc/` to store, memory and log. */

import { type AdminDeps, answerRevocation, type Store } from '../../seats-admin/index.ts'
import type { OtherIssuer } from '../decision/authn/bearer.ts'
import type { MemoryLease } from '../decision/engine.ts'
import { mintToken } from '../decision/authn/gateway-token.ts'
import type { Config, TenantConfig } from '../config/config.ts'
import { OWN_CREDENTIAL_FIELDS } from '../model/principal.ts'
import type { PublicHandler } from '../model/route.ts'
import { headerLines, isNavigation } from '../oidc/sign-in/browser.ts'
import { Oidc } from '../oidc/oidc.ts'
import type { Ephemeral, OidcLog, OidcPorts, OidcTenant } from '../oidc/ports.ts'
import { type SessionOptions, Sessions } from '../oidc/session/session-authentication.ts'
import type { OtherUserPage, SignInRedirect } from '../pipeline/stages/refuse-denied.ts'
import type { SeatMemory } from '../decision/seats/memory.ts'

/**
 * The most bytes of the cookies of pending sign-ins: nginx takes 8 KiB of a header line, and other cookies
 * need room too.
 */
const SIGN_IN_COOKIES = 4096

/** The dependencies of sign-in, besides the store. */
export interface SignInPorts {
  /** The used states of sign-in. */
  readonly ephemeral: Ephemeral
  readonly log: OidcLog
}

export interface SignInOptions extends SignInPorts {
  /** Seats are read through `memory`, which bounds each tenant's share. */
  readonly store: Pick<
    Store,
    | 'sessions'
    | 'recordSignIn'
    | 'recordScimMember'
    | 'usersByEmail'
    | 'isKnownUser'
    | 'usersOfScimId'
    | 'revokeForProvider'
    | 'liftBlock'
    | 'answerRevocation'
  >
  readonly revoking: AdminDeps['revoking']
  readonly memory: SeatMemory
  readonly lease: MemoryLease
  readonly announce: OidcPorts['announce']
}

export type SignIn = ReturnType<typeof openSignIn>

export function openSignIn(config: Config, parts: SignInOptions) {
  const tenants = [...config.tenants.values()].filter(hasProvider)
  const { store, revoking, memory, lease, ephemeral, announce, log } = parts
  const ports: OidcPorts = {
    ephemeral,
    sessions: store.sessions,
    seats: {
      seatsByName: (tenant, names) => seatsByName(memory, tenant, names),
      recordSignIn: (tenant, user, seatIds) => store.recordSignIn(tenant, user, seatIds),
      groupsOf: async (tenant, member) => {
        if (!lease.live()) await lease.renewed()
        return memory.groupsOf(tenant, member)
      },
      recordScimMember: (writer, sub, key) => store.recordScimMember(writer, sub, key),
    },
    signals: {
      usersByEmail: (...of) => store.usersByEmail(...of),
      isKnownUser: (...of) => store.isKnownUser(...of),
      usersOfScimId: (...of) => store.usersOfScimId(...of),
      revokeForProvider: (...of) => store.revokeForProvider(...of),
      liftBlock: (...of) => store.liftBlock(...of),
      answer: (written) => answerRevocation({ store, revoking, now: Date.now }, written),
    },
    isBlocked: async (tenant, sub) => {
      // The endpoints of sign-in are public: no decision has looked at the lease.
      if (!lease.live()) await lease.renewed()
      const signedInNow = { method: 'session', tenant, owner: sub, issuedAt: Infinity } as const
      return (await memory.restriction(signedInNow)) !== null
    },
    mint: (tenant, subject, now, lifetime) => mintToken(tenantOf(config, tenant), subject, now, lifetime),
    announce,
    log,
    now: Date.now,
  }
  const oidc = new Oidc(ports, tenants, {
    cookieBytes: Math.min(SIGN_IN_COOKIES, Math.floor(config.limits.headerBytes / 2)),
    prefix: config.api.authPrefix,
    ...config.providerLimits,
    proxies: config.providerProxies,
  })
  /** Whether to show a page: to a browser that navigates, and whose fault a sign-in may repair. */
  const shows = (method: string, rawHeaders: readonly string[]) =>
    isNavigation(method, rawHeaders) && !hasCredential(rawHeaders)
  const redirect: SignInRedirect = (tenant, { method, ...request }) =>
    shows(method, request.rawHeaders) ? oidc.signIn(tenant, request) : null
  const otherUserPage: OtherUserPage = (refusal, tenant, { method, target, rawHeaders }) =>
    shows(method, rawHeaders) ? oidc.otherUserPage(refusal, tenant, target) : refusal
  const providerToken: OtherIssuer = (text, requestId, resource) =>
    oidc.verifyProviderToken(text, requestId, resource)
  /** Authentication by the session cookie. */
  const sessions = (renew: SessionOptions['renew']) =>
    new Sessions({
      tenants: new Map(tenants.map((tenant) => [tenant.id, tenant])),
      sessionById: (tenant, id, trace) => memory.sessionById(tenant, id, trace),
      readSession: (tenant, id, trace) => memory.readSession(tenant, id, trace),
      renew,
      now: Date.now,
    })
  return {
    cookies: sessions(oidc.renew),
    /** The same without effects at the provider: rejects if the session is due for renewal. */
    passiveCookies: sessions(() => Promise.reject(new Error('the session is due for renewal'))),
    serve: ((request) => oidc.serve(request)) satisfies PublicHandler,
    ports: { signIn: redirect, otherUserPage },
    /** Verifies tokens of the tenants' providers; null if no tenant accepts them. */
    providerToken: tenants.some((tenant) => tenant.oidc.acceptProviderTokens) ? providerToken : null,
    /** Resolves once no request to a provider is in flight. */
    close: () => oidc.close(),
  }
}

/** A request with a key or a token gets the 401 that explains its fault: sign-in would not repair it. */
function hasCredential(rawHeaders: readonly string[]): boolean {
  return (
    OWN_CREDENTIAL_FIELDS.some((name) => headerLines(rawHeaders, name).length > 0) ||
    headerLines(rawHeaders, 'authorization').some((line) => /^bearer\b/i.test(line))
  )
}

function hasProvider(tenant: TenantConfig): tenant is TenantConfig & OidcTenant {
  return tenant.oidc !== null
}

function tenantOf({ tenants }: Config, id: string): TenantConfig {
  const tenant = tenants.get(id)
  if (tenant === undefined) throw new Error(`no tenant ${id}`)
  return tenant
}

/** The tenant's Seats with the names of a claim. Each read waits for its turn in the tenant's share. */
export async function seatsByName(
  memory: Pick<SeatMemory, 'spacesByName'>,
  tenant: string,
  names: readonly string[],
) {
  const distinct = [...new Set(names)]
  const seats = []
  // A claim may name 1,000 Seats: small groups let the sign-ins of one tenant take turns.
  for (let at = 0; at < distinct.length; at += CONCURRENT_READS) {
    const reading = distinct.slice(at, at + CONCURRENT_READS).map((name) => memory.spacesByName(tenant, name))
    for (const seat of await Promise.all(reading)) if (seat !== null) seats.push(seat)
  }
  return seats
}

/** The concurrent reads of one sign-in. */
const CONCURRENT_READS = 4
