/** Reads of SCIM users, groups and memberships. */

import type { ScimMember } from '../model/scim.ts'
import type { Database, Lists } from './database.ts'
import { asOf } from './decision-reader.ts'
import { type Dialect, integer, type Row, text, textOrNull } from './rows.ts'
import {
  foldedCase,
  memberKeyOf,
  membershipReading,
  membershipReads,
  membershipValues,
  SCIM_GROUP_COLUMNS,
  SCIM_USER_COLUMNS,
  scimGroup,
  scimUser,
  SUBS_OF_MEMBER,
} from './scim-queries.ts'
import {
  MAX_SCIM_PAGE,
  type ScimGroupFilter,
  type ScimList,
  type ScimPage,
  type ScimStore,
  type ScimUserFilter,
} from './scim-store.ts'
import { storableOrEmpty } from './storable-text.ts'

/** `users` and `groups` are pages of those that fulfil a condition. */
export function scimStatements({ page }: Dialect) {
  const part = 'LIMIT :rows OFFSET :offset'
  return {
    user: `SELECT ${SCIM_USER_COLUMNS} FROM scim_users u WHERE u.tenant = :tenant AND u.id = :id`,
    group: `SELECT ${SCIM_GROUP_COLUMNS} FROM scim_groups g WHERE g.tenant = :tenant AND g.id = :id`,
    /** One row more than the page, to learn whether there are more. */
    members: `SELECT u.id, u.user_name, u.display_name FROM scim_members m
      JOIN scim_users u ON u.tenant = m.tenant AND u.id = m.user_id
      WHERE m.tenant = :tenant AND m.group_id = :group AND m.user_id > :after ORDER BY m.user_id LIMIT :rows`,
    users: (condition: string) =>
      page(
        `SELECT ${SCIM_USER_COLUMNS} FROM scim_users u WHERE ${condition} ORDER BY u.id ${part}`,
        ['resource'],
        'ASC',
      ),
    groups: (condition: string) =>
      `SELECT ${SCIM_GROUP_COLUMNS} FROM scim_groups g WHERE ${condition} ORDER BY g.id ${part}`,
  }
}

/** Of each member of a filter: the name of its parameter, its condition, and what of its text is compared. */
type Filters<F> = Readonly<
  Record<keyof F, readonly [parameter: string, condition: string, compared: (text: string) => string]>
>

const USER_FILTERS: Filters<ScimUserFilter> = {
  userName: ['user_name', 'u.user_name_key = :user_name', foldedCase],
  externalId: ['external_id', 'u.external_id = :external_id', String],
  displayName: ['display_name', 'u.display_name = :display_name', String],
  email: ['email', 'u.email_key = :email', foldedCase],
}

const OF_MEMBER = 'SELECT m.group_id FROM scim_members m WHERE m.tenant = :tenant AND m.user_id = :member'

const GROUP_FILTERS: Filters<ScimGroupFilter> = {
  displayName: ['display_name', 'g.display_name = :display_name', String],
  externalId: ['external_id', 'g.external_id = :external_id', String],
  member: ['member', `g.id IN (${OF_MEMBER})`, String],
}

export function scimReader({ dialect, reads, lists }: Database) {
  const memberships = membershipReads(dialect)
  const pages = scimStatements(dialect)
  return {
    membership: async (tenant, mode, key) =>
      asOf(await reads.get(memberships[mode], membershipValues(tenant, mode, key)), membershipReading),

    readScimUser: async (tenant, id) => orNull(await lists.get(pages.user, byId(tenant, id)), scimUser),

    async usersOfScimId(tenant, mode, id) {
      const row = await lists.get(pages.user, byId(tenant, id))
      const member = row === undefined ? null : memberKeyOf(mode, scimUser(row))
      if (member === null || mode !== 'claim') return member === null ? [] : [member]
      return (await lists.all(SUBS_OF_MEMBER, { tenant, member })).map((each) => text(each, 'sub'))
    },

    readScimGroup: async (tenant, id) => orNull(await lists.get(pages.group, byId(tenant, id)), scimGroup),

    listScimUsers: (tenant, page: ScimPage<ScimUserFilter>) =>
      listOf(
        lists,
        { table: 'scim_users u', pageOf: pages.users, filters: USER_FILTERS, toValue: scimUser },
        tenant,
        page,
      ),

    listScimGroups: (tenant, page: ScimPage<ScimGroupFilter>) =>
      listOf(
        lists,
        { table: 'scim_groups g', pageOf: pages.groups, filters: GROUP_FILTERS, toValue: scimGroup },
        tenant,
        page,
      ),

    async listScimMembers(tenant, group, { limit, after }) {
      const values = {
        tenant,
        group: storableOrEmpty(group),
        after: storableOrEmpty(after ?? ''),
        rows: limit + 1,
      }
      const rows = await lists.all(pages.members, values)
      return { data: rows.slice(0, limit).map(scimMember), hasMore: rows.length > limit }
    },
  } satisfies Partial<ScimStore>
}

/** What a list is of. */
interface Listed<V, F> {
  readonly table: string
  readonly pageOf: (condition: string) => string
  readonly filters: Filters<F>
  readonly toValue: (row: Row) => V
}

async function listOf<V, F extends object>(
  lists: Lists,
  { table, pageOf, filters, toValue }: Listed<V, F>,
  tenant: string,
  { filter, startIndex, count }: ScimPage<F>,
): Promise<ScimList<V>> {
  const { condition, values } = conditionOf(filters, filter, table.slice(-1))
  const all = { tenant, ...values }
  const counted = await lists.get(`SELECT count(*) AS total FROM ${table} WHERE ${condition}`, all)
  const total = integer(counted ?? {}, 'total')
  const [rows, offset] = [Math.min(count, MAX_SCIM_PAGE), Math.max(startIndex, 1) - 1]
  if (rows <= 0 || offset >= total) return { data: [], total }
  const page = await lists.page(pageOf(condition), { ...all, rows, offset, limit: rows }, rows)
  return { data: page.rows.map(toValue), total }
}

function conditionOf<F extends object>(filters: Filters<F>, filter: F, alias: string) {
  const conditions = [`${alias}.tenant = :tenant`]
  const values: Record<string, string> = {}
  for (const name of Object.keys(filters) as (keyof F)[]) {
    const wanted: unknown = filter[name]
    if (typeof wanted !== 'string') continue
    const [parameter, condition, compared] = filters[name]
    conditions.push(condition)
    values[parameter] = compared(storableOrEmpty(wanted))
  }
  return { condition: conditions.join(' AND '), values }
}

function byId(tenant: string, id: string) {
  return { tenant, id: storableOrEmpty(id) }
}

function orNull<V>(row: Row | undefined, toValue: (row: Row) => V): V | null {
  return row === undefined ? null : toValue(row)
}

function scimMember(row: Row): ScimMember {
  return {
    id: text(row, 'id'),
    userName: text(row, 'user_name'),
    displayName: textOrNull(row, 'display_name'),
  }
}
