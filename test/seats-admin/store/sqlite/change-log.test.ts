import { join } from 'node:path'
import t from 'tap'
import { monotonic } from '../../../../seats-admin/store/monotonic.ts'
import { connect } from '../../../../seats-admin/store/sqlite/sqlite-connection.ts'
import { SqliteDatabase } from '../../../../seats-admin/store/sqlite/sqlite-database.ts'
import { BEGINNING } from '../conformance.ts'
import { open, temporaryFolder } from './support.ts'

t.test('the newest 10,000 changes are kept, numbered without gaps', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  await (await open(t, { path })).close()
  const database = connect(path, 'rw', 0)
  const call = { elapsed: () => 0, deadline: () => monotonic() + 60_000, throwIfExpired() {} }
  const { write } = new SqliteDatabase(database, call)
  const changes = Array.from({ length: 3000 }, (_, at) => ({
    tenant: 'acme',
    kind: 'session' as const,
    key: `${at}`,
  }))
  const seqs: number[] = []
  while (seqs.length < 4) {
    const { seq } = await write(null, (transaction) => transaction.commit([], changes, {}))
    seqs.push(seq)
  }
  t.same(seqs, [3000, 6000, 9000, 12_000])
  const kept = database
    .prepare('SELECT count(*) AS n, min(seq) AS first, max(seq) AS last FROM changes')
    .get()
  t.same({ ...kept }, { n: 10_000, first: 2001, last: 12_000 })
  database.close()

  const store = await open(t, { path })
  const { head, changes: all } = await store.changesSince(null)
  t.same([head.seq, all?.length, all?.[0]?.seq, all?.at(-1)?.seq], [12_000, 10_000, 2001, 12_000])
  t.same(await store.changesSince(BEGINNING), { head, changes: null })
  t.same((await store.changesSince({ ...head, seq: 11_998 })).changes, all?.slice(-2))
  t.same(
    all?.slice(-2).map(({ tenant, kind, key }) => ({ tenant, kind, key })),
    changes.slice(-2),
  )
  t.equal(new Set(all?.map(({ mark }) => mark)).size, 4, 'one mark for each commit')
})
