/** Listings of the largest Seats, and of keys that name them: bounded, and in nobody's way. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import type { Page, Store } from '../../../../seats-admin/index.ts'
import { AdminReader } from '../../../../seats-admin/store/sqlite/admin-reader.ts'
import { connect, TooLate } from '../../../../seats-admin/store/sqlite/connection.ts'
import { ADMIN, done, inSpace, refused, writer } from '../conformance.ts'
import { open, temporaryFolder } from './support.ts'

const SPACES = Array.from({ length: 100_000 }, (_, at) => `space-${at}`)
const all: Page = { limit: 100, after: null, scope: ADMIN }

async function withSeats(t: Test, count: number, spaces: readonly string[]): Promise<[string, Store]> {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path, timeout: 30_000 })
  for (let at = 0; at < count; at++) {
    done(await store.createSeat(writer(), { name: `s${at}`, spaces, permissions: [] }))
  }
  return [path, store]
}

t.test('keys of huge Seats are listed without a look at what the Seats hold', async (t) => {
  const [, store] = await withSeats(t, 40, SPACES)
  const seats = Array.from({ length: 40 }, (_, at) => `s${at}`)
  for (let at = 0; at < 60; at++)
    done(await store.createApiKey(writer(), { name: 'k', seats, expiresAt: null }))
  const { data } = await store.listApiKeys('acme', all)
  t.equal(data.length, 60, 'of which all the spaces would be 3 GB')
  t.ok(data.every((key) => key.seats.length === 40))
  t.same(done(await store.readApiKey('acme', data[0]?.id ?? '', ADMIN)).seats, seats)

  const scope = inSpace('one', '*')
  done(await store.createSeat(writer(), { name: 'mine', spaces: ['one'], permissions: [] }))
  const make = (of: string[]) => store.createApiKey(writer(), { name: 'k', seats: of, expiresAt: null })
  const mine = done(await make(['mine'])).value.id
  const mixed = done(await make(['mine', ...seats])).value.id
  const seen = await store.listApiKeys('acme', { ...all, scope })
  t.same(
    seen.data.map((key) => key.id),
    [mine],
  )
  t.equal(refused(await store.readApiKey('acme', mine, scope)), 'not refused')
  for (const id of [mixed, data[0]?.id ?? '']) {
    t.equal(refused(await store.readApiKey('acme', id, scope)), 'api_key_not_found')
    t.equal(refused(await store.revokeApiKey(writer(scope), id)), 'grant_exceeds_own')
    t.equal(refused(await store.revokeApiKey(writer(), id)), 'not refused')
  }
})

t.test('a page ends at some megabytes, and the next goes on behind it', async (t) => {
  const [path, store] = await withSeats(t, 12, SPACES)
  const sizes: number[] = []
  const names: string[] = []
  for (let after: string | null = null, more = true; more;) {
    const { data, hasMore } = await store.listSeats('acme', { ...all, after })
    sizes.push(data.length)
    names.push(...data.map((each) => each.name))
    after = data.at(-1)?.id ?? null
    more = hasMore
  }
  t.same(
    names,
    Array.from({ length: 12 }, (_, at) => `s${at}`),
  )
  t.same(sizes, [4, 4, 4], 'of 1.2 MB each, the last page exact')
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  const { busy } = other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? {}
  t.equal(busy, 0, 'a page that ended early reads no more')
})

t.test('what administration reads waits in a queue of its own', async (t) => {
  const [, store] = await withSeats(t, 8, SPACES)
  const settled: string[] = []
  const note = (what: string) => () => settled.push(what)
  const lists = Array.from({ length: 8 }, () => store.listSeats('acme', all).then(note('list')))
  const { id } = (await store.seatByName('acme', 's0')).value.seat ?? { id: '' }
  const reads = Array.from({ length: 8 }, () => store.readSeat('acme', id, ADMIN).then(note('read')))
  const keys = store.listApiKeys('acme', all).then(note('keys'))
  await store.changesSince(0).then(note('feed'))
  await Promise.all([...lists, ...reads, keys])
  t.ok(settled.indexOf('feed') < settled.lastIndexOf('list'), settled.join())
})

t.test('nothing is read for a caller who has given up', async (t) => {
  const [path, store] = await withSeats(t, 8, ['one'])
  await store.close()
  const database = connect(path, 'ro', 0)
  let rows = 0
  const timely = () => {
    if (++rows > 3) throw new TooLate()
  }
  const reader = new AdminReader(database, { waited: () => 0, timely })
  for (const scope of [ADMIN, inSpace('one')]) {
    rows = 0
    t.throws(() => reader.listSeats('acme', { ...all, scope }), { name: 'TooLate' })
    t.equal(rows, 4)
  }
  rows = -100
  t.equal(reader.listSeats('acme', all).data.length, 8, 'and the next one is answered')
  database.close()
})
