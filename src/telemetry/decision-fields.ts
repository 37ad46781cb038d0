/** The fields of the access log about a decision: its route, the caller and the Seats that it considered. */

import { detachedText } from '../lib/heap-size.ts'
import { type ConsideredSeat, type Decision, haveSameVerdicts } from '../model/decision.ts'
import type { Principal, SeatClaims } from '../model/principal.ts'
import { upstreamOf } from '../model/route.ts'
import { isSpaceHeader } from '../model/space-source.ts'
import { listed, quoted } from './json-text.ts'

/** The inputs of a text, besides the caller and the Seats. */
interface Repeated extends Pick<Decision, 'route' | 'permission' | 'space' | 'source'> {
  readonly target: string | null
  readonly text: string
}

/** The Seats and the caller of the last decision; and its text, once the next one repeats it. */
let lastSeats: readonly ConsideredSeat[] = []
let lastCaller: Principal | null = null
let repeated: Repeated | null = null

/**
 * The fields as JSON text, each with a comma before it. A caller may repeat one request thousands of times:
 * the text of the last decision is kept for it, or such a request takes a fifth more instructions.
 *
 * @param target of the upstream that got the request, or null
 * @param refusedCaller the fields of a caller that the credential names but does not authenticate
 */
export function decisionFields(decision: Decision, target: string | null, refusedCaller: string): string {
  const { principal, seats } = decision
  if (principal === null) return written(decision, target, refusedCaller)
  // Keeping a text costs more than writing it. A verified token has one principal, but each decision makes its
  // own array of Seats.
  if (principal !== lastCaller || !haveSameVerdicts(lastSeats, seats)) {
    lastSeats = seats
    lastCaller = principal
    repeated = null
    return written(decision, target, '')
  }
  if (repeated === null || !isSame(repeated, decision, target)) repeated = kept(decision, target)
  return repeated.text
}

function isSame(one: Repeated, { route, permission, space, source }: Decision, target: string | null) {
  return (
    one.route === route &&
    one.target === target &&
    one.permission === permission &&
    one.space === space &&
    one.source === source
  )
}

/** A slice of the request would retain the whole request with its credentials. A space id is ASCII. */
function kept(decision: Decision, target: string | null): Repeated {
  const { route, permission, space, source } = decision
  // V8 concatenates to a tree of pieces, which would be walked for each line.
  const text = Buffer.from(written(decision, target, '')).toString()
  return {
    route,
    permission,
    source,
    target,
    text,
    space: space === null ? null : detachedText(space),
  }
}

function written(decision: Decision, target: string | null, refusedCaller: string): string {
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
  // A group gives the Seat that has its name at the request.
  if (claims.by === 'membership') return ',"any_space":true'
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
  if (principal === null || space === null) return ''
  const { claims } = principal
  if (claims.by === 'id' || claims.by === 'membership') return ''
  const names = (claims.by === 'name' ? claims.entries.get(space) : claims.names) ?? []
  return listed(names, (name) => quoted(`${name}:named`))
}
