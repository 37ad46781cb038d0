/**
 * Authenticates by session cookie, for requests with neither an API key nor a bearer token. Sessions are read
 * from memory, as API keys are; only Seats older than the token lifetime are renewed.
 */

import { readHashPerm } from '../../../seats-admin/model/hash-perm.ts'
import { areSameBytes } from '../../lib/same-bytes.ts'
import type { BrowserContext } from '../../model/authorization-request.ts'
import { Refusal } from '../../model/errors.ts'
import type { CorsPolicy } from '../../model/cors.ts'
import type { RecordLookup, Trace } from '../../model/decision.ts'
import { membershipClaims } from '../../model/membership.ts'
import { foreignSub, isIssuerUser } from '../../model/issuer-user.ts'
import type { Principal } from '../../model/principal.ts'
import { sessionRevoked } from '../../model/revoked.ts'
import { hasOwnOrigin, isChange, isCookieAccepted } from '../sign-in/browser.ts'
import { cookieValues, ownOriginsOf, SESSION_COOKIE } from './cookies.ts'
import { type CookieHandle, parseCookieText } from './session-credentials.ts'
import type { OidcTenant } from '../ports.ts'
import type { SessionRecord } from '../../../seats-admin/index.ts'

const sessionUnknown = new Refusal('token_invalid', 'The session cookie is unknown.')
const ended = new Refusal('token_invalid', 'The session has ended. Sign in again.')
export const blockedUser = new Refusal(
  'caller_blocked',
  'An administrator or the identity provider has blocked this user.',
)
export const sessionExpired = new Refusal('token_expired', 'The session has expired. Sign in again.')
/** The provider no longer accepts the refresh token. */
export const endedByProvider = new Refusal(
  'token_expired',
  'The identity provider has ended the session. Sign in again.',
)
/**
 * The refusal of a session that has ended.
 *
 * @param session null: it is unknown
 */
export function sessionEnded(session: Pick<SessionRecord, 'revoked'> | null): Refusal {
  return session?.revoked === true ? sessionRevoked : ended
}

const sessionAmbiguous = new Refusal('credentials_ambiguous', 'The request has more than one session cookie.')
const sessionCrossSite = new Refusal(
  'credentials_missing',
  'For unsafe methods and WebSockets the session cookie is accepted only from a page of this origin, or of one that the cors of the route table lists with credentials.',
)

export const foreignOrigin = new Refusal(
  'origin_refused',
  "The gateway's own endpoints accept a change with the session cookie only with the Origin of a page of the gateway. Programs send an API key or a token.",
)

export interface SessionOptions {
  readonly tenants: ReadonlyMap<string, OidcTenant>
  /** The current session, from memory under the lease. Rejects if the store is unavailable. */
  readonly sessionById: RecordLookup<SessionRecord>
  /** The session as the store has it now, whatever memory has. */
  readonly readSession: RecordLookup<SessionRecord>
  /**
   * Maps the session's Seats again.
   *
   * @param requestId of the request that needs it; null: none
   */
  readonly renew: (tenant: string, id: string, requestId: string | null) => Promise<SessionRecord | Refusal>
  /** ms since the epoch */
  readonly now: () => number
}

/** Compared instead of the hash of a missing session. */
const NO_HASH = new Uint8Array(32)

export class Sessions {
  readonly #options: SessionOptions
  /** Tenant id → the gateway's origin in browsers. */
  readonly #origins: ReadonlyMap<string, string>
  /** The principal of each record, created once. */
  readonly #principals = new WeakMap<SessionRecord, Principal>()

  constructor(options: SessionOptions) {
    this.#options = options
    const tenants = [...options.tenants.values()]
    this.#origins = new Map(tenants.map(({ id, oidc }) => [id, new URL(oidc.redirectUri).origin]))
  }

  /**
   * @param cookieLines the values of all Cookie header lines
   * @param cors of the route
   * @returns null without a session cookie
   */
  authenticate(
    cookieLines: readonly string[],
    request: BrowserContext,
    cors: CorsPolicy | null = null,
    trace?: Trace,
  ): Principal | Refusal | null | Promise<Principal | Refusal> {
    const [text, ...others] = cookieValues(cookieLines, SESSION_COOKIE)
    if (text === undefined) return null
    if (others.length > 0) return sessionAmbiguous
    const handle = parseCookieText(text)
    const origin = handle === null ? undefined : this.#origins.get(handle.tenant)
    if (handle === null || origin === undefined) return sessionUnknown
    if (!isCookieAccepted(request, origin, cors)) return sessionCrossSite
    const record = this.#options.sessionById(handle.tenant, handle.id, trace)
    const { requestId = null } = request
    if (record instanceof Promise) return record.then((late) => this.#admit(handle, late, requestId, trace))
    return this.#admit(handle, record, requestId, trace)
  }

  /**
   * Refuses a change at a built-in endpoint unless a page of the gateway's own origin makes it. A browser
   * sends the cookie with requests of other pages of the same site too, and a valid cookie says nothing about
   * the page. Whether the session exists does not matter: the refusal comes before the credential is checked.
   */
  foreignChange(cookieLines: readonly string[], { method, rawHeaders }: BrowserContext): Refusal | null {
    if (!isChange(method)) return null
    const [text, ...others] = cookieValues(cookieLines, SESSION_COOKIE)
    // Several cookies are refused later, as ambiguous.
    if (text === undefined || others.length > 0) return null
    return hasOwnOrigin(rawHeaders, ownOriginsOf(text, this.#origins)) ? null : foreignOrigin
  }

  /** Checks expiry before the end, as for API keys: a session that is both ended and expired has expired. */
  #admit(
    handle: CookieHandle,
    record: SessionRecord | null,
    requestId: string | null,
    trace: Trace | undefined,
  ): Principal | Refusal | Promise<Principal | Refusal> {
    const same = areSameBytes(record?.cookieHash ?? NO_HASH, handle.hash)
    if (record === null || !same) return sessionUnknown
    const now = this.#options.now()
    if (!(now < record.expiresAt)) return sessionExpired.of(record)
    if (record.endedAt !== null) return sessionEnded(record).of(record)
    // An earlier version let such a user sign in.
    if (isIssuerUser(record.user)) return foreignSub
    if (now < record.renewAt) return this.#principal(record)
    return this.#renew(record, requestId, trace)
  }

  /**
   * The renewed session is read again, as of a position of the change feed: another instance may have renewed
   * it.
   */
  async #renew(
    record: SessionRecord,
    requestId: string | null,
    trace: Trace | undefined,
  ): Promise<Principal | Refusal> {
    const { readSession, renew } = this.#options
    const renewed = await renew(record.tenant, record.id, requestId)
    // The record was only a reason to query the provider, and is changed by its answer.
    trace?.discard()
    if (renewed instanceof Refusal) return renewed.of(record)
    const current = await readSession(record.tenant, record.id, trace)
    return current?.endedAt === null ? this.#principal(current) : sessionEnded(current).of(record)
  }

  #principal(record: SessionRecord): Principal {
    const cached = this.#principals.get(record)
    if (cached !== undefined) return cached
    const { id, tenant, user, email } = record
    const { token, ...source } = this.#options.tenants.get(tenant) ?? { token: { leeway: 0 } }
    const { leeway } = token
    const issuedAt = Math.floor(record.issuedAt - leeway / 1000)
    const named = { by: 'name' as const, entries: readHashPerm(record.hashPerm) ?? new Map(), issuedAt }
    const claims = membershipClaims(source, user, record.member, issuedAt) ?? named
    const validUntil = Math.min(record.renewAt, record.expiresAt)
    const subject = { tenant, user, email, owner: user, issuedAt: Infinity }
    const principal = { method: 'session', ...subject, claims, session: id, validUntil } as const
    this.#principals.set(record, Object.freeze(principal))
    return principal
  }
}
