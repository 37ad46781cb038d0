/** What revocations need of the gateway. */

import type { Committed } from '../model/change.ts'
import type { ReachedInstance, RevocationSubject } from '../model/revocation.ts'

/**
 * - `closed`: no instance decides otherwise, and each has said what it cut
 * - `partial`: an instance did not say so
 */
export const REVOCATION_STATES = ['closed', 'partial'] as const

export type RevocationState = (typeof REVOCATION_STATES)[number]

/** What a gateway cannot reach. */
export const UNREACHED = ['signed_identity', 'decision_listener', 'forwarded_authorization'] as const

export interface Unreached {
  readonly what: (typeof UNREACHED)[number]
  /** Milliseconds after which it is over; absent: that is not known. */
  readonly lasts?: number
}

export interface Revoking {
  /**
   * Resolves with all instances, this one first, when each decides by the revocation and has said what it
   * cut, or two seconds after the commit. Never rejects.
   */
  revoke(committed: Committed): Promise<readonly ReachedInstance[]>
  /** The URLs of the other issuers whose tokens the tenant accepts. */
  issuers(tenant: string): readonly string[]
  unreached(tenant: string, subject: RevocationSubject): readonly Unreached[]
  /** Makes a receipt of its claims but `iss`; null: the gateway signs no identity. */
  readonly sign: ((claims: Readonly<Record<string, unknown>>) => string) | null
  /** Counts an answer. */
  answered(state: RevocationState): void
}
