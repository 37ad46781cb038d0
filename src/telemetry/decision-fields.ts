/** The fields of the access log about a decision: its route, the caller and the Seats that it considered. */

import type { Decision } from '../model/decision.ts'
import type { Principal, SeatClaims } from '../model/principal.ts'
import { upstreamOf } from '../model/route.ts'
import { isSpaceHeader } from '../model/space-source.ts'
import { listed, quoted } from './json-text.ts'

/**
 * The fields as JSON text, each with a comma before it.
 *
 * @param target of the upstream that got the request, or null
 * @param refusedCaller the fields of a caller that the credential names, if it does not authenticate the
 *   caller
 */
export function decisionFields(decision: Decision, target: string | null, refusedCaller: string): string {
  const { route, permission, principal, space, source } = decision
  let text = route === null ? '' : `,"route":${quoted(route.id)},"upstream":${quoted(upstreamOf(route))}`
  if (target !== null) text += `,"target":"${target}"`
  if (permission !== null) text += `,"permission":${quoted(permission)}`
  text += principal === null ? refusedCaller : principalFields(principal)
  if (space !== null) text += `,"space":${quoted(space)}`
  if (route !== null && !isSpaceHeader(route.space)) text += `,"space_by":"${route.space.kind}"`
  if (source !== null) text += `,"source":"${source}"`
  const seats = seatTexts(decision)
  return seats === '' ? text : `${text},"seats":[${seats}]`
}

function principalFields({ tenant, user, method, claims }: Principal): string {
  return `,"tenant":${quoted(tenant)},"user":${quoted(user)},"auth":"${method}"${claimsFields(claims)}`
}

/** What selects the Seats of a credential, apart from their names: a replay resolves them again. */
function claimsFields(claims: SeatClaims): string {
  if (claims.by === 'id') return `,"seat_ids":[${listed(claims.seats, quoted)}]`
  const { by, issuedAt } = claims
  const anySpace = by === 'any-space' ? ',"any_space":true' : ''
  return `,"issued_at":${Number.isFinite(issuedAt) ? issuedAt : 'null'}${anySpace}`
}

/**
 * If no Seat was looked up, these are the names in the credential: on an `authenticated` route, and in an
 * early refusal.
 */
function seatTexts({ seats, principal, space }: Decision): string {
  if (seats.length > 0) return listed(seats, ({ name, verdict }) => quoted(`${name}:${verdict}`))
  if (principal === null || space === null || principal.claims.by === 'id') return ''
  const { claims } = principal
  const names = (claims.by === 'name' ? claims.entries.get(space) : claims.names) ?? []
  return listed(names, (name) => quoted(`${name}:named`))
}
