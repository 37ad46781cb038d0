/** Sign-in for one configuration: the room of OpenID Connect, given what it needs of store, memory and log. */

import type { Store } from '../../seats-admin/index.ts'
import type { OtherIssuer } from '../decision/authn/bearer.ts'
import type { VerifiedToken } from '../decision/authn/claims.ts'
import { mintToken } from '../decision/authn/token.ts'
import type { Config, TenantConfig } from '../config/config.ts'
import type { PublicResponse, PublicRequest } from '../model/route.ts'
import { headerLines, isNavigation } from '../oidc/sign-in/browser.ts'
import { Oidc } from '../oidc/oidc.ts'
import type { Ephemeral, OidcLog, OidcPorts, OidcTenant, SeatOfName } from '../oidc/ports.ts'
import type { ProviderToken } from '../oidc/tokens/provider-token.ts'
import { Sessions } from '../oidc/session/session.ts'
import { Refusal } from '../model/errors.ts'
import type { SendsToSignIn } from '../pipeline/pipeline.ts'
import type { SeatMemory } from '../decision/seats/memory.ts'

export interface SignInParts {
  /** Seats are read through `memory`, in the tenant's share. */
  readonly store: Pick<Store, 'sessions' | 'recordMember'>
  readonly memory: SeatMemory
  /** Used sign-ins. */
  readonly ephemeral: Ephemeral
  readonly announce: OidcPorts['announce']
  readonly log: OidcLog
}

export class SignIn {
  /** The session cookie as a credential. */
  readonly cookies: Sessions
  readonly #oidc: Oidc

  constructor(config: Config, parts: SignInParts) {
    const tenants = [...config.tenants.values()].filter(hasProvider)
    const { store, memory, ephemeral, announce, log } = parts
    this.#oidc = new Oidc(
      {
        ephemeral,
        sessions: store.sessions,
        seats: {
          seatsByName: (tenant, names) => seatsByName(memory, tenant, names),
          recordMember: (tenant, user, seatIds) => store.recordMember(tenant, user, seatIds),
        },
        mint: (tenant, subject, now) => mintToken(tenantOf(config, tenant), subject, now),
        announce,
        log,
        now: Date.now,
      },
      tenants,
      { cookieBytes: Math.floor(config.limits.headerBytes / 2) },
    )
    this.providerToken = tenants.some(({ oidc }) => oidc.acceptProviderTokens)
      ? async (text) => {
          const found = await this.#oidc.verifyProviderToken(text)
          return found === null || found instanceof Refusal ? found : verified(found)
        }
      : null
    this.cookies = new Sessions({
      tenants: new Map(tenants.map((tenant) => [tenant.id, tenant])),
      sessionById: (tenant, id) => memory.sessionById(tenant, id),
      renew: this.#oidc.renew,
      now: Date.now,
    })
  }

  readonly serve = (request: PublicRequest): Promise<PublicResponse | Refusal> => this.#oidc.serve(request)

  /** A bearer token that a tenant's provider signed; null where no tenant takes such. */
  readonly providerToken: OtherIssuer | null

  readonly send: SendsToSignIn = (tenant, { method, target, rawHeaders }) =>
    isNavigation(method, rawHeaders) && !namesCaller(rawHeaders)
      ? this.#oidc.signIn(tenant, target, rawHeaders)
      : null

  /** Resolves when nothing is under way to a provider. */
  close(): Promise<void> {
    return this.#oidc.close()
  }
}

/** Whoever shows a key or a token is to hear what is wrong with it: signing in would not mend that. */
function namesCaller(rawHeaders: readonly string[]): boolean {
  return (
    headerLines(rawHeaders, 'x-api-key').length > 0 ||
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

/** The Seats of a tenant that the names of a claim mean. Each read waits for its turn in the tenant's share. */
export async function seatsByName(
  memory: Pick<SeatMemory, 'spacesByName'>,
  tenant: string,
  names: readonly string[],
): Promise<SeatOfName[]> {
  const distinct = [...new Set(names)]
  const found: SeatOfName[] = []
  // A claim may name 1,000 Seats: reading them in small groups keeps the sign-ins of one tenant in turn.
  for (let at = 0; at < distinct.length; at += READ_AT_ONCE) {
    const reading = distinct.slice(at, at + READ_AT_ONCE).map((name) => memory.spacesByName(tenant, name))
    for (const seat of await Promise.all(reading)) if (seat !== null) found.push(seat)
  }
  return found
}

/** Seats that one sign-in reads at once. */
const READ_AT_ONCE = 4

/** Milliseconds: a key that the provider has withdrawn must not go on counting for as long as its tokens say. */
const REMEMBERED = 10 * 60_000

function verified(token: ProviderToken): VerifiedToken {
  const { tenant, user, email, names, issuedAt, expiresAt, validFrom, leeway } = token
  const claims = { by: 'any-space', names, issuedAt: Math.floor(issuedAt - leeway) } as const
  const validUntil = Math.min((expiresAt + leeway) * 1000, Date.now() + REMEMBERED)
  return {
    principal: Object.freeze({
      method: 'bearer',
      tenant,
      user,
      email,
      claims,
      session: null,
      validUntil,
    }),
    expiresAt,
    validFrom,
    leeway,
    rememberFor: REMEMBERED,
  }
}
