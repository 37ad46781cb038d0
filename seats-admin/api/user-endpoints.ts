/** `/v1/users`: users as their sign-ins, and grants, made them known. */

import { text } from '../model/json-schema.ts'
import { inputInvalid, userNotFound } from '../model/refusal.ts'
import type { User } from '../model/user.ts'
import { areBlocked } from './blocked.ts'
import { type AdminDeps, type AdminEndpoint, type Caller, endpoint } from './admin-endpoint.ts'
import { limitOf, limitParameter, someText, type Values } from './parameters.ts'
import { listing, user } from './views.ts'

const LIST = {
  limit: limitParameter,
  after: someText(
    'The `sub` of the last user on the previous page.',
    'must be the sub of the last user before the page',
  ),
  q: someText('Part of a `sub` or of an email address.', 'must be a part of a sub or of an email address'),
  sub: someText(
    'The complete `sub` of a user, with any characters: the page has this user or none. Cannot be combined with `q` or `after`.',
    'must be the sub of a user',
  ),
}

const users = listing(user, 'In the order of `sub`.')

export function userEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [listUsers, readUser].map((each) => each(deps))
}

function listUsers(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/users',
    permission: 'users:list',
    operation: 'listUsers',
    summary: 'Lists the users whom a sign-in, SCIM or a grant has made known.',
    details:
      'With the Seats of the latest sign-in (with `seats_from: scim`, those that the groups give now), and the grants in force. Users of other issuers do not sign in here and are not listed.',
    query: LIST,
    answers: { 200: users.schema },
    codes: [],
    async handle({ query, caller }) {
      if (query.sub !== null) {
        if (query.q !== null || query.after !== null)
          return inputInvalid([{ path: '/sub', message: 'excludes q and after' }])
        const data = await userOf(deps, query.sub, caller)
        return { status: 200, body: users({ data, hasMore: false }) }
      }
      const limit = limitOf(query)
      const some = await usersFrom(deps, query, limit, caller)
      const data = await withBlocks(deps, some.slice(0, limit), caller)
      return { status: 200, body: users({ data, hasMore: some.length > limit }) }
    },
  })
}

function readUser(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/users/{sub}',
    permission: 'users:read',
    operation: 'readUser',
    summary: 'Reads a user whom a sign-in, SCIM or a grant has made known.',
    details:
      'With the Seats of the latest sign-in (with `seats_from: scim`, those that the groups give now), and the grants in force. Users of other issuers do not sign in here and are not found.',
    params: {
      sub: text(
        'The `sub` of the user, with any characters, percent-encoded. If it has a segment `.` or `..`, use `GET /v1/users?sub=` instead.',
        { examples: ['alice'] },
      ),
    },
    answers: { 200: user.schema },
    codes: ['user_not_found'],
    async handle({ params: { sub }, caller }) {
      const [shown] = await userOf(deps, sub, caller)
      return shown === undefined ? userNotFound : { status: 200, body: user(shown) }
    },
  })
}

/** One user more than the page has, if there are more. */
async function usersFrom(
  { store }: AdminDeps,
  { after, q }: Pick<Values<typeof LIST>, 'after' | 'q'>,
  limit: number,
  { tenant, scope }: Caller,
): Promise<User[]> {
  const users: User[] = []
  // A call examines a bounded number of users, so that its page may be short, or empty.
  let from = after
  do {
    const page = { limit: Math.max(1, limit - users.length), after: from, scope, q }
    const { data, next } = await store.listUsers(tenant, page)
    users.push(...data)
    from = next
  } while (from !== null && users.length <= limit)
  return users
}

/** None or one. */
async function userOf(deps: AdminDeps, sub: string, caller: Caller) {
  const stored = await deps.store.readUser(caller.tenant, sub, caller.scope)
  return stored === null ? [] : withBlocks(deps, [stored], caller)
}

async function withBlocks({ store }: AdminDeps, users: readonly User[], { tenant }: Caller) {
  const subs = users.map(({ sub }) => sub)
  const blocked = await areBlocked(store, tenant, subs)
  return users.map((each, at) => ({ ...each, blocked: blocked[at] === true }))
}
