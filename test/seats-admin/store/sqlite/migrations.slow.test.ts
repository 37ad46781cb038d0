import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { openSqliteStore } from '../../../../seats-admin/index.ts'
import { MIGRATIONS, mark, migrate } from '../../../../seats-admin/store/sqlite/sqlite-migrations.ts'
import { ADMIN, BEGINNING } from '../conformance.ts'
import { grantOf } from '../grant-conformance.ts'
import { storeBefore, upgraded } from '../revocation-upgrade.ts'
import { rowsBeforeScim, upgradedToScim } from '../scim-upgrade.ts'
import { seatBeforeTables, upgradedToTables } from '../tables-upgrade.ts'
import { allUsers } from '../user-conformance.ts'
import { open, temporaryFolder } from './support.ts'

t.test('four processes that create the store at once create one store', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'seatgate.db')
  const script = fileURLToPath(new URL('../open-process.ts', import.meta.url))
  const children = Array.from({ length: 4 }, (_, at) =>
    spawn(process.execPath, [script, JSON.stringify({ kind: 'sqlite', path, timeout: 60_000 }), `by ${at}`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  )
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  const exits = children.map((child) => once(child, 'exit'))
  for (const child of children) child.stdin.write('go\n')
  for (const [code] of await Promise.all(exits)) t.equal(code, 0)
  t.same(readdirSync(folder), ['seatgate.db'], 'no draft is left')
  const store = await open(t, { path })
  const names = (await store.listSeats('acme', { limit: 9, after: null, scope: ADMIN })).data.map(
    (each) => each.name,
  )
  t.same(names.toSorted(), ['by 0', 'by 1', 'by 2', 'by 3'], 'all wrote to the same store')
})

t.test('eight connections that apply the same migration at once apply it once', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  await (await openSqliteStore({ path })).close()
  const steps = [...MIGRATIONS, 'CREATE TABLE later (x INTEGER); INSERT INTO later VALUES (1)']
  const source = `
    const { DatabaseSync } = await import('node:sqlite')
    const { parentPort, workerData } = await import('node:worker_threads')
    const { migrate } = await import(workerData.module)
    const database = new DatabaseSync(workerData.path, { timeout: 10000 })
    parentPort.postMessage('ready')
    await new Promise((resolve) => parentPort.once('message', resolve))
    migrate(database, workerData.steps)
    database.close()`
  const module = new URL('../../../../seats-admin/store/sqlite/sqlite-migrations.ts', import.meta.url).href
  const threads = Array.from(
    { length: 8 },
    () =>
      new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
        workerData: { path, steps, module },
      }),
  )
  await Promise.all(threads.map((each) => once(each, 'message')))
  const exits = threads.map((each) => once(each, 'exit'))
  for (const each of threads) each.postMessage('go')
  for (const [code] of await Promise.all(exits)) t.equal(code, 0)
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  t.equal(database.prepare('SELECT count(*) AS n FROM later').get()?.n, 1)
  t.equal(database.prepare('PRAGMA user_version').get()?.user_version, steps.length)
})

t.test('a store from before marks existed', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const positions = []
  for (const copy of [path, `${path}.copy`]) {
    const database = new DatabaseSync(copy)
    mark(database)
    migrate(database, MIGRATIONS.slice(0, 1))
    for (let seq = 1; seq <= 5; seq++)
      database.prepare(`INSERT INTO changes VALUES (?, 'acme', 'seat', 'x')`).run(seq)
    database.exec('UPDATE counter SET seq = 5; PRAGMA journal_mode = WAL')
    database.close()
    const store = await open(t, { path: copy })
    const { head, changes } = await store.changesSince(null)
    t.same(
      changes?.map((each) => each.mark),
      [0, 0, 0, 0, head.mark],
    )
    t.same((await store.changesSince(BEGINNING)).changes, changes)
    t.same(await store.changesSince(head), { head, changes: [] })
    positions.push(head)
    if (copy !== path)
      t.equal((await store.changesSince(positions[0] ?? null)).changes, null, 'two histories')
  }
})

t.test('the members of a store from before users were listed become users', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const database = new DatabaseSync(path)
  mark(database)
  migrate(database, MIGRATIONS.slice(0, 5))
  database.exec(`PRAGMA journal_mode = WAL;
    INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at)
      VALUES ('acme', 'a', 'A', '["one"]', '["x:y"]', 'alice', 1), ('acme', 'b', 'B', '["two"]', '[]', 'alice', 1);
    INSERT INTO members VALUES ('acme', 'ann', 'a'), ('acme', 'ann', 'b'), ('acme', 'ben', 'b')`)
  database.close()
  const store = await open(t, { path })
  const known = { email: null, name: null, lastSignIn: null }
  t.same(await allUsers(store), [
    { sub: 'ann', ...known, seats: ['A', 'B'] },
    { sub: 'ben', ...known, seats: ['B'] },
  ])
  t.same(
    (await allUsers(store, { grant: grantOf('x:y') })).map(({ sub }) => sub),
    ['ann'],
  )
  await store.recordSignIn('acme', { sub: 'ben', email: 'ben@example.org', name: null, at: 7 }, ['b'])
  t.match(await store.readUser('acme', 'ben', ADMIN), {
    email: 'ben@example.org',
    lastSignIn: 7,
    seats: ['B'],
  })
})

t.test('the API keys of a store from before their use was recorded', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const database = new DatabaseSync(path)
  mark(database)
  migrate(database, MIGRATIONS.slice(0, 6))
  database.exec(`PRAGMA journal_mode = WAL;
    INSERT INTO api_keys VALUES ('acme', 'k', 'ci', x'00', 'alice', 1, NULL, NULL)`)
  database.close()
  const store = await open(t, { path })
  t.match(await store.readApiKey('acme', 'k', ADMIN), { name: 'ci', lastUsedAt: null })
  await store.recordKeyUse([{ tenant: 'acme', id: 'k', at: 5 }])
  t.match(await store.readApiKey('acme', 'k', ADMIN), { name: 'ci', lastUsedAt: 5 })
})

t.test('a store from before revocations', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const database = new DatabaseSync(path)
  mark(database)
  const step = MIGRATIONS.findIndex((each) => each.includes('CREATE TABLE cutoffs'))
  migrate(database, MIGRATIONS.slice(0, step))
  database.exec(`PRAGMA journal_mode = WAL; ${storeBefore((hex) => `x'${hex}'`)}`)
  database.close()
  await upgraded(t, await open(t, { path }), null)
})

t.test('a store from before SCIM', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const database = new DatabaseSync(path)
  mark(database)
  const step = MIGRATIONS.findIndex((each) => each.includes('CREATE TABLE scim_users'))
  migrate(database, MIGRATIONS.slice(0, step))
  database.exec(`PRAGMA journal_mode = WAL; ${rowsBeforeScim('A', (hex) => `x'${hex}'`)}`)
  database.close()
  await upgradedToScim(t, await open(t, { path }), null)
})

t.test('a store from before tables in the store', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const database = new DatabaseSync(path)
  mark(database)
  const step = MIGRATIONS.findIndex((each) => each.includes('CREATE TABLE tables_versions'))
  migrate(database, MIGRATIONS.slice(0, step))
  database.exec(`PRAGMA journal_mode = WAL; ${seatBeforeTables('a', 1, '1')}`)
  database.close()
  await upgradedToTables(t, await open(t, { path }), null)
})

t.test('a failed migration leaves the store unchanged', async (t) => {
  const database = new DatabaseSync(':memory:')
  t.teardown(() => database.close())
  mark(database)
  migrate(database)
  t.throws(() => migrate(database, [...MIGRATIONS, 'CREATE TABLE later (x)', 'nonsense']), /syntax error/)
  t.equal(database.isTransaction, false)
  t.equal(database.prepare('PRAGMA user_version').get()?.user_version, MIGRATIONS.length)
  t.throws(() => database.exec('SELECT * FROM later'), /no such table/)
})

t.test('a database that is not marked as a store is not changed', async (t) => {
  const database = new DatabaseSync(':memory:')
  t.teardown(() => database.close())
  t.throws(() => migrate(database), /not a Seatgate store/)
  t.equal(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n, 0)
})
