/** A store of the version before tables in the store, with a Seat. For each driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import { NO_TABLES } from '../../../seats-admin/model/tables-version.ts'
import { ADMIN, BEGINNING, done, refused, writer } from './conformance.ts'
import { COMPILED, candidate, propose, push } from './tables-conformance.ts'

const FILES = { 'a.yaml': 'routes: []\n' }

/** As the version before writes it: a Seat of this id, with its change. @param isAudited a true value of the database */
export function seatBeforeTables(id: string, seq: number, isAudited: string): string {
  return `INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at)
      VALUES ('acme', '${id}', 'Seat ${id}', '["one"]', '["a:b"]', 'alice', 1);
    INSERT INTO changes (seq, mark, tenant, kind, key, audited) VALUES (${seq}, 7, 'acme', 'seat', '${id}', ${isAudited});
    UPDATE counter SET seq = ${seq}, mark = 7`
}

/** @param older writes another Seat as the version before, which may still run; null: it can not */
export async function upgradedToTables(
  t: Test,
  store: Store,
  older: (() => Promise<void>) | null,
): Promise<void> {
  t.match((await store.changesSince(BEGINNING)).changes, [{ seq: 1, kind: 'seat', key: 'a' }])
  t.same(await store.activeTables('acme'), { seq: 1, mark: 7, value: NO_TABLES })
  t.same(await store.listTables('acme', { limit: 9, after: null }), { data: [], hasMore: false })
  await older?.()
  const made = await push(store, FILES)
  t.equal(made.seq, older === null ? 3 : 4)
  t.match((await store.activeTables('acme')).value, { version: 1, files: FILES })
  for (const id of older === null ? ['a'] : ['a', 'b'])
    t.match(done(await store.readSeat('acme', id, ADMIN)), { name: `Seat ${id}`, permissions: ['a:b'] })
}

/**
 * Tables by which an instance of the version before would not decide are refused while it is on the list.
 *
 * @param come puts it on the list, and `leave` takes it off
 */
export async function tablesBesideOlder(
  t: Test,
  store: Store,
  { come, leave }: Readonly<Record<'come' | 'leave', () => Promise<void>>>,
): Promise<void> {
  const { id } = await candidate(store, FILES)
  await come()
  const before = await store.changesSince(null)
  const attempts = [
    () => propose(store, { 'b.yaml': '' }),
    () => propose(store, NO_TABLES.files),
    () => store.activateTables(writer(), id, COMPILED),
  ]
  for (const attempt of attempts)
    t.match(await attempt(), {
      refused: 'unavailable',
      detail: /gw-old has an older version, which does not understand the change/,
    })
  t.same(await store.changesSince(null), before, 'nothing was changed')
  t.same((await store.activeTables('acme')).value, NO_TABLES)
  await leave()
  for (const attempt of attempts) t.equal(refused(await attempt()), 'not refused')
}
