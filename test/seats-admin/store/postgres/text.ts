/** Text that PostgreSQL can't hold, or that a collation compares in its own way. */

import type { Test } from 'tap'
import type { PostgresServer } from '../../../support/servers/postgres.ts'
import { allNames, refused, seat, tried, writer } from '../conformance.ts'
import { open, openEmpty } from './support.ts'

export function text(t: Test, server: PostgresServer): void {
  t.test('names that can not be stored are refused and never found', async (t) => {
    const store = await openEmpty(t, server)
    const { id } = await seat(store, 'A')
    const { create, update } = tried(store)
    for (const name of ['\0', 'A\0', '\0A', '\ud800', 'A\udc00']) {
      t.equal(await create(name), 'input_invalid')
      t.equal(await update(id, { name }), 'input_invalid')
      const key = await store.createApiKey(writer(), { name, seats: [], expiresAt: null })
      t.equal(refused(key), 'input_invalid')
      t.equal((await store.seatByName('acme', name)).value.seat, null)
      t.equal((await store.seatById('acme', name)).value, null)
    }
    t.equal((await store.changesSince(null)).head.seq, 2)
  })

  t.test('such spaces and permissions are stored unchanged', async (t) => {
    const store = await openEmpty(t, server)
    const odd = { spaces: ['\0', '\ud800'], permissions: ['\udc00:\0', '💺'] }
    const { id } = await seat(store, 'A', odd.spaces, odd.permissions)
    t.match((await store.seatById('acme', id)).value, odd)
  })

  t.test('a database whose collation ignores case or accents', async (t) => {
    const made = server.query(
      `CREATE DATABASE german LOCALE_PROVIDER icu ICU_LOCALE 'de-u-ks-level1' TEMPLATE template0`,
    )
    if ((await Promise.allSettled([made]))[0].status === 'rejected') {
      t.pass({ skip: 'this server has no such databases' })
      return
    }
    const store = await open(t, { url: server.urlOf('german') })
    const names = ['b', 'B', 'a', 'ä', 'A', 'ß', 'ss']
    for (const name of names) await seat(store, name)
    for (const name of names) t.equal((await store.seatByName('acme', name)).value.seat?.name, name)
    t.same(await allNames(store), names)
  })
}
