/** `/v1/grants`: Seats that users have besides, until a time. */

import { orNull, strictObject, text, type ValueOf } from '../model/json-schema.ts'
import { type AdminRefusal, inputInvalid, isRefusal } from '../model/refusal.ts'
import type { GrantInput } from '../store/store.ts'
import {
  type AdminDeps,
  type AdminEndpoint,
  endpoint,
  noContent,
  respondToWrite,
  writerOf,
} from './admin-endpoint.ts'
import { parseDateTime } from './date-time.ts'
import { formatted, ID, PAGE, pageOf, someText, SUB } from './parameters.ts'
import { checker } from './validate-body.ts'
import { grant, listing } from './views.ts'

const grantSchema = strictObject(
  {
    user: text('The `sub` of the user.', SUB),
    seat: text('The name or the id of a Seat.', { format: 'name', examples: ['Viewer'] }),
    until: text('When the grant ends.', { format: 'expiry', examples: ['2099-01-01T00:00:00Z'] }),
  },
  {
    from: orNull(
      text('When the grant begins. If it is absent, null or in the past, the grant begins now.', {
        format: 'moment',
        examples: ['2098-12-31T00:00:00Z'],
      }),
    ),
    reason: orNull(
      text('The reason, for people to read.', {
        maxLength: 1024,
        format: 'well-formed',
        examples: ['on call'],
      }),
    ),
  },
)

export const grantBody = checker(grantSchema)

const LIST = {
  user: someText('The `sub` of a user; by default, all users.', 'must be the sub of a user'),
  seat: formatted('name', 'The name or the id of a Seat; by default, all Seats.'),
  ending_before: formatted('moment', 'Only grants that end before this time; by default, all.'),
  ...PAGE,
}

const params = { id: text('The id of the grant.', ID) }
const grants = listing(grant)

export function grantEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [createGrant, listGrants, deleteGrant].map((each) => each(deps))
}

function createGrant(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'POST',
    path: '/v1/grants',
    permission: 'grants:create',
    operation: 'createGrant',
    summary: 'Gives a user a Seat until a time, besides the Seats of the sign-in.',
    details:
      'The user has the Seat in all of its spaces. The Seat must be one that the caller could give to an API key. If the caller holds its permissions by a grant, `until` must not be later than the end of that. What is open is decided again when the grant begins, ends or is deleted.',
    body: grantBody,
    answers: { 200: grant.schema },
    codes: ['grant_exceeds_own', 'unavailable'],
    lastsUntil: ({ until }) => parseDateTime(until) ?? Infinity,
    async handle({ body, caller }) {
      const writer = writerOf(caller, deps)
      const input = grantInput(body, writer.now)
      if (isRefusal(input)) return input
      const write = deps.store.createGrant(writer, input)
      return respondToWrite(write, deps, (made) => ({ status: 200, body: grant(made) }))
    },
  })
}

function listGrants(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/grants',
    permission: 'grants:list',
    operation: 'listGrants',
    summary: 'Lists the grants that are in force or begin later.',
    details: 'Outside the admin space, only those of Seats that the caller may see.',
    query: LIST,
    answers: { 200: grants.schema },
    codes: [],
    async handle({ query, caller: { tenant, scope } }) {
      const { user, seat, ending_before: ending } = query
      const endingBefore = ending === null ? null : parseDateTime(ending)
      const page = await deps.store.listGrants(tenant, { ...pageOf(query), scope, user, seat, endingBefore })
      return isRefusal(page) ? page : { status: 200, body: grants(page) }
    },
  })
}

function deleteGrant(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'DELETE',
    path: '/v1/grants/{id}',
    permission: 'grants:delete',
    operation: 'deleteGrant',
    summary: 'Ends a grant.',
    details:
      'It does not require the permissions of the Seat. A Seat of the latest sign-in, or of another grant, stays.',
    params,
    answers: { 204: null },
    codes: ['grant_not_found'],
    async handle({ params: { id }, caller }) {
      return respondToWrite(deps.store.deleteGrant(writerOf(caller, deps), id), deps, noContent)
    },
  })
}

/** @param now ms since the epoch; `until` must be later, and later than `from` */
function grantInput(body: ValueOf<typeof grantSchema>, now: number): GrantInput | AdminRefusal {
  const { user, seat, until: end, from: begin = null, reason = null } = body
  const from = begin === null ? null : parseDateTime(begin)
  // The format of the body has been checked.
  const until = parseDateTime(end) ?? 0
  if (until <= now) return inputInvalid([{ path: '/until', message: 'must be in the future' }])
  if (from !== null && until <= from)
    return inputInvalid([{ path: '/until', message: 'must be later than from' }])
  return { user, seat, from, until, reason }
}
