/** Statements of grants find the grants of a user by an index, however many the Seat and the tenant have. */

import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { rangeQueries } from '../../../../seats-admin/store/range-listings.ts'
import { grantQueries, grantReads } from '../../../../seats-admin/store/seat-grant-queries.ts'
import { sqlite } from '../../../../seats-admin/store/sqlite/sqlite-database.ts'
import { mark, migrate } from '../../../../seats-admin/store/sqlite/sqlite-migrations.ts'

const database = new DatabaseSync(':memory:')
t.teardown(() => database.close())
mark(database)
migrate(database)

/** What a statement takes from the table, by the alias of its rows there. */
function searches(statement: string, alias: string): string[] {
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${statement}`).all()
  const step = new RegExp(`^SEARCH ${alias} USING (?:.* )?INDEX (\\w*grants\\w*) \\((.*)\\)`)
  return steps.flatMap(({ detail }) => step.exec(String(detail))?.slice(1, 3).join(': ') ?? [])
}

t.test('readings of decisions', async (t) => {
  const { grants, userGrants } = grantReads(sqlite)
  t.same(searches(grants, 'g'), ['sqlite_autoindex_grants_1: tenant=?'])
  t.same(searches(userGrants, 'g'), ['grants_of_user: tenant=? AND sub_digest=?'])
})

t.test('lists', async (t) => {
  const { list, listOfUser, listOfSeat, ofUser, byId } = grantQueries(sqlite)
  t.same(searches(list, 'g'), ['sqlite_autoindex_grants_1: tenant=? AND id>?'])
  t.same(searches(listOfUser, 'g'), ['grants_of_user: tenant=? AND sub_digest=? AND id>?'])
  t.same(searches(listOfSeat, 'g'), ['grants_of_seat: tenant=? AND seat_id=? AND id>?'])
  t.same(searches(ofUser, 'grants'), ['grants_of_user: tenant=? AND sub_digest=?'])
  t.same(searches(byId, 'g'), ['sqlite_autoindex_grants_1: tenant=? AND id=?'])
})

t.test('users with Seats', async (t) => {
  const { users, usersGranting } = rangeQueries(sqlite, null)
  t.same(searches(users, 'l'), ['grants_of_member: tenant=? AND user=?'])
  t.same(searches(usersGranting, 'l'), [
    'grants_of_member: tenant=? AND user=?',
    'grants_of_member: tenant=? AND user=? AND seat_id=?',
  ])
})
