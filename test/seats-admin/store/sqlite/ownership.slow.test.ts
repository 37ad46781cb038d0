/** Ownership of a store: by the lock file that the store names, and by other processes with the database open. */

import { existsSync, linkSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { openSqliteStore, type Store, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { mark, MIGRATIONS, migrate } from '../../../../seats-admin/store/sqlite/sqlite-migrations.ts'
import { done, writer } from '../conformance.ts'
import { open, otherProgram, temporaryFolder } from './support.ts'

// Each test has a file of its own, and waits for locks most of the time.
t.jobs = 3
const seat = { name: 'A', spaces: [], permissions: [] }
const gateway = (lock: string) => ({ lock, takes: true })
const worker = (lock: string) => ({ lock, takes: false })

async function empty(t: Test): Promise<string> {
  const path = join(temporaryFolder(t), 'seatgate.db')
  await (await openSqliteStore({ path })).close()
  return path
}

function ownerOf(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database.prepare('SELECT owner FROM counter').get()
  database.close()
  return row?.owner
}

t.test(
  'the first gateway takes it, with the writes in its log; so does the next gateway with the same lock',
  async (t) => {
    const path = await empty(t)
    t.equal(ownerOf(path), '')
    for (let round = 0; round < 2; round++) {
      const store = await open(t, { path, owner: gateway('1:1') })
      t.equal(store.ownership?.alone, round === 1, 'not when the owner changes')
      t.equal(ownerOf(path), '1:1')
      done(await store.createSeat(writer(), { ...seat, name: `A${round}` }))
      await store.close()
    }
    const other = await open(t, { path, owner: gateway('1:2') })
    t.equal((await other.seatByName('acme', 'A1')).value.seat?.name, 'A1')
    t.equal(ownerOf(path), '1:2', 'by another lock, as no process has it open')
    t.equal(other.ownership?.alone, false, 'the previous gateway may have a lease')
    const created = join(temporaryFolder(t), 'new.db')
    const first = await open(t, { path: created, owner: gateway('1:1') })
    t.equal(first.ownership?.alone, true, 'created by this opening: there is no previous gateway')
    t.equal((await open(t, { path })).ownership, null, 'the command line owns nothing')
  },
)

t.test('another program has it open', async (t) => {
  const path = await empty(t)
  const first = await open(t, { path, owner: gateway('1:1') })
  await first.close()
  const close = await otherProgram(t, path, 'SELECT count(*) FROM seats')
  const again = await open(t, { path, owner: gateway('1:1') })
  t.equal(again.ownership?.alone, false, 'by the same lock: it may be a worker of the previous gateway')
  await again.close()
  const refused: Promise<Store> = openSqliteStore({ path, owner: gateway('1:2'), timeout: 500 })
  await t.rejects(refused, StoreUnavailable)
  await t.rejects(refused, /cannot be opened: another process has the file open/)
  t.equal(ownerOf(path), '1:1')
  const waiting = openSqliteStore({ path, owner: gateway('1:2') })
  await close()
  const store = await waiting
  t.teardown(() => store.close())
  t.equal(ownerOf(path), '1:2', 'as soon as it is closed')
})

t.test('superseded: all its processes stop reading the feed and writing', async (t) => {
  const path = await empty(t)
  const store = await open(t, { path, owner: gateway('1:1') })
  const ofWorker = await open(t, { path, owner: worker('1:1') })
  const { head } = await store.changesSince(null)
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  database.exec("UPDATE counter SET owner = '1:2'")
  await t.rejects(ofWorker.createSeat(writer(), seat), /another gateway has taken over this store/)
  await t.rejects(store.changesSince(head), /another gateway has taken over this store/)
  t.match(await store.ownership?.superseded, { message: /taken over this store/ })
  database.exec("UPDATE counter SET owner = '1:1'")
  await t.rejects(store.changesSince(head), StoreUnavailable, 'permanently')
  await t.rejects(store.createSeat(writer(), seat), StoreUnavailable)
  t.equal(database.prepare('SELECT count(*) AS n FROM seats').get()?.n, 0)
  await t.rejects(openSqliteStore({ path, owner: worker('1:2') }), /taken over this store/)
})

t.test(
  'a store that names no gateway and is moved into its place is taken too, by the gateway and then by its workers',
  async (t) => {
    const path = await empty(t)
    const store = await open(t, { path, owner: gateway('1:1') })
    const ofWorker = await open(t, { path, owner: worker('1:1') })
    const other = await empty(t)
    renameSync(other, path)
    for (const suffix of ['-wal', '-shm']) renameSync(path + suffix, `${path}.gone${suffix}`)
    await t.rejects(ofWorker.createSeat(writer(), seat), StoreUnavailable)
    await t.rejects(store.changesSince(null), /moved, deleted or replaced/)
    await store.changesSince(null)
    t.equal(ownerOf(path), '1:1')
    done(await ofWorker.createSeat(writer(), seat))
    done(await store.createSeat(writer(), { ...seat, name: 'B' }))
  },
)

t.test('a store that names no gateway is taken while another program has it open', async (t) => {
  for (const old of [false, true]) {
    const path = old ? fromBeforeOwners(t) : await empty(t)
    const reader = new DatabaseSync(path, { readOnly: true })
    t.teardown(() => reader.close())
    reader.prepare('SELECT * FROM counter').all()
    const store = await open(t, { path, owner: gateway('1:1') })
    t.equal(store.ownership?.alone, false, 'the program may be a gateway with a lease')
    t.equal(ownerOf(path), '1:1')
    done(await store.createSeat(writer(), seat))
    const refused = openSqliteStore({ path, owner: gateway('1:2'), timeout: 500 })
    await t.rejects(refused, /another process has the file open/, 'it is taken only once')
  }
})

/** A store of the version before owners. */
function fromBeforeOwners(t: Test): string {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const database = new DatabaseSync(path)
  mark(database)
  const owners = MIGRATIONS.findIndex((step) => step.includes('ADD COLUMN owner'))
  migrate(database, MIGRATIONS.slice(0, owners))
  database.close()
  return path
}

t.test('the store of another gateway is moved into its place: superseded permanently', async (t) => {
  for (const ended of [false, true]) {
    const path = await empty(t)
    const store = await open(t, { path, owner: gateway('1:1') })
    const { head } = await store.changesSince(null)
    const folder = join(path, '..')
    renameSync(folder, `${folder}.old`)
    t.teardown(() => rmSync(`${folder}.old`, { recursive: true }))
    const other = await open(t, { path, owner: gateway('1:2') })
    if (ended) await other.close()
    await t.rejects(store.changesSince(head), /moved, deleted or replaced/)
    await t.rejects(store.changesSince(head), /another gateway has taken over this store/)
    t.match(await store.ownership?.superseded, { message: /taken over this store/ })
    if (!ended) await other.close()
    await t.rejects(store.createSeat(writer(), seat), /another gateway has taken over this store/)
    t.equal(ownerOf(path), '1:2', 'it does not take it back')
  }
})

t.test('superseded, then closed: a call is answered, without unhandled rejections', async (t) => {
  const path = await empty(t)
  const store = await open(t, { path, owner: gateway('1:1') })
  const database = new DatabaseSync(path)
  database.exec("UPDATE counter SET owner = '1:2'")
  database.close()
  await t.rejects(store.changesSince(null), /taken over this store/)
  const unhandled: unknown[] = []
  const record = (cause: unknown) => unhandled.push(cause)
  process.on('unhandledRejection', record)
  t.teardown(() => process.off('unhandledRejection', record))
  const closing = store.close()
  await t.rejects(store.seatById('acme', 'x'), /the store is closed/)
  await closing
  await new Promise((resolve) => setImmediate(resolve))
  t.same(unhandled, [])
})

t.test('a second hard link: that of a draft is removed, any other is refused', async (t) => {
  const path = await empty(t)
  const draft = `${path}.0a000000-0000-4000-8000-000000000000.new`
  linkSync(path, draft)
  await (await openSqliteStore({ path })).close()
  t.notOk(existsSync(draft))
  linkSync(path, `${path}.backup`)
  await t.rejects(openSqliteStore({ path }), /the file has 2 hard links/)
  await t.rejects(openSqliteStore({ path: `${path}.backup` }), /the file has 2 hard links/)
  t.same(readdirSync(join(path, '..')), ['seatgate.db', 'seatgate.db.backup'])
})
