/** The file of the store: created only if nothing is there, and refused if it is anything else. */

import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { lockStore, openSqliteStore, type Store, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { done, writer } from '../conformance.ts'
import { canMount, onSmallDisk, open, temporaryFolder } from './support.ts'

const seat = (name: string) => ({ name, spaces: [], permissions: [] })

async function filled(t: Test, count = 1): Promise<string> {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await openSqliteStore({ path, timeout: 60_000 })
  await Promise.all(Array.from({ length: count }, (_, at) => store.createSeat(writer(), seat(`A${at}`))))
  await store.close()
  return path
}

async function refuses(t: Test, path: string, why: RegExp): Promise<void> {
  const opened: Promise<Store> = openSqliteStore({ path, timeout: 60_000 })
  await t.rejects(opened, StoreUnavailable)
  await t.rejects(opened, why)
  await t.rejects(opened, {
    message: new RegExp(`^the store .*${path.split('/').at(-1)} cannot be opened: `),
  })
}

t.test('a missing file is created, for its owner only, and no other file is left', async (t) => {
  const path = join(temporaryFolder(t), 'a', 'b', 'säts #1?%20.db')
  const store = await open(t, { path })
  done(await store.createSeat(writer(), seat('A')))
  for (const suffix of ['', '-wal', '-shm']) t.equal(statSync(path + suffix).mode & 0o777, 0o600, suffix)
  for (const folder of ['..', '../..']) t.equal(statSync(join(path, folder)).mode & 0o777, 0o700)
  await store.close()
  t.same(readdirSync(join(path, '..')), ['säts #1?%20.db'], 'closed: the log has been merged into the file')
})

t.test('an existing file is used', async (t) => {
  const store = await open(t, { path: await filled(t) })
  t.equal((await store.seatByName('acme', 'A0')).value.seat?.name, 'A0')
})

t.test('a call is answered that ends in time while this process stands still', async (t) => {
  const store = await open(t, { path: await filled(t), timeout: 2000 })
  const made = store.createSeat(writer(), seat('B'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500)
  done(await made)
  t.equal((await store.seatByName('acme', 'B')).value.seat?.name, 'B')
})

t.test('a folder', async (t) => refuses(t, temporaryFolder(t), /it is not a regular file/))

t.test('a file instead of a parent folder', async (t) => {
  const file = join(temporaryFolder(t), 'file')
  writeFileSync(file, 'x')
  await refuses(t, join(file, 'seatgate.db'), /ENOTDIR|EEXIST/)
})

t.test('an empty file', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  writeFileSync(path, '')
  await refuses(t, path, /the file is empty/)
  t.equal(statSync(path).size, 0, 'unchanged')
})

t.test('a file that is not a database', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  writeFileSync(path, 'listen: 0.0.0.0:8080\n'.repeat(500))
  const before = readFileSync(path)
  await refuses(t, path, /file is not a database/)
  t.same(readFileSync(path), before, 'unchanged')
})

t.test('the database of another program', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE bookmarks (url TEXT)')
  database.close()
  await refuses(t, path, /not a Seatgate store/)
})

t.test('a store of a newer version', async (t) => {
  const path = await filled(t)
  const database = new DatabaseSync(path)
  database.exec('PRAGMA user_version = 999')
  database.close()
  await refuses(t, path, /version 999, from a newer Seatgate/)
})

t.test('a truncated file', async (t) => {
  const path = await filled(t, 200)
  truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096)
  await refuses(t, path, /damaged|malformed/)
})

t.test('an interrupted checkpoint: the rest is in the log', async (t) => {
  const path = await filled(t)
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0')
  const { size } = statSync(path)
  const insert = database.prepare('INSERT INTO names_given_up VALUES (?, ?, 1)')
  for (let at = 0; at < 2000; at++) insert.run('acme', `name ${at}`.repeat(5))
  const log = readFileSync(`${path}-wal`)
  database.exec('PRAGMA wal_checkpoint')
  const file = readFileSync(path)
  database.close()
  // As after a crash: the first page states the final size of the file, and the log still exists.
  t.ok(file.length > size + 8 * 4096)
  writeFileSync(path, file.subarray(0, size + 4096))
  writeFileSync(`${path}-wal`, log)
  const store = await open(t, { path })
  t.equal((await store.seatByName('acme', 'name 1999'.repeat(5))).value.givenUpAt, 1)
})

t.test('a damaged page', async (t) => {
  const path = await filled(t, 200)
  const file = openSync(path, 'r+')
  for (let page = 2; page < statSync(path).size / 4096; page++)
    writeSync(file, Buffer.alloc(2000, 0xa5), 0, 2000, page * 4096)
  await refuses(t, path, /damaged|malformed/)
})

t.test('damage is found before anything is written', async (t) => {
  const path = await filled(t, 200)
  damageLast(path)
  const before = readFileSync(path)
  await refuses(t, path, /damaged|malformed/)
  t.ok(before.equals(readFileSync(path)), 'by a command')
  const lock = lockStore(path)
  t.teardown(() => lock?.release())
  const owner = { lock: lock?.id ?? '', takes: true }
  await t.rejects(openSqliteStore({ path, owner }), /damaged|malformed/)
  t.ok(before.equals(readFileSync(path)), 'by a gateway that would own the store')
  const older = new DatabaseSync(path)
  older.exec('PRAGMA user_version = 1')
  older.close()
  const old = readFileSync(path)
  await refuses(t, path, /damaged|malformed/)
  t.ok(old.equals(readFileSync(path)), 'by a newer version')
})

/** Of an index or a table: the first pages, with the schema and the counter, stay readable. */
function damageLast(path: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(2000, 0xa5), 0, 2000, statSync(path).size - 4096)
  closeSync(file)
}

t.test('a missing file with a log', async (t) => {
  const path = await filled(t)
  renameSync(path, `${path}-wal`)
  await refuses(t, path, /its log .* exists/)
  t.notOk(existsSync(path))
})

t.test('a read-only file', async (t) => {
  const folder = temporaryFolder(t)
  if (!canMount(folder)) {
    t.pass({ skip: 'this machine does not allow mounting a disk' })
    return
  }
  const entryPoint = new URL('../../../../seats-admin/index.ts', import.meta.url).href
  const program = `
    const { openSqliteStore } = await import('${entryPoint}')
    const opened = openSqliteStore({ path: process.argv[1] + '/seatgate.db' })
    console.log(await opened.then((store) => store.close().then(() => 'open'), (cause) => cause.message))`
  const run = 'node="$1"; "$node" -e "$2" "$3" && mount -o remount,ro "$3" && "$node" -e "$2" "$3"'
  const { stdout, stderr } = onSmallDisk(folder, 'sh', '-c', run, 'sh', process.execPath, program, folder)
  t.match(stdout, /^open\nthe store .*seatgate.db cannot be opened: EROFS/, stderr)
})

t.test('deleted while open: nothing is written to the deleted file', async (t) => {
  const path = await filled(t)
  const store = await open(t, { path })
  const { head } = await store.changesSince(null)
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix)
  await t.rejects(store.createSeat(writer(), seat('B')), StoreUnavailable)
  await t.rejects(store.changesSince(head), StoreUnavailable)
  await t.rejects(store.createSeat(writer(), seat('B')), /cannot be opened/)
  t.notOk(existsSync(path), 'and it is not created again')
})

t.test('replaced while open: the new file is used, and its readers drop everything', async (t) => {
  const path = await filled(t)
  const store = await open(t, { path })
  const other = await filled(t, 3)
  const { head } = await store.changesSince(null)
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
  renameSync(other, path)
  await t.rejects(store.changesSince(head), /moved, deleted or replaced/)
  t.match(await store.changesSince(head), { head: { seq: 6 }, changes: null })
  const now = await store.changesSince(null)
  t.equal(now.changes?.length, 6)
  t.same((await store.changesSince(now.changes?.[3] ?? null)).changes, now.changes?.slice(4), 'once')
  t.equal(
    (await store.changesSince(head)).changes,
    null,
    'but not to readers with a position in the old file',
  )
  t.equal((await store.seatByName('acme', 'A2')).value.seat?.name, 'A2')
  done(await store.createSeat(writer(), seat('B')))
  const after = await store.changesSince(now.head)
  t.same([after.head.seq, after.changes?.length], [8, 2], 'by all threads')
})
