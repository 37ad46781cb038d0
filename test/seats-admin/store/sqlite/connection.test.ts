import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { monotonic } from '../../../../seats-admin/store/monotonic.ts'
import {
  connect,
  enableWal,
  WriteTransactions,
} from '../../../../seats-admin/store/sqlite/sqlite-connection.ts'
import { temporaryFolder } from './support.ts'

function connection(t: Test) {
  const path = join(temporaryFolder(t), 'x.db')
  closeSync(openSync(path, 'wx'))
  const database = connect(path, 'rw', 100)
  enableWal(database)
  t.teardown(() => database.close())
  database.exec('CREATE TABLE parent (id PRIMARY KEY); CREATE TABLE child (id REFERENCES parent (id))')
  const count = () => database.prepare('SELECT count(*) AS n FROM parent').get()?.n
  const insert = () => database.exec('INSERT INTO parent VALUES (random())')
  return { path, database, count, insert }
}

const soon = () => monotonic() + 60_000

t.test('a commit is on disk before it is acknowledged', async (t) => {
  const { database } = connection(t)
  t.equal(database.prepare('PRAGMA journal_mode').get()?.journal_mode, 'wal')
  t.equal(database.prepare('PRAGMA synchronous').get()?.synchronous, 2, 'FULL')
  t.throws(() => database.exec('INSERT INTO child VALUES (1)'), /FOREIGN KEY/)
})

t.test('a missing file is not created', async (t) => {
  const path = join(temporaryFolder(t), 'x.db')
  for (const mode of ['ro', 'rw'] as const) t.throws(() => connect(path, mode, 0), /unable to open/)
})

t.test('a reader can not write', async (t) => {
  const { path } = connection(t)
  const reader = connect(path, 'ro', 0)
  t.teardown(() => reader.close())
  t.throws(() => reader.exec('INSERT INTO parent VALUES (1)'), /readonly/)
})

t.test('a refused, failed or late write leaves no trace and no transaction', async (t) => {
  const { database, count, insert } = connection(t)
  const transactions = new WriteTransactions(database)
  const refusal = { refused: 'seat_not_found', detail: '' }
  const refused = await transactions.run(soon(), async () => {
    insert()
    return refusal
  })
  t.equal(refused, refusal)
  const failed = transactions.run(soon(), async () => {
    insert()
    throw new Error('mine')
  })
  await t.rejects(failed, /mine/)
  let now = 1000
  let inserted: unknown = null
  const late = async () => {
    insert()
    inserted = count()
    now = 1020
  }
  await t.rejects(
    transactions.run(1020, late, () => now),
    { name: 'CallExpired' },
  )
  t.equal(inserted, 1, 'the deadline passes during the write')
  const inserts = async () => insert()
  await t.rejects(transactions.run(monotonic(), inserts), { name: 'CallExpired' })
  t.same([count(), database.isTransaction], [0, false])
  await transactions.run(soon(), inserts)
  t.equal(count(), 1)
})
