/** Lists of SCIM groups and their members for administrators: with the Seats of groups, and users by `sub`. */

import type { ListedGroup, ListedMember } from '../model/listed-group.ts'
import type { ScimMode } from '../model/scim.ts'
import type { Database } from './database.ts'
import { listing } from './pages.ts'
import { type Dialect, integer, type Row, text, textOrNull } from './rows.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { AdminStore } from './store.ts'

/** Groups that a call examines for a part of their name. */
const MOST = 250

export function groupLister({ lists, dialect }: Database) {
  const { group, groups, members } = groupListings(dialect)
  return {
    async listedGroup(tenant, id) {
      const row = await lists.get(group, { tenant, id: storableOrEmpty(id) })
      return row === undefined ? null : listedGroup(row)
    },

    async listedGroups(tenant, { limit, after, q }) {
      const size = q === null ? limit : MOST
      const values = { tenant, after: storableOrEmpty(after ?? ''), rows: size + 1 }
      const rows = await lists.all(groups, values)
      const examined = rows.slice(0, size)
      const matches = examined.filter((row) => q === null || isPart(q, text(row, 'display_name')))
      const data = matches.slice(0, limit).map(listedGroup)
      if (matches.length > limit) return listing(data, data.at(-1)?.id ?? null)
      const last = examined.at(-1)
      return listing(data, rows.length > size && last !== undefined ? text(last, 'id') : null)
    },

    async listedMembers(tenant, mode, group, { limit, after }) {
      const values = {
        ...{ tenant, group: storableOrEmpty(group), after: storableOrEmpty(after ?? '') },
        rows: limit + 1,
      }
      const rows = await lists.all(members(mode), values)
      const data = rows.slice(0, limit).map(listedMember)
      return listing(data, rows.length > limit ? (data.at(-1)?.id ?? null) : null)
    },
  } satisfies Partial<AdminStore>
}

/** `group` and `groups` look the Seat of each up by its name, `members` each `sub` of a user. */
export function groupListings(dialect: Dialect) {
  const columns = `g.id, g.display_name, g.member_count, g.active_count,
    (SELECT l.seat_id FROM (SELECT 1 AS one) o ${dialect.seatNamed('g.display_name')}) AS seat_id`
  const subs: Readonly<Record<ScimMode, string>> = {
    externalId: 'u.external_id',
    userName: 'u.user_name',
    claim: `(SELECT ${dialect.list('w.sub', 'w.sub')} FROM users w
      WHERE w.tenant = :tenant AND w.member = u.external_id)`,
  }
  return {
    group: `SELECT ${columns} FROM scim_groups g WHERE g.tenant = :tenant AND g.id = :id`,
    groups: `SELECT ${columns} FROM scim_groups g
      WHERE g.tenant = :tenant AND g.id > :after ORDER BY g.id LIMIT :rows`,
    members: (mode: ScimMode) => `SELECT u.id, u.user_name, u.display_name, u.active,
        ${subs[mode]} AS ${mode === 'claim' ? 'subs' : 'sub'}
      FROM scim_members m JOIN scim_users u ON u.tenant = m.tenant AND u.id = m.user_id
      WHERE m.tenant = :tenant AND m.group_id = :group AND m.user_id > :after ORDER BY m.user_id LIMIT :rows`,
  }
}

/** Without regard to case. */
function isPart(part: string, name: string): boolean {
  return name.toLowerCase().includes(part.toLowerCase())
}

function listedGroup(row: Row): ListedGroup {
  return {
    id: text(row, 'id'),
    displayName: text(row, 'display_name'),
    memberCount: integer(row, 'member_count'),
    activeCount: integer(row, 'active_count'),
    seatId: textOrNull(row, 'seat_id'),
  }
}

function listedMember(row: Row): ListedMember {
  const sub = 'subs' in row ? null : textOrNull(row, 'sub')
  return {
    id: text(row, 'id'),
    userName: text(row, 'user_name'),
    displayName: textOrNull(row, 'display_name'),
    active: integer(row, 'active') === 1,
    users: 'subs' in row ? JSON.parse(text(row, 'subs')) : sub === null ? [] : [sub],
  }
}
