/** The claims of a signed identity but for its times and its id: what one decision says about its caller. */

import type { ConsideredSeat, Decision } from '../model/decision.ts'
import { needsPermission } from '../model/route.ts'

/** The parts of a decision that claims are made of. */
export type Identified = Pick<Decision, 'principal' | 'space' | 'permission' | 'seats'>

/**
 * As JSON. Equal texts mean that the decisions say the same of the same caller for the same upstream, and no others have
 * equal texts.
 *
 * @param audience the name of the upstream
 * @returns null for a public route, which tells nothing of its caller
 */
export function claimsText(issuer: string, audience: string, decision: Identified): string | null {
  const { principal, space, permission, seats } = decision
  if (principal === null || permission === null || permission === 'public') return null
  const caller = {
    iss: issuer,
    aud: audience,
    sub: principal.user,
    // Left out where there is none.
    email: principal.email ?? undefined,
    tenant: principal.tenant,
    auth: principal.method,
  }
  // An `authenticated` route needs no space, and the one that the request names is not verified.
  if (space === null || !needsPermission(permission)) return JSON.stringify(caller)
  const names = seats.filter(({ verdict }) => verdict === 'grants').map(nameOf)
  const shown = firstOf(names)
  return JSON.stringify({ ...caller, space, permission, seats: shown, seats_count: names.length })
}

function nameOf({ name }: ConsideredSeat): string {
  return name
}

/** Bytes of names as JSON: servers take 8 KiB of header section. A name has 1.5 KiB at most. */
const MOST_NAMES = 2048

/** The first that granted, as many as there is room for. */
function firstOf(names: readonly string[]): readonly string[] {
  if (names.length === 1) return names
  let bytes = 0
  const end = names.findIndex((name) => {
    bytes += Buffer.byteLength(JSON.stringify(name)) + 1
    return bytes > MOST_NAMES
  })
  return end < 0 ? names : names.slice(0, end)
}
