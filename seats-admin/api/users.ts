/** `/v1/users`: users as their sign-ins made them known. */

import type { BlocksReading } from '../model/block.ts'
import { text } from '../model/json-schema.ts'
import { userNotFound } from '../model/refusal.ts'
import type { User } from '../model/user.ts'
import { type AdminDeps, type AdminEndpoint, endpoint } from './endpoint.ts'
import { limitOf, limitParameter } from './page.ts'
import { someText } from './parameters.ts'
import { listing, user } from './views.ts'

const LIST = {
  limit: limitParameter,
  after: someText(
    'The `sub` of the last user of the page before.',
    'must be the sub of the last user before the page',
  ),
  q: someText('A part of a `sub` or of an email address.', 'must be a part of a sub or of an email address'),
}

const users = listing(user, 'In the order of `sub`.')

export function userEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/users',
      permission: 'users:list',
      operation: 'listUsers',
      summary: 'Lists the users who signed in.',
      query: LIST,
      answers: { 200: users.schema },
      codes: [],
      async handle({ query, caller: { tenant, scope } }) {
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
        const { value: blocks } = await deps.store.blocks(tenant)
        const shown = found.slice(0, limit)
        const data = await Promise.all(
          shown.map(async (each) => ({ ...each, blocked: await isBlocked(each, tenant, blocks) })),
        )
        return { status: 200, body: users({ data, hasMore: found.length > limit }) }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/users/{sub}',
      permission: 'users:read',
      operation: 'readUser',
      summary: 'Reads a user who signed in.',
      params: { sub: text('The `sub` of the user.', { examples: ['alice'] }) },
      answers: { 200: user.schema },
      codes: ['user_not_found'],
      async handle({ params: { sub }, caller: { tenant, scope } }) {
        const found = await deps.store.readUser(tenant, sub, scope)
        if (found === null) return userNotFound
        const { value: blocks } = await deps.store.blocks(tenant)
        return { status: 200, body: user({ ...found, blocked: await isBlocked(found, tenant, blocks) }) }
      },
    }),
  ]

  async function isBlocked({ sub }: User, tenant: string, { blocks }: BlocksReading): Promise<boolean> {
    if (blocks !== null) return blocks.some((each) => each.user === sub)
    return (await deps.store.userBlock(tenant, sub)).value.block !== null
  }
}
