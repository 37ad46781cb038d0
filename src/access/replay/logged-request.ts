/** Reads the lines of the access log, which `telemetry/access-log.ts` writes. */

import { AUTH_METHODS, type AuthMethod, type SeatClaims } from '../../model/principal.ts'
import type { McpCall } from '../../model/mcp.ts'
import type { SpaceSource } from '../../model/space-source.ts'
import type { Reason } from './unjudged-reasons.ts'

export interface LoggedRequest {
  readonly method: string
  readonly path: string
  /** The host; null if the request named none, undefined in a line of an older version. */
  readonly host: string | null | undefined
  /** The decision: `allow` or a code of {@link DECISIONS}, whatever happened to the request later. */
  readonly code: string
  /** What it called of an MCP server; null: nothing. */
  readonly call: McpCall | null
  /** The requirement of the matching route; null if none matched. */
  readonly permission: string | null
  /** The space; null if the request named none, or if no credential was accepted. */
  readonly space: string | null
  /** The source of the space; null for the header Space. */
  readonly spaceBy: SpaceSource['kind'] | null
  /** The caller; null if no credential was read, or if it was refused. */
  readonly caller: LoggedCaller | null
}

export interface LoggedCaller {
  readonly tenant: string
  readonly user: string
  readonly method: AuthMethod
  readonly seats: NamedSeats
}

/** The Seats that the credential names for the space of the request. */
interface NamedSeats {
  /** How they are named; null in a line of an older version. */
  readonly by: SeatClaims['by'] | null
  /** The issue time of a token in seconds since the epoch; -Infinity if it is unknown; of groups Infinity. */
  readonly issuedAt: number
  /** The names; null if the line has only ids. */
  readonly names: readonly string[] | null
  readonly ids: readonly string[]
  /** Whether the credential names more Seats than these. */
  readonly truncated: boolean
}

/** The answers of the decision engine. */
const DECISIONS: ReadonlySet<unknown> = new Set([
  'allow',
  'request_malformed',
  'path_ambiguous',
  'uri_too_long',
  'route_not_found',
  'method_not_allowed',
  'credentials_missing',
  'credentials_ambiguous',
  'api_key_invalid',
  'api_key_expired',
  'api_key_revoked',
  'token_invalid',
  'token_expired',
  'token_revoked',
  'token_not_yet_valid',
  'caller_blocked',
  'tenant_mismatch',
  'space_required',
  'space_conflict',
  'no_seat_in_space',
  'permission_denied',
])

/** The codes of faults of upstreams, which get allowed requests only. Older versions wrote no `decision`. */
const FORWARDED: ReadonlySet<unknown> = new Set([
  'upstream_unreachable',
  'upstream_protocol_error',
  'upstream_timeout',
])

/** A token (RFC 9110, section 5.6.2) of as many characters as the gateway accepts. */
const METHOD = /^[\w!#$%&'*+.^`|~-]{1,64}$/

export function readLine(text: string): LoggedRequest | Reason {
  const line = requestLine(text)
  return typeof line === 'string' ? line : readRequest(line)
}

/** The line of a request. */
export interface RequestLine extends Readonly<Record<string, unknown>> {
  readonly request_id: string
}

/** Reads the line of a request. A question of AuthZEN counts as another line: no table answers it. */
export function requestLine(text: string): RequestLine | 'not_json' | 'other_line' {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    return 'not_json'
  }
  if (typeof line !== 'object' || line === null) return 'other_line'
  const { msg, request_id: id, asked_by: by } = line as RequestLine
  const isRequest = msg === 'request' && typeof id === 'string' && by !== 'authzen'
  return isRequest ? (line as RequestLine) : 'other_line'
}

/** The URIs of a subscription are not logged: the line of its method is decided alone. */
function callOfLine({
  mcp_method: method,
  mcp_name: name = null,
}: RequestLine): McpCall | null | 'malformed_line' {
  if (method === undefined) return null
  return typeof method === 'string' && isTextOrNull(name) ? { method, name, uris: [] } : 'malformed_line'
}

function readRequest(line: RequestLine): LoggedRequest | Reason {
  const { method, path, host, permission = null, space = null, space_by: spaceBy = null } = line
  if (line.preflight === true) return 'preflight'
  // Refused before a path was read.
  if (path === undefined || path === null) return 'not_decided'
  if (typeof path !== 'string' || typeof method !== 'string' || !METHOD.test(method)) return 'malformed_line'
  if (!isTextOrNull(permission) || !isTextOrNull(space)) return 'malformed_line'
  if ((host !== undefined && !isTextOrNull(host)) || !isSourceOrNull(spaceBy)) return 'malformed_line'
  const code = decisionOf(line, permission)
  if (code === null) return typeof line.code === 'string' ? 'not_decided' : 'malformed_line'
  // The line of a refused credential names its caller, who has no Seats.
  const caller = CREDENTIAL_REFUSED.test(code) ? null : callerOf(line)
  if (caller === 'malformed_line') return caller
  const needsCaller = permission !== null && permission !== 'public'
  if (caller === null && needsCaller && !WITHOUT_CALLER.test(code)) return 'malformed_line'
  const call = callOfLine(line)
  if (call === 'malformed_line') return call
  return { method, path, host, code, call, permission, space, spaceBy, caller }
}

const CREDENTIAL_REFUSED = /^(?:credentials|api_key|token)_/
/** The codes of a request without an accepted credential, or with a repeated Space. */
const WITHOUT_CALLER = /^(?:credentials|api_key|token)_|^request_malformed$/

/** The decision of a line; null if there is none. */
function decisionOf({ code, decision = code }: RequestLine, permission: string | null): string | null {
  if (FORWARDED.has(decision)) return 'allow'
  if (typeof decision !== 'string' || !DECISIONS.has(decision)) return null
  // Other codes are answers of a sign-in endpoint; older versions wrote no `decision` beside them.
  return permission === 'public' && decision !== 'request_malformed' ? 'allow' : decision
}

function callerOf(line: RequestLine): LoggedCaller | null | 'malformed_line' {
  const { tenant, user, auth } = line
  if (tenant === undefined && user === undefined) return null
  if (typeof tenant !== 'string' || typeof user !== 'string') return 'malformed_line'
  const seats = namedSeats(line)
  if (seats === null) return 'malformed_line'
  return { tenant, user, method: isAuthMethod(auth) ? auth : 'bearer', seats }
}

const METHODS: ReadonlySet<unknown> = new Set<AuthMethod>(AUTH_METHODS)

function isAuthMethod(value: unknown): value is AuthMethod {
  return METHODS.has(value)
}

const SOURCES: ReadonlySet<unknown> = new Set<SpaceSource['kind']>([
  'header',
  'param',
  'fixed',
  'query',
  'host_label',
])

function isSourceOrNull(value: unknown): value is SpaceSource['kind'] | null {
  return value === null || SOURCES.has(value)
}

function isTextOrNull(value: unknown): value is string | null {
  return typeof value === 'string' || value === null
}

interface List {
  readonly texts: readonly string[]
  readonly truncated: boolean
}

const NOTHING: List = Object.freeze({ texts: Object.freeze([]), truncated: false })
const TRUNCATED = /^\+\d+ more$/

/** The Seats of a line; null if a field is malformed. */
function namedSeats(fields: RequestLine): NamedSeats | null {
  const { seats, seat_ids: ids, issued_at: issuedAt } = fields
  const named = seats === undefined ? NOTHING : listOf(seats, nameOf)
  if (named === null) return null
  const names = named.texts
  if (ids !== undefined) {
    const listed = listOf(ids, (id) => id)
    if (listed === null) return null
    // No Seat is looked up on an `authenticated` route, so its name is unknown.
    const usable = names.length === listed.texts.length ? names : null
    return { by: 'id', issuedAt: 0, names: usable, ids: listed.texts, truncated: listed.truncated }
  }
  const { truncated } = named
  // The groups of a user are looked up, and so named, only if the decision depends on them.
  const isOfGroups = issuedAt === undefined && fields.any_space === true && seats !== undefined
  if (isOfGroups) return { by: 'any-space', issuedAt: Infinity, names, ids: [], truncated }
  if (issuedAt === undefined) return { by: null, issuedAt: 0, names, ids: [], truncated }
  if (issuedAt !== null && typeof issuedAt !== 'number') return null
  const by = fields.any_space === true ? 'any-space' : 'name'
  return { by, issuedAt: issuedAt ?? -Infinity, names, ids: [], truncated }
}

/** A list of the log. @param textOf returns null for a malformed element */
function listOf(value: unknown, textOf: (element: string) => string | null): List | null {
  if (!Array.isArray(value)) return null
  const texts: string[] = []
  for (const [at, element] of value.entries()) {
    if (typeof element !== 'string') return null
    if (at === value.length - 1 && TRUNCATED.test(element)) return { texts, truncated: true }
    const text = textOf(element)
    if (text === null) return null
    texts.push(text)
  }
  return { texts, truncated: false }
}

/** The name in `Name:verdict`. A name may have a colon, a verdict has none. */
function nameOf(element: string): string | null {
  const end = element.lastIndexOf(':')
  return end < 0 ? null : element.slice(0, end)
}
