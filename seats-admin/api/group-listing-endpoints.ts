/** `/v1/scim/groups` and `/v1/scim/members`: the groups of SCIM, for administrators to read. */

import { count, flag, list, named, object, orNull, text, textItem, view } from '../model/json-schema.ts'
import type { ListedGroup, ListedMember } from '../model/listed-group.ts'
import { inputInvalid, scimNotConfigured } from '../model/refusal.ts'
import type { Listing } from '../store/store.ts'
import { type AdminDeps, type AdminEndpoint, endpoint } from './admin-endpoint.ts'
import { ID, idOf, limitOf, PAGE, someText } from './parameters.ts'
import { listing } from './views.ts'

const listedGroup = view(
  named(
    'ScimGroup',
    'A group of SCIM.',
    object({
      id: text('The id of the group.', ID),
      display_name: text('The `displayName`, which is the name of the Seat that the group gives.', {
        examples: ['Viewer'],
      }),
      member_count: count('Number of members.'),
      active_count: count('Number of members who are active.'),
      seat_id: orNull(text('The id of the Seat of this name. Null if no Seat has it.', ID)),
      gives_seat: flag(
        'Whether active members have this Seat by the group: the Seat exists, and `seats_from` of the tenant is `scim`.',
      ),
    }),
  ),
  ({ group, gives }: { readonly group: ListedGroup; readonly gives: boolean }) => ({
    id: group.id,
    display_name: group.displayName,
    member_count: group.memberCount,
    active_count: group.activeCount,
    seat_id: group.seatId,
    gives_seat: gives && group.seatId !== null,
  }),
)

const listedMember = view(
  named(
    'ScimMember',
    'A member of a group of SCIM.',
    object({
      id: text('The id of the SCIM user.', ID),
      user_name: text('The `userName`.', { examples: ['alice'] }),
      display_name: orNull(text('The `displayName`. Null if the provider gave none.')),
      active: flag('Whether the user is active. Others have no Seats.'),
      users: list(
        textItem({ examples: ['alice'] }),
        'The `sub` of the user. None if the user lacks the key of `scim.user`, or with a claim has not signed in. With a claim, there may be several.',
      ),
    }),
  ),
  ({ id, userName, displayName, active, users }: ListedMember) => ({
    ...{ id, user_name: userName, display_name: displayName, active, users: [...users] },
  }),
)

const groups = listing(listedGroup)
const members = listing(listedMember, 'In the order of the ids.')

export function groupListingEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [listGroups(deps), listMembers(deps)]
}

function listGroups(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/scim/groups',
    permission: 'users:list',
    operation: 'listScimGroups',
    summary: 'Lists the groups of SCIM.',
    details: 'Only in the admin space.',
    query: {
      ...PAGE,
      q: someText('Part of a name, in upper or lower case.', 'must be a part of the name of a group'),
      id: idOf(
        'a group',
        'The id of a group: the page has this group or none. Cannot be combined with `q` or `after`.',
      ),
    },
    answers: { 200: groups.schema },
    codes: ['scim_not_configured'],
    async handle({ query, caller: { tenant, scope } }) {
      const { id, q, after } = query
      if (id !== null && (q !== null || after !== null))
        return inputInvalid([{ path: '/id', message: 'excludes q and after' }])
      const { store, scimMode, seatsFrom } = deps
      if ((scimMode?.(tenant) ?? null) === null) return scimNotConfigured
      const gives = (seatsFrom?.(tenant) ?? null) !== null
      const page = async () => {
        if (!scope.admin) return { data: [], hasMore: false }
        if (id === null)
          return filled(limitOf(query), after, (more) => store.listedGroups(tenant, { ...more, q }))
        const group = await store.listedGroup(tenant, id)
        return { data: group === null ? [] : [group], hasMore: false }
      }
      const { data, hasMore } = await page()
      return { status: 200, body: groups({ data: data.map((group) => ({ group, gives })), hasMore }) }
    },
  })
}

function listMembers(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/scim/members',
    permission: 'users:list',
    operation: 'listScimMembers',
    summary: 'Lists the members of a group of SCIM.',
    details: 'None for a group that does not exist. Only in the admin space.',
    query: { ...PAGE, group: idOf('a group', 'The id of the group. Required.') },
    answers: { 200: members.schema },
    codes: ['scim_not_configured'],
    async handle({ query, caller: { tenant, scope } }) {
      const { group, after } = query
      if (group === null) return inputInvalid([{ path: '/group', message: 'is required' }])
      const mode = deps.scimMode?.(tenant) ?? null
      if (mode === null) return scimNotConfigured
      const page = scope.admin
        ? await deps.store.listedMembers(tenant, mode, group, { limit: limitOf(query), after })
        : { data: [], hasMore: false }
      return { status: 200, body: members(page) }
    },
  })
}

/** A page of `limit` items, if there are so many: a call of the store may return fewer, although more follow. */
export async function filled<V>(
  limit: number,
  from: string | null,
  read: (page: { readonly limit: number; readonly after: string | null }) => Promise<Listing<V>>,
): Promise<{ data: V[]; hasMore: boolean }> {
  const data: V[] = []
  let after = from
  do {
    const page = await read({ limit: limit + 1 - data.length, after })
    data.push(...page.data)
    after = page.next
  } while (after !== null && data.length <= limit)
  return { data: data.slice(0, limit), hasMore: data.length > limit }
}
