/**
 * `/v1/sessions`: sign-in sessions that have neither ended nor expired. Users belong to the tenant, not to a
 * space: outside the admin space no session is visible.
 */

import { flag, list, object, text } from '../model/json-schema.ts'
import { sessionNotFound } from '../model/refusal.ts'
import { isSessionId, SESSION_ID } from '../model/session-record.ts'
import {
  type AdminDeps,
  type AdminEndpoint,
  endpoint,
  noContent,
  respondToWrite,
  writerOf,
} from './admin-endpoint.ts'
import { limitOf, limitParameter, someText } from './parameters.ts'
import { listedSession } from './views.ts'

const PARAMETERS = {
  user: someText('The `sub` of a user; by default, all users.', 'must be the sub of a user'),
  limit: limitParameter,
  after: {
    schema: text(
      'The id of the last item on the previous page. Ids are random, and the list is in the order of the ids.',
      {
        pattern: SESSION_ID.source,
      },
    ),
    accepts: isSessionId,
    otherwise: 'must be the id of the last item before the page',
  },
}

const page = object({
  data: list(listedSession.schema, 'In the order of the ids.'),
  has_more: flag('Whether more items follow.'),
})

export function sessionEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/sessions',
      permission: 'sessions:list',
      operation: 'listSessions',
      summary: 'Lists the sign-in sessions.',
      details: 'Only sessions that have neither ended nor expired, and only in the admin space.',
      query: PARAMETERS,
      answers: { 200: page },
      codes: [],
      async handle({ query, caller: { tenant, scope } }) {
        const { user, after } = query
        const page = { limit: limitOf(query), after, user, now: deps.now() }
        const none = { data: [], hasMore: false }
        const { data, hasMore } = scope.admin ? await deps.store.listSessions(tenant, page) : none
        return { status: 200, body: { data: data.map((each) => listedSession(each)), has_more: hasMore } }
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/v1/sessions/{id}',
      permission: 'sessions:delete',
      operation: 'endSession',
      summary: 'Ends a session and its tokens.',
      details:
        'Once it has been answered, no instance accepts the cookie, the tokens or the refresh token of the session.',
      params: { id: text('The id of the session.') },
      answers: { 204: null },
      codes: ['session_not_found'],
      async handle({ params: { id }, caller }) {
        if (!caller.scope.admin) return sessionNotFound
        return respondToWrite(deps.store.endSession(writerOf(caller, deps), id), deps, noContent)
      },
    }),
  ]
}
