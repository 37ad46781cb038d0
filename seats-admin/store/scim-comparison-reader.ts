/** Reads what `seats_from: scim` would change for a tenant whose latest sign-ins give users their Seats. */

import type { ComparedUser, ComparisonPage, UnseenUser } from '../model/scim-comparison.ts'
import type { ScimMode } from '../model/scim.ts'
import type { Database } from './database.ts'
import { listing } from './pages.ts'
import { type Dialect, integer, type Row, text, textOrNull } from './rows.ts'
import { isScimUser, seatsOfScimUser, seatsOfUser } from './seats-of-users.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { AdminStore, Listing } from './store.ts'

/** Users whose rows a call reads. Each may be in 1,000 groups. */
const MOST = 250

export function scimComparisonReader({ lists, dialect }: Database) {
  return {
    comparedUsers: (tenant, mode, page) =>
      pageOf(comparedUsers(dialect, mode), tenant, page, (row) => [comparedUser(row)]),
    unseenUsers: (tenant, mode, page) =>
      pageOf(unseenUsers(dialect, mode), tenant, page, (row) =>
        integer(row, 'is_seen') === 1 ? [] : [unseenUser(row)],
      ),
  } satisfies Partial<AdminStore>

  async function pageOf<V>(
    statement: string,
    tenant: string,
    { limit, after }: ComparisonPage,
    valuesOf: (row: Row) => V[],
  ): Promise<Listing<V>> {
    const size = Math.min(limit, MOST)
    const values = { tenant, after: storableOrEmpty(after ?? ''), limit: size, rows: size + 1 }
    const { rows, hasMore } = await lists.page(statement, values, size)
    const last = rows.at(-1)
    return listing(rows.flatMap(valuesOf), hasMore && last !== undefined ? text(last, 'id') : null)
  }
}

function comparedUsers(dialect: Dialect, mode: ScimMode): string {
  const [signIn, groups] = [seatsOfUser(dialect, null, 'u.sub'), seatsOfUser(dialect, mode, 'u.sub')]
  const rows = `SELECT u.sub AS id, u.email, u.groups_left_out, ${namesIn(dialect, signIn)} AS seats,
      ${namesIn(dialect, groups)} AS scim_seats,
      (SELECT x.active FROM scim_users x WHERE x.tenant = :tenant AND ${isScimUser(mode, 'u.sub')}) AS active
    FROM users u WHERE u.tenant = :tenant AND u.sub > :after AND u.last_sign_in IS NOT NULL ORDER BY u.sub LIMIT :rows`
  return dialect.page(rows, ['seats', 'scim_seats'], 'ASC')
}

/** All SCIM users. The reader leaves out those who have signed in, which each row says. */
function unseenUsers(dialect: Dialect, mode: ScimMode): string {
  const column = {
    userName: 'w.sub = x.user_name',
    externalId: 'w.sub = x.external_id',
    claim: 'w.member = x.external_id',
  }
  const rows = `SELECT x.id, x.user_name, x.active, ${namesIn(dialect, seatsOfScimUser(dialect))} AS scim_seats,
      CASE WHEN EXISTS (SELECT 1 FROM users w WHERE w.tenant = :tenant AND ${column[mode]} AND w.last_sign_in IS NOT NULL)
        THEN 1 ELSE 0 END AS is_seen
    FROM scim_users x WHERE x.tenant = :tenant AND x.id > :after ORDER BY x.id LIMIT :rows`
  return dialect.page(rows, ['scim_seats'], 'ASC')
}

function namesIn({ list }: Dialect, { from, condition }: ReturnType<typeof seatsOfUser>): string {
  return `(SELECT ${list('s.name', 's.name')} FROM ${from}
    JOIN seats s ON s.tenant = l.tenant AND s.id = l.seat_id WHERE ${condition})`
}

function comparedUser(row: Row): ComparedUser {
  const isActive = row.active === null ? null : integer(row, 'active') === 1
  return {
    sub: text(row, 'id'),
    email: textOrNull(row, 'email'),
    bySignIn: JSON.parse(text(row, 'seats')),
    byGroups: JSON.parse(text(row, 'scim_seats')),
    scim: isActive === null ? 'unknown' : isActive ? 'active' : 'inactive',
    areGroupsLeftOut: integer(row, 'groups_left_out') === 1,
  }
}

function unseenUser(row: Row): UnseenUser {
  return {
    id: text(row, 'id'),
    userName: text(row, 'user_name'),
    active: integer(row, 'active') === 1,
    byGroups: integer(row, 'active') === 1 ? JSON.parse(text(row, 'scim_seats')) : [],
  }
}
