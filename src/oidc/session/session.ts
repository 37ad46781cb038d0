/**
 * The session cookie: the third way to say who calls. Asked by authentication where a request has neither an API key
 * nor a bearer token. Decides from memory, as for API keys; only Seats that have become too old are fetched.
 */

import { readHashPerm } from '../../../seats-admin/model/hash-perm.ts'
import { Refusal } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import { cookieCounts } from '../sign-in/browser.ts'
import { cookieValues, SESSION_COOKIE } from './cookies.ts'
import { type CookieHandle, parseCookieText, sameHash } from './handle.ts'
import type { OidcTenant } from '../ports.ts'
import {
  sessionAmbiguous,
  sessionCrossSite,
  sessionEnded,
  sessionExpired,
  sessionUnknown,
} from './session-refusals.ts'
import type { SessionRecord } from '../../../seats-admin/index.ts'

/** What of a request the cookie's worth depends on. */
export interface SessionRequest {
  readonly method: string
  readonly rawHeaders: readonly string[]
  /** It asks for another protocol: a WebSocket. */
  readonly upgrade: boolean
}

export interface SessionOptions {
  readonly tenants: ReadonlyMap<string, OidcTenant>
  /** The session as it is now, from memory under the lease; rejects when the store can't be asked. */
  readonly sessionById: (tenant: string, id: string) => SessionRecord | null | Promise<SessionRecord | null>
  /** Maps its Seats afresh. */
  readonly renew: (tenant: string, id: string) => Promise<SessionRecord | Refusal>
  /** ms since the epoch */
  readonly now: () => number
}

/** Stands in for the hash of a session that doesn't exist. */
const NO_HASH = new Uint8Array(32)

export class Sessions {
  readonly #options: SessionOptions
  /** By tenant: what browsers call the gateway. */
  readonly #origins: ReadonlyMap<string, string>
  /** What a record of memory means to a decision: made once, gone with the record. */
  readonly #principals = new WeakMap<SessionRecord, Principal>()

  constructor(options: SessionOptions) {
    this.#options = options
    const tenants = [...options.tenants.values()]
    this.#origins = new Map(tenants.map(({ id, oidc }) => [id, new URL(oidc.redirectUri).origin]))
  }

  /** Null when there is no session cookie. @param cookieLines the values of all Cookie header lines */
  authenticate(
    cookieLines: readonly string[],
    ask: SessionRequest,
  ): Principal | Refusal | null | Promise<Principal | Refusal> {
    const [text, ...others] = cookieValues(cookieLines, SESSION_COOKIE)
    if (text === undefined) return null
    if (others.length > 0) return sessionAmbiguous
    const handle = parseCookieText(text)
    const origin = handle === null ? undefined : this.#origins.get(handle.tenant)
    if (handle === null || origin === undefined) return sessionUnknown
    if (!cookieCounts(ask, origin)) return sessionCrossSite
    const record = this.#options.sessionById(handle.tenant, handle.id)
    if (record instanceof Promise) return record.then((found) => this.#admit(handle, found))
    return this.#admit(handle, record)
  }

  /** Expiry before the end of it, as for API keys: one that is both has expired. */
  #admit(
    handle: CookieHandle,
    record: SessionRecord | null,
  ): Principal | Refusal | Promise<Principal | Refusal> {
    const same = sameHash(record?.cookieHash ?? NO_HASH, handle.hash)
    if (record === null || !same) return sessionUnknown
    const now = this.#options.now()
    if (!(now < record.expiresAt)) return sessionExpired
    if (record.endedAt !== null) return sessionEnded
    if (now < record.renewAt) return this.#principal(record)
    return this.#options
      .renew(record.tenant, record.id)
      .then((fresh) => (fresh instanceof Refusal ? fresh : this.#principal(fresh)))
  }

  #principal(record: SessionRecord): Principal {
    const known = this.#principals.get(record)
    if (known !== undefined) return known
    const { id, tenant, user, email } = record
    const leeway = this.#options.tenants.get(tenant)?.token.leeway ?? 0
    const issuedAt = Math.floor(record.issuedAt - leeway / 1000)
    const claims = { by: 'name' as const, entries: readHashPerm(record.hashPerm) ?? new Map(), issuedAt }
    const validUntil = Math.min(record.renewAt, record.expiresAt)
    const principal: Principal = Object.freeze({
      method: 'session',
      tenant,
      user,
      email,
      claims,
      session: id,
      validUntil,
    })
    this.#principals.set(record, principal)
    return principal
  }
}
