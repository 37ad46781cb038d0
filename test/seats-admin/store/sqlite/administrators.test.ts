/** The last administrator Seat of a tenant with many Seats: the search uses an index. */

import { join } from 'node:path'
import t from 'tap'
import { connect } from '../../../../seats-admin/store/sqlite/sqlite-connection.ts'
import { sqlite } from '../../../../seats-admin/store/sqlite/sqlite-database.ts'
import { otherAdministratorValues, seatQueries } from '../../../../seats-admin/store/seat-writer.ts'
import { ADMIN, done, writer } from '../conformance.ts'
import { open, temporaryFolder } from './support.ts'

t.test('the search uses the index of administrator Seats', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path })
  done(await store.createSeat(writer(), { name: 'admin', spaces: ['admin'], permissions: ['*'] }))
  await store.close()
  const database = connect(path, 'rw', 0)
  database.exec(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 20000)
    INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at)
    SELECT 'acme', 'seat-' || n, 'seat ' || n, '["one"]', '["a:b","c:d"]', 'x', 0 FROM n`)
  const { administrator } = seatQueries(sqlite)
  const values = otherAdministratorValues('acme', 'none', ADMIN)
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${administrator}`).all(values)
  const steps = plan.map(({ detail }) => String(detail)).filter((each) => /SEARCH|SCAN/.test(each))
  t.match(steps, [
    /SEARCH seats USING (?:COVERING )?INDEX administrators \(tenant=\? AND spaces=\?\)/,
    /SEARCH seats USING (?:COVERING )?INDEX administrators \(tenant=\?\)/,
  ])
  t.equal(database.prepare(administrator).all(values).length, 1)
  database.close()
})
