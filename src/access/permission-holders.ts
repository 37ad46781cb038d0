/** The Seats that grant a permission, and the API keys and users that hold one of them. */

import {
  type AdminStore,
  type ApiKey,
  areBlocked,
  heldGrantView,
  type RestrictionReader,
  type Grant,
  type ListedSeat,
  type Page,
  type Scope,
  seatsHeld,
  type User,
} from '../../seats-admin/index.ts'
import { EVERY_PERMISSION } from '../../seats-admin/model/permission.ts'
import { ambiguousHost, spaceOf } from '../decision/authn/request-space.ts'
import { readTarget, type RequestTarget } from '../decision/router/path.ts'
import type { Match } from '../decision/router/table.ts'
import { Refusal } from '../model/errors.ts'
import { canonicalHost } from '../model/host.ts'
import { needsPermission, type Requirement, type Route, takesTenant } from '../model/route.ts'
import type { GrantedKeyView, GrantedUserView, GrantingSeatView } from './answers.ts'
import { type RequestQuestion, requestOfQuestion } from './mcp-questions.ts'
import { madeUpRequest } from './offline-engine.ts'
import { answeringEntry, type Tables } from './tables.ts'

/** The lists of a store, or of a file with Seats, in which no API key and no user is known. */
export type Holders = Pick<AdminStore, 'listSeats' | 'listApiKeys' | 'listUsers'> & RestrictionReader

/** A question about one request, or one permission. */
export interface HoldersQuery {
  readonly method: string | null
  /** The normalised path, without the query. */
  readonly path: string | null
  /** The canonical host; null if the request names none. */
  readonly host: string | null
  /** The entry that answers the request; null if none does, or if the question is about a permission. */
  readonly route: Route | null
  /** The requirement; null if no entry answers. */
  readonly permission: Requirement | null
  /** The space; null: each space. If the request itself determines its space, that one. */
  readonly space: string | null
}

/** One holder, in the order of an answer: Seats, API keys, users. */
export type Holder =
  | { readonly kind: 'seat'; readonly view: GrantingSeatView }
  | { readonly kind: 'api-key'; readonly view: GrantedKeyView }
  | { readonly kind: 'user'; readonly view: GrantedUserView }

interface RequestDescription {
  readonly method: string
  /** The path, with or without a query. */
  readonly path: string
  /** The host as a request has it; null if it names none. */
  readonly host: string | null
  /** The space; null: each space. */
  readonly space: string | null
}

/** The question for a request. @returns a refusal if the gateway refuses every such request */
export function queryOfRequest(tables: Tables, request: RequestDescription): HoldersQuery | Refusal {
  const { space } = request
  const httpRequest = requestOfQuestion(tables.table, { ...request, target: request.path })
  if (httpRequest instanceof Refusal) return httpRequest
  const { method, call } = httpRequest
  const read = readTarget(httpRequest.target, null, Infinity)
  if (read instanceof Refusal) return read
  const host = httpRequest.host === null ? null : canonicalHost(httpRequest.host)
  if (host === null && httpRequest.host !== null) return ambiguousHost
  const match = answeringEntry(tables, method, read, host, call)
  // Of a call, the question itself.
  const shown =
    call === undefined ? { method, path: read.path } : { method: request.method, path: request.path }
  const question = { ...shown, host, route: match?.route ?? null }
  if (match === null) return { ...question, permission: null, space }
  const permission = match.route.requirement
  const where = needsPermission(permission) ? spaceAt(match, read, { ...httpRequest, space }) : space
  return where instanceof Refusal ? where : { ...question, permission, space: where }
}

/** The space of a request; null: each space. The `space` of the question replaces a header or a query. */
function spaceAt(
  { route, params }: Match,
  { query }: RequestTarget,
  { space, ...httpRequest }: RequestQuestion & Pick<RequestDescription, 'space'>,
): string | null | Refusal {
  const lines = space === null ? [] : [space]
  const request = madeUpRequest(httpRequest, lines)
  const read = spaceOf(request, route.space, { params, query, authority: httpRequest.host })
  const isOpen = route.space.kind === 'header' || route.space.kind === 'query'
  return isOpen && read instanceof Refusal && read.code === 'space_required' ? space : read
}

export function queryOfPermission(permission: string, space: string | null): HoldersQuery {
  return { method: null, path: null, host: null, route: null, permission, space }
}

/**
 * The parts of every answer that do not depend on Seats.
 *
 * @param exact whether the users of the answer are those who have such Seats now
 */
export function queryView(
  { method, path, host, route, permission, space }: HoldersQuery,
  tenant: string,
  exact: boolean,
) {
  const named = host === null ? {} : { host }
  return { method, path, ...named, route: route?.id ?? null, permission, tenant, space, exact }
}

/** Whether the route takes callers of the tenant. */
export function isForTenant({ route }: HoldersQuery, tenant: string): boolean {
  return route === null || takesTenant(route, tenant)
}

/** The last item of a page. */
export interface Position {
  readonly kind: Holder['kind']
  /** The id, or the `sub` of a user. */
  readonly id: string
}

const ORDER: readonly Holder['kind'][] = ['seat', 'api-key', 'user']

interface HoldersPage {
  readonly limit: number
  /** The position before the page; null: from the beginning. */
  readonly after: Position | null
  readonly scope: Scope
  /** The time in ms since the epoch; expired API keys are left out. */
  readonly now: number
}

/** A page of holders: Seats and API keys in order of creation, then users by `sub`. */
export async function holdersPage(
  lists: Holders,
  tenant: string,
  question: HoldersQuery,
  { limit, after, scope, now }: HoldersPage,
): Promise<{ holders: Holder[]; hasMore: boolean }> {
  const holders: Holder[] = []
  const { permission } = question
  // Seats do not decide if no entry answers, if no Seat is needed, or if callers of the tenant are refused.
  if (permission === null || !needsPermission(permission) || !isForTenant(question, tenant))
    return { holders, hasMore: false }
  // Outside the admin space the answer is about the caller's own space: the other spaces of a Seat are
  // hidden.
  const space = scope.admin ? question.space : scope.space
  if (question.space !== null && question.space !== space) return { holders, hasMore: false }
  const grant = { permission, space, now }
  for (const kind of ORDER.slice(after === null ? 0 : ORDER.indexOf(after.kind))) {
    let from = kind === after?.kind ? after.id : null
    // A call examines a bounded number of records, so a page may be short or empty. A full page still asks
    // for one more item, to see whether there is one.
    do {
      const rest = limit - holders.length
      const page = { limit: Math.max(1, rest), after: from, scope, grant }
      const { data, next } = await listOf(lists, kind, tenant, page)
      if (rest === 0 && data.length > 0) return { holders, hasMore: true }
      holders.push(...data)
      from = next
    } while (from !== null)
  }
  return { holders, hasMore: false }
}

async function listOf(
  lists: Holders,
  kind: Holder['kind'],
  tenant: string,
  page: Page & { readonly grant: Grant },
): Promise<{ data: Holder[]; next: string | null }> {
  if (kind === 'seat') {
    const { data, next } = await lists.listSeats(tenant, page)
    return { data: data.map((each) => ({ kind, view: grantingSeat(each, page.grant.space) })), next }
  }
  if (kind === 'api-key') {
    const { data, next } = await lists.listApiKeys(tenant, page)
    const blocked = await ofBlockedOwners(lists, tenant, data)
    const counted = data.filter((_, at) => blocked[at] !== true)
    return { data: counted.map((each) => ({ kind, view: grantedKey(each) })), next }
  }
  const { data, next } = await lists.listUsers(tenant, page)
  const blocked = await areBlocked(
    lists,
    tenant,
    data.map(({ sub }) => sub),
  )
  return { data: data.map((each, at) => ({ kind, view: grantedUser(each, blocked[at] === true) })), next }
}

/** Whether the owner of each API key is blocked, in order. The requests of such a key are refused. */
export async function ofBlockedOwners(
  lists: RestrictionReader,
  tenant: string,
  keys: readonly Pick<ApiKey, 'owner'>[],
): Promise<boolean[]> {
  const owners = [...new Set(keys.flatMap(({ owner }) => owner ?? []))]
  const blocked = await areBlocked(lists, tenant, owners)
  return keys.map(({ owner }) => owner !== null && blocked[owners.indexOf(owner)] === true)
}

export function positionOf({ kind, view }: Holder): Position {
  return { kind, id: kind === 'user' ? view.sub : view.id }
}

function grantingSeat({ id, name, spaces, permissions }: ListedSeat, space: string | null): GrantingSeatView {
  return {
    id,
    name,
    spaces: space === null ? spaces : [space],
    by: permissions.includes(EVERY_PERMISSION) ? EVERY_PERMISSION : 'permission',
  }
}

function grantedKey({ id, name, owner, expiresAt, lastUsedAt, seats }: ApiKey): GrantedKeyView {
  return { id, name, owner, expires_at: time(expiresAt), last_used_at: time(lastUsedAt), seats }
}

function grantedUser(user: User, blocked: boolean): GrantedUserView {
  const { sub, email, lastSignIn, seats, grants = [] } = user
  const ending = grants.filter(({ seat }) => !seats.includes(seat))
  return {
    sub,
    email,
    last_sign_in: time(lastSignIn),
    seats: seatsHeld(user).map(({ name }) => name),
    blocked,
    ...(ending.length === 0 ? {} : { grants: ending.map((each) => heldGrantView(each)) }),
  }
}

/** A time as RFC 3339 in UTC, with milliseconds. */
function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
