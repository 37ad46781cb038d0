/** Statements and rows of SCIM users, groups and memberships. */

import type { Change } from '../model/change.ts'
import type { MembershipKey, MembershipReading, ScimGroup, ScimMode, ScimUser } from '../model/scim.ts'
import { type Dialect, integer, type Row, text, textOrNull } from './rows.ts'
import type { Values } from './statements.ts'
import { storableOrEmpty } from './storable-text.ts'

/** The resource, which may be large, comes last. */
export const SCIM_USER_COLUMNS = `u.id, u.tenant, u.user_name, u.external_id, u.active, u.email, u.display_name, u.version,
  u.created_at, u.modified_at, u.resource`

export const SCIM_GROUP_COLUMNS =
  'g.id, g.tenant, g.display_name, g.external_id, g.member_count, g.active_count, g.version, g.created_at, g.modified_at'

/** Text that is compared without regard to case. */
export function foldedCase(value: string): string {
  return value.toLowerCase()
}

export function scimUser(row: Row): ScimUser {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    userName: text(row, 'user_name'),
    externalId: textOrNull(row, 'external_id'),
    active: integer(row, 'active') === 1,
    email: textOrNull(row, 'email'),
    displayName: textOrNull(row, 'display_name'),
    resource: JSON.parse(text(row, 'resource')),
    version: integer(row, 'version'),
    createdAt: integer(row, 'created_at'),
    modifiedAt: integer(row, 'modified_at'),
  }
}

export function scimUserRow(user: ScimUser) {
  return {
    tenant: user.tenant,
    id: user.id,
    user_name: user.userName,
    user_name_key: foldedCase(user.userName),
    external_id: user.externalId,
    active: Number(user.active),
    email: user.email,
    email_key: user.email === null ? null : foldedCase(user.email),
    display_name: user.displayName,
    version: user.version,
    created_at: user.createdAt,
    modified_at: user.modifiedAt,
    resource: JSON.stringify(user.resource),
  }
}

export function scimGroup(row: Row): ScimGroup {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    displayName: text(row, 'display_name'),
    externalId: textOrNull(row, 'external_id'),
    memberCount: integer(row, 'member_count'),
    activeCount: integer(row, 'active_count'),
    version: integer(row, 'version'),
    createdAt: integer(row, 'created_at'),
    modifiedAt: integer(row, 'modified_at'),
  }
}

export function scimGroupRow(group: ScimGroup) {
  return {
    tenant: group.tenant,
    id: group.id,
    display_name: group.displayName,
    external_id: group.externalId,
    member_count: group.memberCount,
    active_count: group.activeCount,
    version: group.version,
    created_at: group.createdAt,
    modified_at: group.modifiedAt,
  }
}

/**
 * The point read of a decision, by what the member key is: one statement that also reads the counter. The
 * groups are looked up one by one: PostgreSQL without statistics joins them in any order, which takes ten
 * times as long for a user in 1,000 groups.
 */
export function membershipReads({ list, lookup }: Dialect): Readonly<Record<ScimMode, string>> {
  const of = (condition: string) =>
    `SELECT c.seq, c.mark, u.id, u.active,
      (SELECT ${list('l.display_name', 'l.display_name')} FROM scim_members m
        ${lookup('scim_groups', 'l.tenant = m.tenant AND l.id = m.group_id')}
        WHERE m.tenant = u.tenant AND m.user_id = u.id) AS groups
      FROM counter c LEFT JOIN scim_users u ON u.tenant = :tenant AND ${condition}`
  const externalId = of('u.external_id = :key')
  return {
    externalId,
    claim: externalId,
    // The index has the name in lower case.
    userName: of('u.user_name_key = :user_name_key AND u.user_name = :key'),
  }
}

/** The parameters of {@link membershipReads}. No user has the key `''`. */
export function membershipValues(tenant: string, mode: ScimMode, wanted: string): Values {
  const key = storableOrEmpty(wanted)
  return mode === 'userName' ? { tenant, key, user_name_key: foldedCase(key) } : { tenant, key }
}

export function membershipReading(row: Row): MembershipReading {
  if (row.id === null) return { user: null }
  return { user: { active: integer(row, 'active') === 1, groups: JSON.parse(text(row, 'groups')) } }
}

/** Each `sub` that signed in with a member key of mode `claim`. */
export const SUBS_OF_MEMBER = 'SELECT sub FROM users WHERE tenant = :tenant AND member = :member ORDER BY sub'

/** The change of a user with these keys; null: of every user. */
export function membershipChange(tenant: string, key: MembershipKey): Change {
  return { tenant, kind: 'membership', key: JSON.stringify(key) }
}

export function membershipKey({
  externalId,
  userName,
}: Pick<ScimUser, 'externalId' | 'userName'>): NonNullable<MembershipKey> {
  return [externalId, userName]
}

/** The member key of a user; null: it has none, and no caller is this user. */
export function memberKeyOf(
  mode: ScimMode,
  { externalId, userName }: Pick<ScimUser, 'externalId' | 'userName'>,
): string | null {
  return mode === 'userName' ? userName : externalId
}
