/** Another history with the same numbers: a restored backup, a replica that lost writes, another database. */

import type { Test } from 'tap'
import type { Store } from '../../../../seats-admin/index.ts'
import type { PostgresServer } from '../../../support/servers/postgres.ts'
import { BEGINNING, column, done, seat, writer } from '../conformance.ts'
import { databaseOf, emptyDatabase, open } from './support.ts'

export function marks(t: Test, server: PostgresServer): void {
  async function opened(t: Test, count: number) {
    const url = await emptyDatabase(server)
    const store = await open(t, { url })
    await write(store, 'a', count)
    const query = (text: string) => server.query(`SET search_path = seatgate; ${text}`, [], databaseOf(url))
    return { store, query }
  }

  async function write(store: Store, prefix: string, count: number): Promise<void> {
    for (let at = 0; at < count; at++) await seat(store, `${prefix}${at}`)
  }

  /** Simulates the loss of all writes from this number on. */
  const loseFrom = (seq: number) => `
  DELETE FROM changes WHERE seq >= ${seq};
  UPDATE counter SET (seq, mark) = (SELECT seq, mark FROM changes ORDER BY seq DESC LIMIT 1)`

  t.test('writes are lost, and their numbers are reused', async (t) => {
    const { store, query } = await opened(t, 5)
    const before = await store.changesSince(null)
    await query(loseFrom(7))
    t.equal((await store.changesSince(before.head)).changes, null, 'ahead of the head')
    const kept = before.changes?.[5] ?? BEGINNING
    t.same((await store.changesSince(kept)).changes, [], 'a reader that knows only kept changes continues')
    await write(store, 'b', 2)
    t.equal((await store.changesSince(null)).head.seq, before.head.seq, 'as far as before')
    t.equal((await store.changesSince(before.head)).changes, null)
    t.equal((await store.changesSince(before.changes?.[6] ?? null)).changes, null)
    t.equal((await store.changesSince(kept)).changes?.length, 4)
    await write(store, 'c', 3)
    t.equal((await store.changesSince(before.head)).changes, null, 'and beyond')
  })

  t.test('an instance that follows gets no changes', async (t) => {
    const { store, query } = await opened(t, 2)
    const { registry } = store
    await registry?.register('a', 'a')
    const before = await registry?.follow('a', 1, null, 0)
    await query(loseFrom(3))
    await write(store, 'b', 1)
    const after = await registry?.follow('a', 2, before?.head ?? null, 0)
    t.same([after?.registered, after?.head.seq, after?.changes], [true, 4, null])
    t.same((await registry?.follow('a', 3, after?.head ?? null, 0))?.changes, [])
  })

  t.test('another database', async (t) => {
    const [one, two] = [await opened(t, 3), await opened(t, 3)]
    const { head } = await one.store.changesSince(null)
    t.same((await one.store.changesSince(head)).changes, [])
    t.equal((await two.store.changesSince(head)).changes, null)
  })

  t.test('the newest 10,000 changes are kept', async (t) => {
    const { store, query } = await opened(t, 1)
    const many = Array.from({ length: 5000 }, (_, at) => `k${at}`)
    const held = await seat(store, 'held')
    await query(`INSERT INTO api_keys SELECT 'acme', 'k' || n, 'k', '', 'x', 0, NULL, NULL FROM generate_series(0, 4999) n;
    INSERT INTO api_key_seats SELECT 'acme', 'k' || n, 0, '${held.id}' FROM generate_series(0, 4999) n`)
    const deleted = done(await store.deleteSeat(writer(), held.id))
    const keys = column(deleted.changes.slice(2), 'key')
    t.same(new Set(keys), new Set(many), 'one write returns all of them')
    t.equal(deleted.seq, 5006)
    const { id } = await seat(store, 'b')
    await query(
      `INSERT INTO api_key_seats SELECT 'acme', 'k' || n, 0, '${id}' FROM generate_series(0, 4999) n`,
    )
    const { seq, mark } = done(await store.deleteSeat(writer(), id))
    t.equal(seq, 10_010)
    const { head, changes } = await store.changesSince(null)
    t.same(head, { seq, mark })
    t.same([changes?.length, changes?.[0]?.seq, changes?.at(-1)?.seq], [10_000, 11, 10_010])
    t.equal((await store.changesSince(BEGINNING)).changes, null)
    t.equal((await store.changesSince({ seq: 5010, mark })).changes?.length, 5000)
  })
}
