/** The largest listings, from SQLite. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { monotonic } from '../../../../seats-admin/store/monotonic.ts'
import { connect, CallExpired } from '../../../../seats-admin/store/sqlite/sqlite-connection.ts'
import { methodsOn } from '../../../../seats-admin/store/sqlite/sqlite-database.ts'
import { ADMIN, done, inSpace, PAGE, writer } from '../conformance.ts'
import { listings } from '../listings.ts'
import { open, temporaryFolder } from './support.ts'

listings(t, (t) => open(t, { path: join(temporaryFolder(t), 'seatgate.db') }))

t.test('a page that ends early reads no more', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path })
  const spaces = Array.from({ length: 25_000 }, (_, at) => `space-${at}`)
  for (let at = 0; at < 6; at++)
    done(await store.createSeat(writer(), { name: `s${at}`, spaces, permissions: [] }))
  t.equal((await store.listSeats('acme', PAGE)).hasMore, true)
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  const { busy } = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
  t.equal(busy, 0)
})

t.test('nothing is read for a caller that has timed out', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path })
  for (let at = 0; at < 8; at++)
    done(await store.createSeat(writer(), { name: `s${at}`, spaces: ['one'], permissions: [] }))
  await store.close()
  const database = connect(path, 'ro', 0)
  let rows = 0
  const throwIfExpired = () => {
    if (++rows > 3) throw new CallExpired()
  }
  const call = { elapsed: () => 0, deadline: () => monotonic() + 60_000, throwIfExpired }
  const reader = methodsOn(database, call, null)
  for (const scope of [ADMIN, inSpace('one')]) {
    rows = 0
    await t.rejects(reader.listSeats('acme', { ...PAGE, scope }), { name: 'CallExpired' })
    t.equal(rows, 4)
  }
  rows = -100
  t.equal((await reader.listSeats('acme', PAGE)).data.length, 8, 'and the next one is answered')
  database.close()
})
