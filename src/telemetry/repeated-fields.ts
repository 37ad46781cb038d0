/**
 * Fields of the access log that are the same in many lines: those about a route, a caller and its latest request, a connection
 * and a host. Each piece of a line costs more than its characters, so these are made once.
 *
 * What is kept never refers to the text of a request: a slice would retain the whole request with its credentials.
 */

import { detachedText } from '../lib/heap-size.ts'
import { RecentValues } from '../lib/recent-values.ts'
import { type ConsideredSeat, type Decision, haveSameVerdicts, type Source } from '../model/decision.ts'
import type { Principal, SeatClaims } from '../model/principal.ts'
import { type Route, upstreamOf } from '../model/route.ts'
import { isSpaceHeader } from '../model/space-source.ts'
import { listed, quoted, quotedOrNull } from './json-text.ts'

const ofRoutes = new RecentValues<Route, string>()

function routeFields(route: Route): string {
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

/** The latest request of a caller. */
interface LatestRequest {
  route: Route
  target: string | null
  permission: Decision['permission']
  space: string | null
  source: Source | null
  seats: readonly ConsideredSeat[]
  /** Null until the caller repeats it. */
  text: string | null
}

const ofRequests = new RecentValues<Principal, LatestRequest>()
/** Characters. Longer texts are made for each line. */
const MAX_REQUEST = 1024
/** What is kept of a caller's Seats lives as long as its principal, whose size has room for them (`lib/heap-size.ts`). */
const MAX_SEATS = 16

/**
 * The fields about the route, its target, the caller and its Seats. The text is kept once the caller repeats a request: for
 * requests that differ each time, keeping it would cost more than it saves.
 *
 * @param target of the request @param refusedCaller fields of a caller that is known without being authenticated
 */
export function decisionFields(decision: Decision, target: string | null, refusedCaller: string): string {
  const { route, principal, seats } = decision
  if (route === null || principal === null || seats.length > MAX_SEATS)
    return written(decision, target, refusedCaller)
  const latest = ofRequests.get(principal)
  if (latest === undefined || !isRepeated(latest, decision, target)) {
    keep(latest, decision, route, principal, target)
    return written(decision, target, '')
  }
  if (latest.text !== null) return latest.text
  const text = written(decision, target, '')
  if (text.length <= MAX_REQUEST) latest.text = flat(text)
  return text
}

function isRepeated(latest: LatestRequest, decision: Decision, target: string | null): boolean {
  return (
    latest.route === decision.route &&
    latest.target === target &&
    latest.permission === decision.permission &&
    latest.space === decision.space &&
    latest.source === decision.source &&
    haveSameVerdicts(latest.seats, decision.seats)
  )
}

function keep(
  latest: LatestRequest | undefined,
  { permission, space, source, seats }: Decision,
  route: Route,
  principal: Principal,
  target: string | null,
): void {
  if (latest === undefined) {
    const own = space === null ? null : detachedText(space)
    ofRequests.set(principal, { route, target, permission, space: own, source, seats, text: null })
    return
  }
  latest.route = route
  latest.target = target
  latest.permission = permission
  // A space id is ASCII.
  if (latest.space !== space) latest.space = space === null ? null : detachedText(space)
  latest.source = source
  latest.seats = seats
  latest.text = null
}

function written(decision: Decision, target: string | null, refusedCaller: string): string {
  const { route, permission, principal, space, source } = decision
  let text = route === null ? '' : routeFields(route)
  if (target !== null) text += `,"target":"${target}"`
  if (permission !== null) text += `,"permission":${quoted(permission)}`
  text += principal === null ? refusedCaller : principalFields(principal)
  if (space !== null) text += `,"space":${quoted(space)}`
  if (route !== null && !isSpaceHeader(route.space)) text += `,"space_by":"${route.space.kind}"`
  if (source !== null) text += `,"source":"${source}"`
  const seats = seatsOf(decision)
  return seats === '' ? text : `${text},"seats":[${seats}]`
}

/** Where no Seat was looked up, the names are those of the credential: on an `authenticated` route, and in a refusal before that. */
function seatsOf({ seats, principal, space }: Decision): string {
  if (seats.length > 0) return listed(seats, ({ name, verdict }) => quoted(`${name}:${verdict}`))
  if (principal === null || space === null || principal.claims.by === 'id') return ''
  const { claims } = principal
  const names = (claims.by === 'name' ? claims.entries.get(space) : claims.names) ?? []
  return listed(names, (name) => quoted(`${name}:named`))
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
