/** `/v1/users`: users as their sign-ins made them known. */

import { text } from '../model/json-schema.ts'
import { inputInvalid, userNotFound } from '../model/refusal.ts'
import type { User } from '../model/user.ts'
import { areBlocked } from './blocked.ts'
import { type AdminDeps, type AdminEndpoint, type Caller, endpoint } from './admin-endpoint.ts'
import { limitOf, limitParameter, someText } from './parameters.ts'
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
  return [
    endpoint({
      method: 'GET',
      path: '/v1/users',
      permission: 'users:list',
      operation: 'listUsers',
      summary: 'Lists the users who have signed in.',
      details:
        'With the Seats of the latest sign-in. Users of other issuers do not sign in here and are not listed.',
      query: LIST,
      answers: { 200: users.schema },
      codes: [],
      async handle({ query, caller: { tenant, scope } }) {
        if (query.sub !== null) {
          if (query.q !== null || query.after !== null)
            return inputInvalid([{ path: '/sub', message: 'excludes q and after' }])
          const data = await known(query.sub, { tenant, scope })
          return { status: 200, body: users({ data, hasMore: false }) }
        }
        const limit = limitOf(query)
        const found: User[] = []
        // A call examines a bounded number of users, so that its page may be short, or empty.
        let from = query.after
        do {
          const page = { limit: Math.max(1, limit - found.length), after: from, scope, q: query.q }
          const { data, next } = await deps.store.listUsers(tenant, page)
          found.push(...data)
          from = next
        } while (from !== null && found.length <= limit)
        const data = await withBlocks(found.slice(0, limit), tenant)
        return { status: 200, body: users({ data, hasMore: found.length > limit }) }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/users/{sub}',
      permission: 'users:read',
      operation: 'readUser',
      summary: 'Reads a user who has signed in.',
      details:
        'With the Seats of the latest sign-in. Users of other issuers do not sign in here and are not found.',
      params: {
        sub: text(
          'The `sub` of the user, with any characters, percent-encoded. If it has a segment `.` or `..`, use `GET /v1/users?sub=` instead.',
          { examples: ['alice'] },
        ),
      },
      answers: { 200: user.schema },
      codes: ['user_not_found'],
      async handle({ params: { sub }, caller: { tenant, scope } }) {
        const [found] = await known(sub, { tenant, scope })
        return found === undefined ? userNotFound : { status: 200, body: user(found) }
      },
    }),
  ]

  /** None or one. */
  async function known(sub: string, { tenant, scope }: Pick<Caller, 'tenant' | 'scope'>) {
    const found = await deps.store.readUser(tenant, sub, scope)
    return found === null ? [] : withBlocks([found], tenant)
  }

  async function withBlocks(found: readonly User[], tenant: string) {
    const subs = found.map(({ sub }) => sub)
    const blocked = await areBlocked(deps.store, tenant, subs)
    return found.map((each, at) => ({ ...each, blocked: blocked[at] === true }))
  }
}
