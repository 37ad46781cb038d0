/**
 * All that sign-in needs of the rest of the gateway, which the composition root gives it. Types only.
 */

import type { OidcConfig, TokenConfig } from '../config/config.ts'
import type { SessionChanged, SessionStore } from '../../seats-admin/index.ts'

/** A tenant that signs in through a provider. */
export interface OidcTenant {
  readonly id: string
  readonly oidc: OidcConfig
  readonly token: TokenConfig
}

/** Remembers which sign-ins were finished, so that each is finished once. A sign-in that is only begun is in no memory. */
export interface Ephemeral {
  /**
   * Names the memory: 8 characters of base64url, others as soon as ids may have been forgotten. A sign-in counts only in
   * the epoch in which it was begun. Rejects when the memory can't be asked.
   */
  epoch(): Promise<string>
  /**
   * Of any number of calls for one id, everywhere, one resolves with true. False also when the epoch is over. Rejects
   * when the memory can't be asked, or is full.
   */
  use(tenant: string, epoch: string, id: string, ttlMs: number): Promise<boolean>
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

/** Whom a token of the gateway is about; see `TokenSubject` of `src/decision/authn/token.ts`. */
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

export interface SignInResponse {
  readonly status: number
  /** Name, value, …; beside Content-Type, Content-Length and Cache-Control, which the caller writes. */
  readonly headers: readonly string[]
  /** Sent as JSON; undefined: no body. */
  readonly body?: unknown
}
