/** Listings that examine a range in each call: their statements, parameters and rows, for both drivers. */

import type { Scope } from '../model/scope.ts'
import { grants, grantValues, seatsGranting } from './granting.ts'
import { allUsers, apiKeysGranting, usersWith } from './holders.ts'
import { listing, spacesOf } from './pages.ts'
import { type Dialect, integer, type Row, text } from './rows.ts'
import { isStorable, storableOrEmpty } from './storable-text.ts'
import type { Grant, Listing, UserPage } from './store.ts'

export type RangeQuery = keyof ReturnType<typeof rangeQueries>

/** `…OfSpaces`: restricted to what is visible outside the admin space. */
export function rangeQueries(dialect: Dialect) {
  const visible = `${dialect.spacesColumn} = :spaces`
  return {
    seatsGranting: seatsGranting(dialect),
    apiKeysGranting: apiKeysGranting(dialect),
    users: allUsers(dialect),
    usersOfSpaces: usersWith(dialect, visible),
    usersGranting: usersWith(dialect, grants(dialect)),
  }
}

export function userRangeQuery({ grant, scope }: UserPage): RangeQuery {
  if (grant == null) return scope.admin ? 'users' : 'usersOfSpaces'
  return 'usersGranting'
}

/** The parameters of these statements; null if nothing can be listed. */
export function rangeValues(tenant: string, { limit, after, scope, grant = null, q = null }: UserPage) {
  const granted = grant === null ? {} : grantValues(seenBy(scope, grant))
  if (granted === null || !isStorable(q ?? '')) return null
  return {
    tenant,
    after: storableOrEmpty(after ?? ''),
    limit,
    rows: limit + 1,
    spaces: spacesOf(scope),
    now: grant?.now ?? 0,
    q: q ?? '',
    q_lower: lower(q ?? ''),
    ...granted,
  }
}

/** Outside the admin space, what is granted in the space of the scope; null if that is not asked. */
function seenBy({ admin, space }: Scope, grant: Grant): Grant | null {
  if (admin) return grant
  return grant.space === null || grant.space === space ? { ...grant, space } : null
}

/** As `lower` of both databases here: ASCII only. */
function lower(asked: string): string {
  return asked.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/**
 * The page of rows with a range: at least one, with `id` null where no item is left. `held` counts the items before the
 * page was cut, `scanned` is the end of the range; null at the end of all. No rows if nothing can be listed.
 */
export function rangeListing<V>(rows: readonly Row[], toValue: (row: Row) => V): Listing<V> {
  const [first] = rows
  if (first === undefined) return listing<V>([], null)
  const items = rows.filter(({ id }) => id !== null)
  const last = items.at(-1)
  if (last !== undefined && integer(first, 'held') > items.length)
    return listing(items.map(toValue), text(last, 'id'))
  return listing(items.map(toValue), first.scanned === null ? null : text(first, 'scanned'))
}
