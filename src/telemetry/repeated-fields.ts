/**
 * Fields of the access log that are the same in many lines: those about a route, a caller, a connection and a host. Each piece
 * of a line costs more than its characters, so these are made once.
 *
 * What is kept never refers to the text of a request: a slice would retain the whole request with its credentials.
 */

import { detachedText } from '../lib/heap-size.ts'
import { RecentValues } from '../lib/recent-values.ts'
import type { Principal, SeatClaims } from '../model/principal.ts'
import { type Route, upstreamOf } from '../model/route.ts'
import { listed, quoted, quotedOrNull } from './json-text.ts'

const ofRoutes = new RecentValues<Route, string>()

export function routeFields(route: Route): string {
  let text = ofRoutes.get(route)
  if (text === undefined) {
    text = flat(`,"route":${quoted(route.id)},"upstream":${quoted(upstreamOf(route))}`)
    ofRoutes.set(route, text)
  }
  return text
}

const ofCallers = new RecentValues<Principal, string>()
/** Characters. Longer fields of callers are made for each line. */
const MAX_CALLER = 512

export function principalFields(principal: Principal): string {
  const known = ofCallers.get(principal)
  if (known !== undefined) return known
  const { tenant, user, method, claims } = principal
  const text = `,"tenant":${quoted(tenant)},"user":${quoted(user)},"auth":"${method}"${claimsFields(claims)}`
  if (text.length <= MAX_CALLER) ofCallers.set(principal, flat(text))
  return text
}

/** V8 concatenates to a tree of pieces, which would be walked for each line. @param text well-formed, as JSON text is */
function flat(text: string): string {
  return Buffer.from(text).toString()
}

/** What tells, beside the names, which Seats a credential means: a replay resolves them again. */
function claimsFields(claims: SeatClaims): string {
  if (claims.by === 'id') return `,"seat_ids":[${listed(claims.seats, quoted)}]`
  const { by, issuedAt } = claims
  const anySpace = by === 'any-space' ? ',"any_space":true' : ''
  return `,"issued_at":${Number.isFinite(issuedAt) ? issuedAt : 'null'}${anySpace}`
}

interface Sender {
  readonly peer: string | null
  readonly userAgent: string | null
  readonly text: string
}

/** Of the latest request of a connection. */
const ofConnections = new RecentValues<object, Sender>()
/** Bytes of a user agent: browsers and tools send less than 300. */
const MAX_USER_AGENT = 1024
/** Characters. Longer user agents are not kept. */
const MAX_KEPT = 256

/**
 * @param client as trusted proxies name it; behind one, a connection has many
 * @param peer of the connection
 */
export function senderFields(
  connection: object,
  client: string | null,
  peer: string | null,
  userAgent: string | null,
): string {
  if (client !== peer)
    return `"client":${quotedOrNull(client)},"peer":${quotedOrNull(peer)}${userAgentField(userAgent)}`
  const known = ofConnections.get(connection)
  if (known !== undefined && known.userAgent === userAgent && known.peer === peer) return known.text
  const address = quotedOrNull(peer)
  const text = `"client":${address},"peer":${address}${userAgentField(userAgent)}`
  if (userAgent === null || userAgent.length <= MAX_KEPT) {
    const own = userAgent === null ? null : detachedText(userAgent)
    ofConnections.set(connection, { peer, userAgent: own, text: detachedText(text) })
  }
  return text
}

export function userAgentField(userAgent: string | null): string {
  return userAgent === null ? '' : `,"user_agent":${quoted(userAgent.slice(0, MAX_USER_AGENT))}`
}

/** Characters: longer ones are no host names. */
const MAX_HOST = 255
/** The latest host: most gateways serve a few. */
const latestHost = { host: '', text: '""' }

/** The value of the field: in lower case and without port, as tables name hosts. */
export function hostText(host: string | null): string {
  if (host === null) return 'null'
  if (host === latestHost.host) return latestHost.text
  const text = quoted(nameOf(host))
  if (host.length <= MAX_HOST) {
    latestHost.host = detachedText(host)
    latestHost.text = detachedText(text)
  }
  return text
}

function nameOf(host: string): string {
  const colon = host.lastIndexOf(':')
  const end = colon > host.lastIndexOf(']') ? colon : host.length
  return host.slice(0, Math.min(end, MAX_HOST)).toLowerCase()
}
