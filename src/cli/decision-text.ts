/** A decision as `seatgate explain` prints it: as text, and as the JSON of its whole record. */

import { decisionRecord, type SeatVia, type SignedIdentityOf, viaOf } from '../decision/decision-record.ts'
import type { ConsideredSeat, Decision, SeatVerdict } from '../model/decision.ts'
import { rateLimitText } from '../model/rate-limit.ts'
import { upstreamOf } from '../model/route.ts'
import { printable } from '../telemetry/readable.ts'
import { fold } from './screen.ts'

const VERDICTS: Readonly<Record<SeatVerdict, string>> = {
  grants: 'grants it',
  lacks_permission: 'lacks the permission',
  not_in_space: 'is not granted in this space (any more)',
  unknown: 'is not a Seat of the tenant',
  name_given_up: 'was given up after the token was issued',
}

/** A decision as text. @param isKnown false: the tenant has no such caller */
export function formatDecision(
  decision: Decision,
  identity: SignedIdentityOf | null,
  isKnown = true,
): string {
  const lines = [
    decision.code,
    fold(printable(decision.reason), '  '),
    ...[
      `  route       ${routeLine(decision)}`,
      `  permission  ${decision.permission ?? '-'}`,
      `  caller      ${callerLine(decision)}${isKnown ? '' : ', not known'}`,
      `  space       ${decision.space ?? '-'}`,
    ].map(printable),
  ]
  const limits = decision.route?.rateLimits ?? []
  if (limits.length > 0) lines.push(`  limits      ${limits.map(rateLimitText).join(', ')}`)
  if (identity !== null) lines.push(`  identity    JWT for ${identity.audience} in ${identity.header}`)
  for (const seat of decision.seats)
    lines.push(fold(printable(seatLine(seat, decision)), '  seat        ', INDENT))
  if (decision.grantedIn.length > 0)
    lines.push(fold(printable(decision.grantedIn.join(', ')), '  granted in  ', INDENT))
  return lines.join('\n')
}

/** @param seat of the decision of this process, or of the record of a gateway, which has `via` */
function seatLine(seat: ConsideredSeat & { readonly via?: SeatVia }, { principal }: Decision): string {
  const { name, verdict, via = viaOf(seat, principal?.claims.by ?? null) } = seat
  const said = `"${name}" ${VERDICTS[verdict]}`
  if (via === undefined) return said
  return 'group' in via ? `${said}, by a group` : `${said}, by grant ${via.grant} until ${via.until}`
}

/** The width of the labels. */
const INDENT = ' '.repeat(14)

function routeLine({ route, method, path }: Decision): string {
  if (route === null) return `none for ${method} ${path}`
  const place = route.place === null ? 'built in' : `${route.place.file}:${route.place.line}`
  return `${route.id} → ${upstreamOf(route)} (${place})`
}

function callerLine({ principal }: Decision): string {
  return principal === null ? '-' : `${principal.user} of ${principal.tenant} by ${principal.method}`
}

/** The record of a decision as JSON. @param more members after those of the record */
export function recordAsJson(decision: Decision, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify(decisionRecord(decision, more), null, 2)
}
