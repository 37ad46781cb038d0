/**
 * Authentication by the first credential that is present: API key, bearer token, sign-in session. An invalid
 * one never falls through to the next. One instance belongs to one configuration and is dropped with it,
 * caches included.
 */

import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import type { MemoryBounds, TenantConfig } from '../../config/config.ts'
import type { CorsPolicy } from '../../model/cors.ts'
import { CacheLookups } from '../../model/cache-lookups.ts'
import { Refusal } from '../../model/errors.ts'
import type { BrowserContext, Credentials } from '../../model/authorization-request.ts'
import type { RecordLookup, Trace } from '../../model/decision.ts'
import type { Principal } from '../../model/principal.ts'
import { sessionRevoked, tokenRevoked } from '../../model/revoked.ts'
import { type ApiKeyOptions, ApiKeys } from './api-key-authentication.ts'
import { BearerTokens, isBearer, type OtherIssuer } from './bearer.ts'
import type { KeyUses } from './key-uses.ts'

/** The session cookie as a credential; null without one. See `oidc/session/session-authentication.ts`. */
interface SessionCookies {
  authenticate(
    cookieLines: readonly string[],
    browser: BrowserContext,
    cors: CorsPolicy | null,
    trace?: Trace,
  ): Principal | Refusal | Promise<Principal | Refusal> | null
  /**
   * The refusal of a change from a foreign page, as of `RequestAuthenticator`, if the request has no other
   * credential.
   */
  foreignChange(cookieLines: readonly string[], browser: BrowserContext): Refusal | null
}

export interface AuthenticatorOptions {
  readonly tenants: ReadonlyMap<string, TenantConfig>
  /** The tenant of tokens without `tenant_id`; null: they are refused. */
  readonly defaultTenant: string | null
  /** The current record of an API key. Rejects if the store can't be asked. */
  readonly apiKeyById: ApiKeyOptions['apiKeyById']
  /** The session of a token that names one. */
  readonly sessionById: RecordLookup<SessionRecord>
  /** Left out: sign-in is not configured. */
  readonly sessions?: SessionCookies | null
  /** Verifies bearer tokens of identity providers; left out: none are accepted. */
  readonly otherIssuer?: OtherIssuer | null
  /** ms since the epoch */
  readonly now: () => number
  readonly memory: MemoryBounds
  readonly lookups?: CacheLookups
  /** Notes the API keys that authenticate. */
  readonly keyUses?: KeyUses
}

export const missingCredential = new Refusal(
  'credentials_missing',
  'This route needs a credential: x-api-key, Authorization: Bearer, or a sign-in session.',
)
const ambiguousKey = new Refusal(
  'credentials_ambiguous',
  'The x-api-key header is sent more than once or holds several values.',
)
const ambiguousAuthorization = new Refusal(
  'credentials_ambiguous',
  'The Authorization header is sent more than once or holds several values.',
)

export class Authenticator {
  readonly #apiKeys: ApiKeys
  readonly #bearer: BearerTokens
  readonly #sessions: SessionCookies | null
  readonly #sessionById: RecordLookup<SessionRecord>
  readonly #tenants: AuthenticatorOptions['tenants']

  constructor(options: AuthenticatorOptions) {
    this.#sessions = options.sessions ?? null
    this.#sessionById = options.sessionById
    this.#tenants = options.tenants
    const { memory, lookups = new CacheLookups() } = options
    this.#apiKeys = new ApiKeys({ ...options, memory: memory.apiKeys, lookups: lookups.api_keys })
    this.#bearer = new BearerTokens({ ...options, memory: memory.tokens, lookups: lookups.tokens })
  }

  /**
   * The caller by the first credential. Synchronous if memory has the data. Rejects if the store can't be
   * asked.
   *
   * An ambiguous header is refused even if another credential decides: an upstream that reads the second
   * value would serve another caller than the one that was authorized. An Authorization header of another
   * scheme is ignored.
   *
   * @param cors the policy of the route: a session cookie counts from pages of its origins too
   * @param resource the audience that tokens of other issuers must have; left out: that of their issuer
   */
  authenticate(
    credentials: Credentials,
    trace?: Trace,
    browser: BrowserContext = NO_BROWSER,
    cors: CorsPolicy | null = null,
    resource?: string,
  ): Principal | Refusal | Promise<Principal | Refusal> {
    const { apiKey, authorization, cookie } = credentials
    if (isAmbiguous(apiKey)) return ambiguousKey
    if (isAmbiguous(authorization)) return ambiguousAuthorization
    const [key] = apiKey
    const [line] = authorization
    if (key !== undefined) return this.#apiKeys.authenticate(key, trace)
    const bearer = line === undefined ? null : this.#bearer.authenticate(line, browser.requestId, resource)
    if (bearer instanceof Promise) return bearer.then((caller) => this.#requireLiveSession(caller, trace))
    if (bearer !== null) return this.#requireLiveSession(bearer, trace)
    if (cookie.length === 0 || this.#sessions === null) return missingCredential
    return this.#sessions.authenticate(cookie, browser, cors, trace) ?? missingCredential
  }

  /**
   * A token that names a session (`sid`) counts only while that session has not ended, and no event has
   * voided the tokens up to it. Sessions are read from memory under the lease, as for cookies, so a request
   * costs one lookup. The expiry of the session is not checked: no token is minted beyond it, and its row is
   * kept for longer.
   */
  #requireLiveSession(caller: Caller, trace: Trace | undefined): Caller | Promise<Caller> {
    if (caller instanceof Refusal || caller.session === null) return caller
    const record = this.#sessionById(caller.tenant, caller.session, trace)
    return record instanceof Promise
      ? record.then((late) => this.#ofSession(caller, late))
      : this.#ofSession(caller, record)
  }

  #ofSession(caller: Principal, record: SessionRecord | null): Caller {
    if (record?.endedAt !== null) return (record?.revoked === true ? sessionRevoked : ended).of(caller)
    const { voidUntil } = record
    if (voidUntil === 0 || caller.claims.by === 'id') return caller
    // `issuedAt` of the claims is the token's `iat` minus the leeway, rounded down.
    const leeway = this.#tenants.get(caller.tenant)?.token.leeway ?? 0
    const cutoff = Math.floor(voidUntil / 1000)
    return caller.claims.issuedAt > Math.floor(cutoff - leeway / 1000)
      ? caller
      : tokenRevoked(cutoff).of(caller)
  }

  /** An ambiguous credential is refused by {@link authenticate}. */
  foreignChange({ apiKey, authorization, cookie }: Credentials, browser: BrowserContext): Refusal | null {
    const isByCookie = apiKey.length === 0 && !authorization.some(isBearer) && !isAmbiguous(authorization)
    return isByCookie ? (this.#sessions?.foreignChange(cookie, browser) ?? null) : null
  }
}

/** The context of no browser: a session cookie does not count. */
const NO_BROWSER: BrowserContext = { method: 'POST', rawHeaders: [], upgrade: true }

function isAmbiguous(lines: readonly string[]): boolean {
  return lines.length > 1 || (lines[0]?.includes(',') ?? false)
}

const ended = new Refusal('token_invalid', 'The session of the token has ended. Sign in again.')

type Caller = Principal | Refusal
