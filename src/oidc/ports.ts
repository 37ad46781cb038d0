/**
 * All that sign-in needs of the rest of the gateway, which the composition root gives it, and the configuration that it
 * is written against. Types only.
 */

import type { TokenConfig } from '../config/config.ts'
import type { SessionChanged, SessionStore } from './session-store.ts'

/** A tenant's identity provider. Times in ms. */
export interface OidcConfig {
  /** Exactly as the provider writes it: compared as text. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | null
  /** Null: by what discovery says. */
  readonly clientAuth: ClientAuth | null
  readonly scopes: readonly string[]
  /** A claim's name, or a path through objects: `realm_access.roles`. */
  readonly seatsClaim: string
  /** An absolute URL without query and fragment; its origin is the gateway's own, as browsers see it. */
  readonly redirectUri: string
  /** Plain http, to loopback addresses only. */
  readonly allowInsecure: boolean
  /** Tokens signed by the provider are accepted as bearer tokens. */
  readonly acceptProviderTokens: boolean
  /** Accepted in `aud` of such tokens, beside the client id. */
  readonly audience: readonly string[]
  /** Where the provider sends the browser after signing out. */
  readonly postLogoutRedirect: string | null
  readonly sessionLifetime: number
}

export type ClientAuth = 'client_secret_basic' | 'client_secret_post' | 'none'

/** A tenant that signs in through a provider. */
export interface OidcTenant {
  readonly id: string
  readonly oidc: OidcConfig
  readonly token: TokenConfig
}

/** Short-lived values that are used once: sign-ins under way. */
export interface Ephemeral {
  /** Replaces. Rejects when it can't be kept. */
  put(key: string, value: string, ttlMs: number): Promise<void>
  /** Gets and deletes in one step: of any number of takers, everywhere, one gets the value. Null: none, or too old. */
  take(key: string): Promise<string | null>
}

/** A Seat as sign-in sees it. */
export interface SeatOfName {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
}

export interface SeatDirectory {
  /** Those that exist now. Rejects when the store can't be asked. */
  seatsByName(tenant: string, names: readonly string[]): Promise<readonly SeatOfName[]>
  /** These Seats, and no others, are the user's latest sign-in's. */
  recordMember(tenant: string, user: string, seatIds: readonly string[]): Promise<void>
}

/** Whom a token of the gateway is about; see `TokenSubject` of `src/authn/token.ts`. */
export interface MintSubject {
  readonly sub: string
  readonly email?: string
  readonly name?: string
  readonly hashPerm: readonly string[]
  readonly isSso: boolean
}

/** Makes the gateway's own token. Throws a RangeError when it would be too long to be sent. @param now ms */
export type Mint = (tenant: string, subject: MintSubject, now: number) => Promise<string>

/** The log, as far as sign-in writes to it. Fields never hold a credential. */
export interface OidcLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

/** The parts that sign-in is made of, from outside. */
export interface OidcPorts {
  readonly ephemeral: Ephemeral
  readonly sessions: SessionStore
  readonly seats: SeatDirectory
  readonly mint: Mint
  /** Resolves when no instance decides by what a session was before. */
  readonly announce: (committed: SessionChanged) => Promise<void>
  readonly log: OidcLog
  /** Wall clock, ms since the epoch. */
  readonly now: () => number
}

/** A request to one of the endpoints. */
export interface SignInRequest {
  readonly method: string
  /** As matched: `/auth/oidc/callback`. */
  readonly path: string
  /** Without the `?`. */
  readonly query: string
  /** Name, value, name, value, … as received. */
  readonly rawHeaders: readonly string[]
  /** Null: none. */
  readonly body: Uint8Array | null
}

export interface SignInReply {
  readonly status: number
  /** Name, value, …; beside Content-Type, Content-Length and Cache-Control, which the caller writes. */
  readonly headers: readonly string[]
  /** Sent as JSON; undefined: no body. */
  readonly body?: unknown
}
