/** The claim that names Seats: claims → names. Pure. What the names mean is looked up by `seat-mapping.ts`. */

import { isJsonObject } from '../../lib/json.ts'
import type { Claims } from './compact-jws.ts'

export interface SeatsClaim {
  /** Distinct, in order; null when the claim is not there at all, and may be asked for elsewhere (userinfo). */
  readonly names: readonly string[] | null
  /** For the log: the claim has another form than a text, an array of texts or null. It names no Seat then. */
  readonly malformed: boolean
}

const ABSENT: SeatsClaim = Object.freeze({ names: null, malformed: false })
const MALFORMED: SeatsClaim = Object.freeze({ names: [], malformed: true })

/**
 * @param path a claim of that very name first, since names may have dots (`https://acme.example/roles`); else members
 *   of objects in each other (`realm_access.roles`)
 */
export function readSeatsClaim(claims: Claims, path: string): SeatsClaim {
  const value = claimAt(claims, path)
  if (value === undefined) return ABSENT
  if (value === null) return { names: [], malformed: false }
  if (typeof value === 'string') return { names: [value], malformed: false }
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return MALFORMED
  return { names: [...new Set<string>(value)], malformed: false }
}

/** Undefined when it is not there. @param path as for `readSeatsClaim` */
export function claimAt(claims: Claims, path: string): unknown {
  return Object.hasOwn(claims, path) ? claims[path] : follow(claims, path.split('.'))
}

/** Own members only: no claim is called `constructor` unless the provider says so. */
function follow(claims: Claims, path: readonly string[]): unknown {
  let at: unknown = claims
  for (const name of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return at
}

/**
 * Entra ID leaves a claim of many groups out, and says so: the groups are to be fetched elsewhere (OpenID Connect
 * Core 1.0, section 5.6.2), which the gateway does not do.
 */
export function isDistributed(claims: Claims, path: string): boolean {
  const { _claim_names: names } = claims
  return isJsonObject(names) && Object.hasOwn(names, path)
}
