/** The JSON forms of plans, and of what was applied. */

import {
  count,
  flag,
  list,
  mapOf,
  named,
  object,
  oneOf,
  orNull,
  type Schema,
  text,
  textItem,
} from '../model/json-schema.ts'
import { EVERY_PERMISSION } from '../model/permission.ts'
import type { SeatLists } from '../model/seat.ts'
import type { AppliedSeats, PlannedSeat, SeatsPlan } from '../model/planned-seats.ts'
import { mapInShares } from '../model/time-share.ts'
import { versionOf } from '../store/seats-file-rules.ts'
import type { RoutePermissions } from './admin-endpoint.ts'
import { type Warning, warnings } from './warnings.ts'
import { ID } from './parameters.ts'

/** The number of route ids of one change. */
const MAX_ROUTES = 10
const ACTIONS = ['create', 'update', 'delete'] as const

const changeFields = {
  action: oneOf(ACTIONS, 'What happens to the Seat.'),
  name: text('Its name after the change; for a deletion, its current name.', { examples: ['Viewer'] }),
}
const was = {
  was: text('Its name before the change. Absent if it keeps its name.', { examples: ['Reader'] }),
}
const id = text('Its id.', ID)
const texts = (description: string) => list(textItem({}), description)
const described = <V>(schema: Schema<V>, description: string): Schema<V> => ({ ...schema, description })
/** @param what without a final full stop */
const routes = (what: string) =>
  described(
    object({
      count: count('How many there are.'),
      routes: list(textItem({}), `Some of them, at most ${MAX_ROUTES}.`),
    }),
    `${what}: \`count\`, and at most ${MAX_ROUTES} of them in \`routes\`.`,
  )
const some = (what: string) =>
  described(
    object({ count: count('How many there are.'), names: list(textItem({}), 'Names of some of them.') }),
    `${what}: \`count\`, and some of them in \`names\`.`,
  )

const plannedChange = named(
  'PlannedChange',
  'What happens to one Seat, and who is affected.',
  object(
    {
      ...changeFields,
      spaces_added: texts('Spaces that are added to it.'),
      spaces_removed: texts('Spaces that are removed from it.'),
      permissions_added: texts('Permissions that are added to it.'),
      permissions_removed: texts('Permissions that are removed from it.'),
      users: count('As `member_count` of the Seat: exact if `users_exact` of the plan is true.'),
      users_after: count(
        'Users who have the Seat after the change: as `users`, and 0 if it is deleted; with `seats_from: scim`, the active users in the group of its name, which may exist already.',
      ),
      api_keys: some('Valid API keys that hold it'),
      routes_gained: routes('Routes that it opens only after the change, in its spaces'),
      routes_lost: routes('Routes that it opens only before the change'),
    },
    { ...was, id: text('Its id. Absent if the Seat is created.', ID) },
  ),
)

const shared = {
  tenant: text('The tenant.', { examples: ['acme'] }),
  unchanged: count('Number of Seats that already match the file.'),
  warnings: { ...warnings, description: 'At most 100 warnings.' } as typeof warnings,
}

export const planAnswer = named(
  'SeatsPlan',
  'What would change.',
  object({
    ...shared,
    space: text('The space of the request.', { examples: ['admin'] }),
    users_exact: flag('As `member_count_exact` of Seats.'),
    changes: list(plannedChange, 'Creations, then updates, then deletions, each in the order of names.'),
    unnamed: some('Seats that the caller may see, and that are neither listed nor deleted'),
    versions: mapOf(
      orNull(textItem({})),
      'For the name in each change, the current entity tag of the Seat; null if the Seat is created.',
    ),
  }),
)

export const appliedAnswer = named(
  'AppliedSeats',
  'What was changed.',
  object({
    ...shared,
    changes: list(
      named('AppliedChange', 'What happened to one Seat.', object({ ...changeFields, id }, was)),
      'The changes, as in the plan.',
    ),
  }),
)

export async function shownPlan(
  { changes, unchanged, unnamed }: SeatsPlan,
  { tenant, space, exact }: { readonly tenant: string; readonly space: string; readonly exact: boolean },
  routePermissions: RoutePermissions,
  found: readonly Warning[],
) {
  const versions = await mapInShares(changes, (change) => [change.name, versionOf(change)] as const)
  return {
    tenant,
    space,
    users_exact: exact,
    changes: await mapInShares(changes, (change) => shownChange(change, routePermissions)),
    unchanged,
    unnamed,
    warnings: found,
    // A name may be __proto__: fromEntries makes it a member like any other.
    versions: Object.fromEntries(versions),
  }
}

export function shownApplied(
  { changes, unchanged }: AppliedSeats,
  tenant: string,
  found: readonly Warning[],
) {
  return {
    tenant,
    changes: changes.map(({ action, name, was: former, id: seat }) => ({
      action,
      name,
      ...(former === null ? {} : { was: former }),
      id: seat,
    })),
    unchanged,
    warnings: found,
  }
}

const NOTHING: SeatLists = { spaces: [], permissions: [] }

function shownChange(
  { action, name, before, after, keys, usersAfter }: PlannedSeat,
  routePermissions: RoutePermissions,
) {
  const [old, now]: [SeatLists, SeatLists] = [before ?? NOTHING, after ?? NOTHING]
  return {
    action,
    name,
    ...(before === null ? {} : { id: before.id }),
    ...(before === null || before.name === name ? {} : { was: before.name }),
    spaces_added: without(now.spaces, old.spaces),
    spaces_removed: without(old.spaces, now.spaces),
    permissions_added: without(now.permissions, old.permissions),
    permissions_removed: without(old.permissions, now.permissions),
    users: before?.memberCount ?? 0,
    users_after: usersAfter,
    api_keys: keys,
    routes_gained: routesBeside(now, old, routePermissions),
    routes_lost: routesBeside(old, now, routePermissions),
  }
}

function without(texts: readonly string[], others: readonly string[]): string[] {
  const there = new Set(others)
  return texts.filter((each) => !there.has(each))
}

/** The routes that one Seat opens and the other does not. A Seat without spaces opens none. */
function routesBeside(one: SeatLists, other: SeatLists, routePermissions: RoutePermissions) {
  const held = new Set(other.spaces.length === 0 ? [] : other.permissions)
  if (one.spaces.length === 0 || held.has(EVERY_PERMISSION)) return { count: 0, routes: [] }
  const opened = new Set(
    one.permissions.filter((each) => !held.has(each)).flatMap((each) => routePermissions.routesOf(each)),
  )
  // `*` opens also what the other opens.
  if (one.permissions.includes(EVERY_PERMISSION))
    for (const each of held) for (const route of routePermissions.routesOf(each)) opened.delete(route)
  return { count: opened.size, routes: [...opened].slice(0, MAX_ROUTES) }
}
