/** The decision record as JSON, for `seatgate explain --json` and `POST /v1/access/explain`. */

import type { IdentityConfig } from '../config/config.ts'
import type { ConsideredSeat, Decision } from '../model/decision.ts'
import type { SeatClaims } from '../model/principal.ts'

/** The JWT that the upstream gets with the request. */
export interface SignedIdentityOf {
  /** The request header. */
  readonly header: string
  /** The claim `aud`. */
  readonly audience: string
}

/**
 * The JWT of the request. Null: the request is not forwarded, or carries no JWT.
 *
 * @param identity null: identity is not signed
 */
export function signedIdentityOf(
  identity: Pick<IdentityConfig, 'header'> | null,
  { answer, principal, permission, route }: Decision,
): SignedIdentityOf | null {
  if (identity === null || answer !== 'allow' || route?.target.kind !== 'upstream') return null
  if (principal === null || permission === 'public') return null
  return { header: identity.header, audience: route.target.name }
}

/**
 * The whole decision record as plain data. Maps become objects, Sets arrays, Infinity (no limit)
 * `"unlimited"`, and a time of issue that is infinite, as there is none, null.
 *
 * @param more members that follow those of the record; undefined ones are left out
 */
export function decisionRecord(
  decision: Decision,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const by = decision.principal?.claims.by ?? null
  const seats = decision.seats.map((each) => ({ ...each, grant: undefined, via: viaOf(each, by) }))
  return JSON.parse(JSON.stringify({ ...decision, seats, ...more }, plain))
}

/** What gives a caller a Seat, if the credential does not name it: a group, or a grant with its end. */
export type SeatVia = { readonly group: string } | { readonly grant: string; readonly until: string }

/**
 * @param by how the caller names Seats
 * @returns undefined: the credential names the Seat
 */
export function viaOf({ name, grant }: ConsideredSeat, by: SeatClaims['by'] | null): SeatVia | undefined {
  if (grant !== undefined) return { grant: grant.id, until: new Date(grant.until).toISOString() }
  return by === 'membership' ? { group: name } : undefined
}

function plain(key: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value)
  if (value instanceof Set) return [...value]
  if (key === 'issuedAt' && !Number.isFinite(value)) return null
  return value === Infinity ? 'unlimited' : value
}
