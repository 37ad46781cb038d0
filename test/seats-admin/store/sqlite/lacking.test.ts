/** A file that lacks a table, a column or an index of its version is refused before anything is written to it. */

import { createHash } from 'node:crypto'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { inspectStore, lockStore, openSqliteStore, type Store } from '../../../../seats-admin/index.ts'
import { mark, migrate, MIGRATIONS } from '../../../../seats-admin/store/sqlite/sqlite-migrations.ts'
import { temporaryFolder } from './support.ts'

function storeAt(path: string, version = MIGRATIONS.length): DatabaseSync {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  database.exec('PRAGMA synchronous = OFF')
  mark(database)
  migrate(database, MIGRATIONS.slice(0, version))
  return database
}

const PARTS = `SELECT type, name, NULL AS part FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL
  UNION ALL SELECT 'column', s.name, c.name FROM sqlite_schema s JOIN pragma_table_xinfo(s.name) c
    WHERE s.type = 'table'`

/** Statements that each take one part away, with what then is missing. */
function damages(version: number): { readonly missing: string; readonly statement: string }[] {
  using database = storeAt(':memory:', version)
  return database
    .prepare(PARTS)
    .all()
    .map(({ type, name, part }) =>
      type === 'column'
        ? {
            missing: `column ${name}.${part}`,
            statement: `ALTER TABLE ${name} RENAME COLUMN ${part} TO gone`,
          }
        : { missing: `${type} ${name}`, statement: `DROP ${type} ${name}` },
    )
}

function damage(path: string, statement: string): void {
  using database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  database.exec(`PRAGMA synchronous = OFF; ${statement}`)
}

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

async function refuses(t: Test, path: string, missing: string, open: () => Promise<unknown>): Promise<void> {
  const before = hashOf(path)
  await t.rejects(open(), {
    code: 'DAMAGED',
    message: new RegExp(`it lacks the ${missing.replace('.', '[.]')}[ ,]`),
  })
  t.equal(hashOf(path), before, `${missing}: the file is as it was`)
}

t.test('each part of the newest version', async (t) => {
  const folder = temporaryFolder(t)
  const whole = join(folder, 'whole.db')
  storeAt(whole).close()
  const path = join(folder, 'a.db')
  for (const { missing, statement } of damages(MIGRATIONS.length)) {
    copyFileSync(whole, path)
    damage(path, statement)
    await refuses(t, path, missing, () => inspectStore({ kind: 'sqlite', path }, 0))
  }
})

t.test('the newest part of each version; without damage, each is accepted', async (t) => {
  const folder = temporaryFolder(t)
  for (const version of Array.from(MIGRATIONS.keys(), (step) => step + 1)) {
    const path = join(folder, `${version}.db`)
    storeAt(path, version).close()
    t.match(await inspectStore({ kind: 'sqlite', path }, 0), { version })
    const { missing, statement } = damages(version).at(-1) ?? { missing: '', statement: '' }
    damage(path, statement)
    await refuses(t, path, missing, () => inspectStore({ kind: 'sqlite', path }, 0))
  }
})

t.test('a gateway and another program refuse each missing table, and a file without any', async (t) => {
  const folder = temporaryFolder(t)
  const tables = damages(MIGRATIONS.length).filter(({ missing }) => missing.startsWith('table '))
  t.ok(tables.length > 10)
  await Promise.all(
    tables.map(async ({ missing, statement }, at) => {
      const path = join(folder, `${at}.db`)
      using database = storeAt(path)
      database.exec(statement)
      database.close()
      const lock = lockStore(path)
      const open = (owner: { lock: string; takes: true } | undefined): Promise<Store> =>
        openSqliteStore({ path, ...(owner === undefined ? {} : { owner }) })
      await refuses(t, path, missing, () => open(undefined))
      await refuses(t, path, missing, () => open({ lock: lock?.id ?? '', takes: true }))
      lock?.release()
    }),
  )
  const path = join(folder, 'empty.db')
  using database = new DatabaseSync(path)
  mark(database)
  database.close()
  await t.rejects(openSqliteStore({ path }), { code: 'DAMAGED' })
})

t.test('a table of another program, such as a replicator, is no fault', async (t) => {
  const path = join(temporaryFolder(t), 'a.db')
  using database = storeAt(path)
  database.exec('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); ANALYZE')
  database.close()
  await (await openSqliteStore({ path })).close()
})

t.test('nor is a virtual table whose module is not loaded, such as that of an extension', async (t) => {
  const path = join(temporaryFolder(t), 'a.db')
  storeAt(path).close()
  using database = new DatabaseSync(path, { defensive: false })
  database.exec(`PRAGMA writable_schema = ON; INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
    VALUES ('table', 'vectors', 'vectors', 0, 'CREATE VIRTUAL TABLE vectors USING vec0(x)')`)
  database.close()
  await (await openSqliteStore({ path })).close()
})
