/** `GET /v1/access/who-can` and `GET /v1/access/can`: questions about access, by the caller's rights. */

import {
  type AdminEndpoint,
  type AdminRefusal,
  areBlocked,
  endpoint,
  formatted,
  type HeldSeatName,
  idOf,
  isRefusal,
  limitOf,
  limitParameter,
  type Scope,
  seatsHeld,
  someText,
  type Store,
  type Values,
} from '../../seats-admin/index.ts'
import { isAccepted } from '../../seats-admin/model/api-key.ts'
import { apiKeyNotFound, inputInvalid, seatNotFound, userNotFound } from '../../seats-admin/model/refusal.ts'
import { knowsExactly, listsExactly, type SeatsFrom } from '../../seats-admin/model/seats-from.ts'
import { inShares } from '../../seats-admin/model/time-share.ts'
import { isUlid } from '../../seats-admin/model/ulid.ts'
import { ambiguousHost } from '../decision/authn/request-space.ts'
import { Refusal } from '../model/errors.ts'
import { accessSteps, type HeldSeat, holdingOf, type Holdings, isRowId } from './callable-routes.ts'
import { type AccessRow, canAnswer, whoCanAnswer } from './answers.ts'
import { namedUser } from './named-user.ts'
import type { Tables } from './tables.ts'
import {
  queryView,
  holdersPage,
  type Position,
  type HoldersQuery,
  queryOfPermission,
  queryOfRequest,
  ofBlockedOwners,
} from './permission-holders.ts'

interface AccessDeps {
  readonly store: Store
  /** The tables that decide requests. */
  readonly tables: () => Tables
  /** What gives the users of a tenant their Seats; null, or absent: the latest sign-in. */
  readonly seatsFrom?: (tenant: string) => SeatsFrom
  /** The clock, in ms since the epoch. */
  readonly now: () => number
}

/** Both reveal which Seats, API keys and users there are. */
const PERMISSION = 'access:read'

export function accessEndpoints(deps: AccessDeps): AdminEndpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/access/who-can',
      permission: PERMISSION,
      operation: 'whoCan',
      summary: 'Lists who can make a request or holds a permission.',
      details:
        'Asked by `method` and `path`, or by `permission`. Pages go through Seats, then API keys, then users.',
      query: WHO_CAN,
      answers: { 200: whoCanAnswer },
      codes: [],
      handle: ({ query, caller }) => whoCan(query, caller, deps),
    }),
    endpoint({
      method: 'GET',
      path: '/v1/access/can',
      permission: PERMISSION,
      operation: 'can',
      summary: 'Lists the routes that a holder of Seats may call.',
      details: 'Asked by exactly one of `seat`, `user` and `api_key`.',
      query: CAN,
      answers: { 200: canAnswer },
      codes: ['seat_not_found', 'user_not_found', 'api_key_not_found'],
      handle: ({ query, caller }) => can(query, caller, deps),
    }),
  ]
}

interface Asker {
  readonly tenant: string
  readonly scope: Scope
}

const space = formatted('space', 'Only this space; by default, all spaces.')

const WHO_CAN = {
  method: someText('The method of the request. Required unless `permission` is given.'),
  path: someText('The path of the request, with or without a query. Required with `method`.'),
  host: someText('The host of the request, if route tables list hosts.'),
  permission: formatted('permission', 'A permission, instead of a request.'),
  space,
  limit: limitParameter,
  after: someText(
    'The id of the last item on the previous page, or its `sub` if it is a user.',
    'must be the id of the last item of the page before, or the sub of a user',
  ),
}

async function whoCan(
  query: Values<typeof WHO_CAN>,
  { tenant, scope }: Asker,
  { store, tables, seatsFrom = () => null, now }: AccessDeps,
) {
  const question = holdersQuery(query, tables())
  if (isRefusal(question)) return question
  const after = query.after === null ? null : await positionOf(query.after, tenant, scope, store)
  const page = { limit: limitOf(query), after, scope, now: now() }
  const { holders, hasMore } = await holdersPage(store, tenant, question, page)
  const body = {
    ...queryView(question, tenant, listsExactly(seatsFrom(tenant))),
    seats: holders.flatMap((each) => (each.kind === 'seat' ? each.view : [])),
    api_keys: holders.flatMap((each) => (each.kind === 'api-key' ? each.view : [])),
    users: holders.flatMap((each) => (each.kind === 'user' ? each.view : [])),
    has_more: hasMore,
  }
  return { status: 200, body } as const
}

function holdersQuery(
  { method, path, host, permission, space: where }: Values<typeof WHO_CAN>,
  tables: Tables,
): HoldersQuery | AdminRefusal {
  if (permission !== null && (method !== null || path !== null || host !== null))
    return faulty('/permission', 'excludes method, path and host')
  if (permission !== null) return queryOfPermission(permission, where)
  if (method === null) return faulty('/method', 'is required, unless permission is given')
  if (path === null) return faulty('/path', 'is required with method')
  const question = queryOfRequest(tables, { method, path, host, space: where })
  if (!(question instanceof Refusal)) return question
  const elsewhere = question === ambiguousHost ? '/host' : '/path'
  return faulty(question.code === 'space_conflict' ? '/space' : elsewhere, question.detail)
}

function faulty(path: string, message: string): AdminRefusal {
  return inputInvalid([{ path, message }])
}

/**
 * The position of an id in the list. The store keeps revoked API keys and former users, so an id that it has
 * for one of them is not the id of a Seat. The whole tenant is searched, as a holder in the list may have
 * Seats of other spaces too. A position tells nothing about what is before and after it.
 */
async function positionOf(after: string, tenant: string, scope: Scope, store: Store): Promise<Position> {
  if (!isUlid(after)) return { kind: 'user', id: after }
  const whole = { ...scope, admin: true }
  if (!isRefusal(await store.readApiKey(tenant, after, whole))) return { kind: 'api-key', id: after }
  if ((await store.readUser(tenant, after, whole)) !== null) return { kind: 'user', id: after }
  return { kind: 'seat', id: after }
}

const CAN = {
  seat: { ...someText('The name of a Seat.'), repeats: true },
  user: someText('The `sub` of a user, or an email address that one known user has, instead of Seats.'),
  api_key: idOf('an API key', 'The id of an API key, instead of Seats.'),
  space,
  limit: limitParameter,
  after: someText(
    'The last row of the previous page: `METHOD PATH`, with the host before the path if the row has one, followed by a space character and its space if it has one.',
    'must be the row before the page: METHOD PATH, with its HOST before PATH, and SPACE behind it, if it has them',
  ),
} as const

async function can(
  read: Values<typeof CAN>,
  { tenant, scope }: Asker,
  { store, tables, seatsFrom = () => null, now }: AccessDeps,
) {
  const holders = Number(read.seat.length > 0) + Number(read.user !== null) + Number(read.api_key !== null)
  if (holders !== 1) return faulty('', 'exactly one of seat, user and api_key is required')
  // Outside the admin space the caller sees that space alone.
  const where = scope.admin ? read.space : scope.space
  const { routes } = tables().table
  // A reload may have changed the tables since the page before.
  if (read.after !== null && !isRowId(routes, read.after))
    return faulty('/after', 'is not a row of the current route tables')
  const asker = { tenant, scope, seatsFrom: seatsFrom(tenant) }
  const holdings = await holdingsOf(read, asker, store, holdingOf(routes, where), now())
  if (isRefusal(holdings)) return holdings
  const { exact } = holdings
  if (read.space !== null && read.space !== where)
    return { status: 200, body: { data: [], exact, has_more: false } } as const
  const options = { tenant, space: where, allowed: true, after: read.after }
  const limit = limitOf(read)
  const data = await inShares(taken(accessSteps(routes, holdings, options), limit + 1))
  return { status: 200, body: { data: data.slice(0, limit), exact, has_more: data.length > limit } } as const
}

/** The first rows, from steps that may have none. */
function* taken(steps: Iterable<AccessRow | null>, most: number): Generator<void, AccessRow[]> {
  const rows: AccessRow[] = []
  for (const row of steps) {
    if (row !== null) rows.push(row)
    if (rows.length === most) break
    yield
  }
  return rows
}

/** The most spaces and permissions of a holder for one answer, which take some 20 ms of slices. */
const MAX_ELEMENTS = 100_000

const tooLarge = faulty('/space', 'is required for a holder of so many spaces and permissions')

/** The Seats of a holder that the caller may see. */
async function holdingsOf(
  { seat: names, user, api_key: key }: Pick<Values<typeof CAN>, 'seat' | 'user' | 'api_key'>,
  asker: Asker & { readonly seatsFrom: SeatsFrom },
  store: Store,
  held: ReturnType<typeof holdingOf>,
  now: number,
): Promise<(Holdings & { readonly exact: boolean }) | AdminRefusal> {
  const { tenant, scope, seatsFrom } = asker
  // Outside the admin space a holder is known by a Seat that lists the caller's space.
  const whole = { ...scope, admin: true }
  const holdingsBy = async (
    ofHolder: readonly HeldSeatName[],
    accepted: boolean,
    missing: AdminRefusal,
    exact = true,
  ) => {
    const seats = await seatsOf(ofHolder, asker, store, held)
    if (isRefusal(seats)) return seats
    return scope.admin || seats.length > 0 ? { accepted, seats, exact } : missing
  }
  if (user !== null) {
    const sub = await namedUser(user, asker, store)
    if (isRefusal(sub)) return sub
    const record = await store.readUser(tenant, sub, whole)
    if (record === null) return userNotFound
    const [blocked] = await areBlocked(store, tenant, [sub])
    const exact = knowsExactly(seatsFrom, record)
    return holdingsBy(seatsHeld(record), blocked === false, userNotFound, exact)
  }
  if (key !== null) {
    const record = await store.readApiKey(tenant, key, whole)
    if (isRefusal(record)) return record
    const [blocked] = await ofBlockedOwners(store, tenant, [record])
    return holdingsBy(record.seats.map(lasting), blocked === false && isAccepted(record, now), apiKeyNotFound)
  }
  const distinct = new Set(names)
  const seats = await seatsOf([...distinct].map(lasting), asker, store, held)
  if (isRefusal(seats)) return seats
  return seats.length === distinct.size ? { accepted: true, seats, exact: true } : seatNotFound
}

function lasting(name: string): HeldSeatName {
  return { name, until: null }
}

/** The Seats, which are read one after the other: each may have a megabyte. */
async function seatsOf(
  ofHolder: readonly HeldSeatName[],
  { tenant, scope }: Asker,
  store: Store,
  held: ReturnType<typeof holdingOf>,
): Promise<HeldSeat[] | AdminRefusal> {
  const seats: HeldSeat[] = []
  let elements = 0
  for (const { name, until } of ofHolder) {
    const { seat } = (await store.seatByName(tenant, name)).value
    if (seat === null || !(scope.admin || seat.spaces.includes(scope.space))) continue
    const holding = held(seat, until)
    elements += holding.spaces.size + holding.permissions.size
    if (elements > MAX_ELEMENTS) return tooLarge
    seats.push(holding)
  }
  return seats
}
