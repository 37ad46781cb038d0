/**
 * `/v1/scim/`: what a tenant's users would have by their SCIM groups, beside what their latest sign-ins gave
 * them.
 */

import { flag, list, named, object, oneOf, orNull, text, textItem, view } from '../model/json-schema.ts'
import { type AdminRefusal, isRefusal, scimNotConfigured } from '../model/refusal.ts'
import type { ComparedUser, ComparisonPage, UnseenUser } from '../model/scim-comparison.ts'
import type { ScimMode } from '../model/scim.ts'
import type { Listing } from '../store/store.ts'
import { type AdminDeps, type AdminEndpoint, type Caller, endpoint } from './admin-endpoint.ts'
import { filled } from './group-listing-endpoints.ts'
import { limitOf, limitParameter, someText } from './parameters.ts'
import { listing } from './views.ts'

const seatNames = (description: string) => list(textItem({ examples: ['Viewer'] }), description)

export const comparedUser = view(
  named(
    'ComparedUser',
    'A user who has signed in.',
    object({
      sub: text('The `sub` of the user.'),
      email: orNull(text('The email address at the latest sign-in. Null if the provider did not give one.')),
      by_sign_in: seatNames('Names of the Seats of the latest sign-in.'),
      by_groups: seatNames('Names of the Seats that the SCIM groups of the user give.'),
      scim: oneOf(
        ['active', 'inactive', 'unknown'],
        '`unknown`: no SCIM user is this user. Only `active` users have Seats by groups.',
      ),
      groups_left_out: flag(
        'Whether the provider left out the groups at the latest sign-in, so that `by_sign_in` may lack some.',
      ),
    }),
  ),
  ({ sub, email, bySignIn, byGroups, scim, areGroupsLeftOut }: ComparedUser) => ({
    ...{ sub, email, by_sign_in: bySignIn, by_groups: byGroups, scim, groups_left_out: areGroupsLeftOut },
  }),
)

export const unseenUser = view(
  named(
    'UnseenUser',
    'A SCIM user who has not signed in.',
    object({
      id: text('The id of the SCIM user.'),
      user_name: text('The `userName`.'),
      active: flag('Whether the user is active.'),
      by_groups: seatNames('Names of the Seats that the SCIM groups of the user give.'),
    }),
  ),
  ({ id, userName, active, byGroups }: UnseenUser) => ({
    ...{ id, user_name: userName, active, by_groups: byGroups },
  }),
)

const compared = listing(comparedUser, 'In the order of `sub`.')
const unseen = listing(unseenUser, 'In the order of the ids.')

export function scimComparisonEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/scim/comparison',
      permission: 'users:list',
      operation: 'compareScim',
      summary: 'Compares the Seats of the latest sign-ins with those of the SCIM groups.',
      details: 'Lists all users who have signed in. Only in the admin space.',
      query: {
        limit: limitParameter,
        after: someText('The `sub` of the last user on the previous page.', 'must be the sub of a user'),
      },
      answers: { 200: compared.schema },
      codes: ['scim_not_configured'],
      async handle({ query, caller }) {
        const page = await pageOf(deps, query.after, limitOf(query), caller, deps.store.comparedUsers)
        return isRefusal(page) ? page : { status: 200, body: compared(page) }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/scim/unseen-users',
      permission: 'users:list',
      operation: 'listUnseenUsers',
      summary: 'Lists the SCIM users who have not signed in.',
      details: 'Also those that no caller can be, because they have no key. Only in the admin space.',
      query: {
        limit: limitParameter,
        after: someText('The id of the last user on the previous page.', 'must be the id of a SCIM user'),
      },
      answers: { 200: unseen.schema },
      codes: ['scim_not_configured'],
      async handle({ query, caller }) {
        const page = await pageOf(deps, query.after, limitOf(query), caller, deps.store.unseenUsers)
        return isRefusal(page) ? page : { status: 200, body: unseen(page) }
      },
    }),
  ]
}

async function pageOf<V>(
  deps: AdminDeps,
  from: string | null,
  limit: number,
  { tenant, scope }: Caller,
  read: (tenant: string, mode: ScimMode, page: ComparisonPage) => Promise<Listing<V>>,
): Promise<{ data: V[]; hasMore: boolean } | AdminRefusal> {
  const mode = deps.scimMode?.(tenant) ?? null
  if (mode === null) return scimNotConfigured
  return scope.admin ? filled(limit, from, (page) => read(tenant, mode, page)) : { data: [], hasMore: false }
}
