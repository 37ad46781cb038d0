/** A look at the file of a store changes nothing: no byte, no file beside it, no owner. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { inspectStore, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { mark, migrate, MIGRATIONS } from '../../../../seats-admin/store/sqlite/sqlite-migrations.ts'
import { open, temporaryFolder } from './support.ts'

const current = MIGRATIONS.length

/** Name → hash. The index of a log in use (`-shm`) has marks of its readers. */
function contents(folder: string): Record<string, string> {
  const hashOf = (name: string) =>
    name.endsWith('-shm')
      ? 'index'
      : createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')
  return Object.fromEntries(readdirSync(folder).map((name) => [name, hashOf(name)]))
}

/** Without a change of the folder. */
async function inspect(t: Test, path: string, timeout = 200) {
  const before = contents(join(path, '..'))
  try {
    return await inspectStore({ kind: 'sqlite', path }, timeout)
  } catch (cause) {
    t.type(cause, StoreUnavailable)
    return (cause as StoreUnavailable).code
  } finally {
    t.same(contents(join(path, '..')), before, 'the folder is as it was')
  }
}

t.test('no store', async (t) => {
  const folder = temporaryFolder(t)
  t.same(await inspect(t, join(folder, 'a.db')), { version: null, current })
  t.same(await inspectStore({ kind: 'sqlite', path: join(folder, 'x/y/a.db') }, 0), {
    version: null,
    current,
  })
  t.same(readdirSync(folder), [])
  writeFileSync(join(folder, 'file'), '')
  t.equal(
    await inspectStore({ kind: 'sqlite', path: join(folder, 'file/a.db') }, 0).catch((e) => e.code),
    'ENOTDIR',
  )
  writeFileSync(join(folder, 'b.db-wal'), 'x')
  t.equal(await inspect(t, join(folder, 'b.db')), null, 'a log without its file')
})

t.test('a store, closed and open', async (t) => {
  const path = join(temporaryFolder(t), 'a.db')
  await (await open(t, { path })).close()
  t.same(await inspect(t, path), { version: current, current })
  const store = await open(t, { path })
  t.same(await inspect(t, path), { version: current, current }, 'beside the program that has it open')
  await store.close()
})

t.test('an older store; its migration may be in the log only', async (t) => {
  const path = join(temporaryFolder(t), 'a.db')
  const database = new DatabaseSync(path)
  mark(database)
  database.exec('PRAGMA journal_mode = WAL')
  migrate(database, MIGRATIONS.slice(0, 2))
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  t.same(await inspect(t, path), { version: 2, current })
  migrate(database)
  t.same(await inspect(t, path), { version: current, current })
  database.close()
  t.same(await inspect(t, path), { version: current, current })
})

t.test('a file that a start refuses', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'a.db')
  const store = async () => {
    rmSync(path, { force: true })
    await (await open(t, { path })).close()
  }
  await store()
  {
    using database = new DatabaseSync(path)
    database.exec('PRAGMA user_version = 99')
  }
  t.equal(await inspect(t, path), 'NEWER_SCHEMA')
  await store()
  truncateSync(path)
  t.equal(await inspect(t, path), 'NOT_A_STORE', 'an empty file')
  writeFileSync(path, 'notes, not pages of a database\n'.repeat(100))
  t.equal(await inspect(t, path), 'SQLITE_NOTADB')
  await store()
  linkSync(path, join(folder, 'other.db'))
  t.equal(await inspect(t, path), null, 'two names')
  rmSync(join(folder, 'other.db'))
  linkSync(path, `${path}.left.new`)
  t.same(await inspect(t, path), { version: current, current }, 'the name of a draft, which a start removes')
})

t.test('a lock of another program', async (t) => {
  const path = join(temporaryFolder(t), 'a.db')
  await (await open(t, { path })).close()
  const locked = new DatabaseSync(path)
  // The index exists, as it is opened before the mode is set.
  locked.exec('SELECT * FROM counter; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  locked.exec('UPDATE counter SET id_time = 1; COMMIT')
  t.equal(await inspect(t, path), 'SQLITE_BUSY')
  const waiting = inspectStore({ kind: 'sqlite', path }, 60_000)
  locked.close()
  t.same(await waiting, { version: current, current }, 'once it is given up')
})

t.test('a user who may not write the folder', async (t) => {
  if (process.getuid?.() !== 0) return void t.pass({ skip: 'needs root, to be another user' })
  const folder = temporaryFolder(t)
  const path = join(folder, 'a.db')
  const script = `import { inspectStore } from ${JSON.stringify(new URL('../../../../seats-admin/index.ts', import.meta.url).pathname)}
    process.setuid(65534)
    const look = (path) => inspectStore({ kind: 'sqlite', path }, 0).then((found) => found.version, (cause) => cause.code)
    console.log(await look(${JSON.stringify(path)}), await look(${JSON.stringify(join(folder, 'x/b.db'))}))`
  const { stdout, stderr } = spawnSync(
    'env',
    ['-u', 'NODE_OPTIONS', process.execPath, '--input-type=module', '-e', script],
    {
      encoding: 'utf8',
    },
  )
  t.equal(stdout, 'EACCES EACCES\n', stderr)
})
