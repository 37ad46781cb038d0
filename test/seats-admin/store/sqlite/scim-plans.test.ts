/** Statements of SCIM read no more than they need of 100,000 users, members and groups. */

import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { groupListings } from '../../../../seats-admin/store/group-listings.ts'
import { scimGroupQueries } from '../../../../seats-admin/store/scim-group-writer.ts'
import { membershipReads } from '../../../../seats-admin/store/scim-queries.ts'
import { scimStatements } from '../../../../seats-admin/store/scim-reader.ts'
import { scimUserQueries } from '../../../../seats-admin/store/scim-user-queries.ts'
import { sqlite } from '../../../../seats-admin/store/sqlite/sqlite-database.ts'
import { mark, migrate } from '../../../../seats-admin/store/sqlite/sqlite-migrations.ts'

const database = new DatabaseSync(':memory:')
t.teardown(() => database.close())
mark(database)
migrate(database)

/** What a statement reads as a whole, but for the counter, a row of constants and the records of a parameter. */
function scans(statement: string): string[] {
  return database
    .prepare(`EXPLAIN QUERY PLAN ${statement}`)
    .all()
    .map(({ detail }) => String(detail))
    .filter((step) => step.startsWith('SCAN') && !/^SCAN (?:c|o|w|t|json_each|CONSTANT ROW)\b/.test(step))
}

t.test('no table is read as a whole', async (t) => {
  const { users, groups, ...others } = scimStatements(sqlite)
  const { group, groups: listed, members } = groupListings(sqlite)
  const statements = {
    ...membershipReads(sqlite),
    ...scimGroupQueries(sqlite),
    ...scimUserQueries(sqlite),
    ...others,
    'a group for administrators': group,
    'groups for administrators': listed,
    'members by their externalId': members('externalId'),
    'members by a claim': members('claim'),
    users: users('u.tenant = :tenant'),
    groups: groups('g.tenant = :tenant'),
  }
  for (const [name, statement] of Object.entries(statements)) t.same(scans(statement), [], name)
})

t.test('each filter has an index', async (t) => {
  const { users, groups } = scimStatements(sqlite)
  const searched = (statement: string) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${statement}`)
      .all()
      .map(({ detail }) => String(detail))
      .find((step) => /^SEARCH [ug] /.test(step))
      ?.replace(/^.*\((.*)\).*$/, '$1')
  t.equal(searched(users('u.tenant = :tenant AND u.user_name_key = :x')), 'tenant=? AND user_name_key=?')
  t.equal(searched(users('u.tenant = :tenant AND u.external_id = :x')), 'tenant=? AND external_id=?')
  t.equal(searched(users('u.tenant = :tenant AND u.display_name = :x')), 'tenant=? AND display_name=?')
  t.equal(searched(users('u.tenant = :tenant AND u.email_key = :x')), 'tenant=? AND email_key=?')
  t.equal(searched(groups('g.tenant = :tenant AND g.display_name = :x')), 'tenant=? AND display_name=?')
  t.equal(searched(groups('g.tenant = :tenant AND g.external_id = :x')), 'tenant=? AND external_id=?')
  const ofMember = `g.id IN (SELECT m.group_id FROM scim_members m WHERE m.tenant = :tenant AND m.user_id = :x)`
  t.equal(searched(groups(`g.tenant = :tenant AND ${ofMember}`)), 'tenant=? AND id=?')
})
