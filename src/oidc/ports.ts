/** The interfaces that sign-in requires from the rest of the gateway. Types only. */

import type { OidcConfig, TenantConfig } from '../config/config.ts'
import type { Refusal } from '../model/errors.ts'
import type { Groups } from '../model/membership.ts'
import type { TokenSubject } from '../model/principal.ts'
import type { PublicResponse } from '../model/route.ts'
import type {
  Committed,
  RevocationStore,
  SessionStore,
  Store,
  Writer,
  Written,
} from '../../seats-admin/index.ts'
import type { Revocation } from '../../seats-admin/model/revocation.ts'
import type { SpacesReading } from '../../seats-admin/model/readings.ts'
import type { ScimRefusal } from '../../seats-admin/model/scim.ts'
import type { SignedInIdentity } from '../../seats-admin/model/user.ts'

/** A tenant with an identity provider. */
export type OidcTenant = Pick<TenantConfig, 'id' | 'adminSpace' | 'token' | 'scim' | 'seatsFrom'> & {
  readonly oidc: OidcConfig
}

/** Records completed sign-ins, so that each completes once. Pending sign-ins are not recorded. */
export interface Ephemeral {
  /**
   * Identifies the record: 8 characters of base64url. The epoch changes when ids may have been lost; a
   * sign-in is valid only in the epoch in which it started. Rejects if the record is unavailable.
   */
  epoch(): Promise<string>
  /**
   * Of all calls for one id, on all instances, exactly one resolves with true. False also when the epoch has
   * changed. Rejects if the record is unavailable or full.
   */
  use(tenant: string, epoch: string, id: string, ttlMs: number): Promise<boolean>
}

export interface SeatDirectory {
  /** The existing Seats of these names. Rejects if the store is unavailable. */
  seatsByName(tenant: string, names: readonly string[]): Promise<readonly SpacesReading[]>
  /**
   * The groups of a user by SCIM: `DEACTIVATED` if the user is not active; null: SCIM has no such user.
   * Rejects if the store is unavailable.
   *
   * @param member the id of the membership
   */
  groupsOf(tenant: string, member: string): Promise<Groups | null>
  /** As `ScimStore.recordScimMember`. */
  recordScimMember(writer: Writer, sub: string, key: string): Promise<Committed | null | ScimRefusal>
  /** Records the user, and the Seats of this sign-in or refresh in place of earlier ones. */
  recordSignIn(tenant: string, user: SignedInIdentity, seatIds: readonly string[]): Promise<void>
}

/** The log. Fields never contain a credential. */
export interface OidcLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

/** What signals of providers need of the store and of the fleet. */
export interface SignalPorts
  extends
    Pick<Store, 'usersByEmail' | 'isKnownUser' | 'usersOfScimId' | 'liftBlock'>,
    Pick<RevocationStore, 'revokeForProvider'> {
  /**
   * Waits until no instance decides otherwise, and stores the answer. Rejects if the store is unavailable.
   *
   * @returns the id of the revocation, and whether each instance has cut what was open
   */
  answer(written: Written<Revocation>): Promise<{ readonly id: string; readonly state: 'closed' | 'partial' }>
}

/** The dependencies of sign-in. */
export interface OidcPorts {
  readonly ephemeral: Ephemeral
  readonly sessions: SessionStore
  readonly seats: SeatDirectory
  readonly signals: SignalPorts
  /** Whether the user is blocked, as it is now. */
  readonly isBlocked: (tenant: string, sub: string) => boolean | Promise<boolean>
  /**
   * Signs a gateway token. Rejects with a RangeError when the token would be too long.
   *
   * @param now ms since the epoch
   * @param lifetime ms
   */
  mint(
    tenant: string,
    subject: TokenSubject & { readonly sid: string },
    now: number,
    lifetime: number,
  ): Promise<string>
  /**
   * Resolves when no instance decides by the old state of the session; without changes, by a state before the
   * commit.
   */
  readonly announce: (committed: Committed) => Promise<void>
  readonly log: OidcLog
  /** Wall clock, ms since the epoch. */
  readonly now: () => number
}

export type Reply = PublicResponse | Refusal
