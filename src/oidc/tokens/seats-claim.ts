/** Reads Seat names from the configured claim. `seat-mapping.ts` looks the names up. */

import { isJsonObject } from '../../lib/json.ts'
import type { Claims } from './compact-jws.ts'

export interface SeatsClaim {
  /** Distinct names in order; null when the claim is absent, so that userinfo may have it. */
  readonly names: readonly string[] | null
  /** The claim is not a string, an array of strings or null. `names` is empty then. */
  readonly malformed: boolean
}

const ABSENT: SeatsClaim = Object.freeze({ names: null, malformed: false })
const MALFORMED: SeatsClaim = Object.freeze({ names: [], malformed: true })

/**
 * @param path the name of a claim, which may contain dots (`https://acme.example/roles`); otherwise a path through nested
 *   objects (`realm_access.roles`)
 */
export function readSeatsClaim(claims: Claims, path: string): SeatsClaim {
  const value = claimAt(claims, path)
  if (value === undefined) return ABSENT
  if (value === null) return { names: [], malformed: false }
  if (typeof value === 'string') return { names: [value], malformed: false }
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return MALFORMED
  return { names: [...new Set<string>(value)], malformed: false }
}

/** @param path as for `readSeatsClaim` @returns undefined when the claim is absent */
export function claimAt(claims: Claims, path: string): unknown {
  return Object.hasOwn(claims, path) ? claims[path] : follow(claims, path.split('.'))
}

/** Own members only, so that `constructor` is not found on the prototype. */
function follow(claims: Claims, path: readonly string[]): unknown {
  let at: unknown = claims
  for (const name of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return at
}

/**
 * Whether the claim is a distributed claim (OpenID Connect Core 1.0, section 5.6.2), as Entra ID sends for many groups.
 * The gateway does not fetch those.
 */
export function isDistributed(claims: Claims, path: string): boolean {
  const { _claim_names: names } = claims
  return isJsonObject(names) && Object.hasOwn(names, path)
}
