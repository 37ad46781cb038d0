/** The statements of writes of SCIM users. */

import type { Dialect } from './rows.ts'
import { SCIM_USER_COLUMNS, SUBS_OF_MEMBER } from './scim-queries.ts'

export function scimUserQueries({ memberColumn }: Dialect) {
  const ofUser = 'SELECT m.group_id FROM scim_members m WHERE m.tenant = :tenant AND m.user_id = :id'
  return {
    find: `SELECT u.former, ${SCIM_USER_COLUMNS} FROM scim_users u WHERE u.tenant = :tenant AND u.id = :id`,
    taken: `SELECT user_name_key FROM scim_users WHERE tenant = :tenant AND id <> :id
      AND (user_name_key = :user_name_key OR external_id = :external_id)`,
    insert: `INSERT INTO scim_users (tenant, id, user_name, user_name_key, external_id, active, email, email_key,
        display_name, version, created_at, modified_at, resource)
      VALUES (:tenant, :id, :user_name, :user_name_key, :external_id, :active, :email, :email_key,
        :display_name, :version, :created_at, :modified_at, :resource)`,
    update: `UPDATE scim_users SET user_name = :user_name, user_name_key = :user_name_key, external_id = :external_id,
        active = :active, email = :email, email_key = :email_key, display_name = :display_name, version = :version,
        modified_at = :modified_at, resource = :resource
      WHERE tenant = :tenant AND id = :id`,
    setFormer: 'UPDATE scim_users SET former = :former WHERE tenant = :tenant AND id = :id',
    countActive: `UPDATE scim_groups SET active_count = active_count + :delta WHERE tenant = :tenant AND id IN (${ofUser})`,
    groups: `${ofUser} ORDER BY m.group_id`,
    leave: `UPDATE scim_groups SET member_count = member_count - 1, active_count = active_count - :active,
        version = version + 1, modified_at = :modified_at
      WHERE tenant = :tenant AND id IN (${ofUser})`,
    removeMemberships: 'DELETE FROM scim_members WHERE tenant = :tenant AND user_id = :id',
    delete: 'DELETE FROM scim_users WHERE tenant = :tenant AND id = :id',
    /** A sign-in knows better. */
    know: `INSERT INTO users (tenant, sub, email, name, last_sign_in) VALUES (:tenant, :sub, :email, :name, NULL)
      ON CONFLICT (tenant, sub) DO UPDATE SET email = excluded.email, name = excluded.name
      WHERE users.last_sign_in IS NULL`,
    /** Users of before their sign-ins were recorded have Seats, and others have them by grants. */
    forget: `DELETE FROM users WHERE tenant = :tenant AND sub = :sub AND last_sign_in IS NULL
      AND NOT EXISTS (SELECT 1 FROM members m WHERE m.tenant = :tenant AND m.${memberColumn} = :member)
      AND NOT EXISTS (SELECT 1 FROM grants g WHERE g.tenant = :tenant AND g.${memberColumn} = :member)`,
    subsOf: SUBS_OF_MEMBER,
    answer: `SELECT r.answer FROM revocations r WHERE r.tenant = :tenant AND r.subject_digest = :digest
      ORDER BY r.id DESC LIMIT 1`,
    /** Whether a sign-in is like the last one, and its SCIM user active or unknown. */
    isRecorded: `SELECT u.sub FROM users u WHERE u.tenant = :tenant AND u.sub = :sub AND u.member = :member
      AND NOT EXISTS (SELECT 1 FROM scim_users s WHERE s.tenant = :tenant AND s.external_id = :member AND s.active = 0)`,
    record: `INSERT INTO users (tenant, sub, member) VALUES (:tenant, :sub, :member)
      ON CONFLICT (tenant, sub) DO UPDATE SET member = excluded.member`,
    isActive: 'SELECT active FROM scim_users WHERE tenant = :tenant AND external_id = :member',
  }
}
