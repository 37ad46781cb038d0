/** The file or log of an open store is removed or replaced. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { type Store, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { ADMIN, done, writer } from '../conformance.ts'
import { open, temporaryFolder } from './support.ts'

const page = { limit: 100, after: null, scope: ADMIN }

async function opened(t: Test, count: number): Promise<{ path: string; store: Store }> {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path })
  for (let at = 0; at < count; at++) await make(store, `s${at}`)
  return { path, store }
}

async function make(store: Store, name: string): Promise<void> {
  done(await store.createSeat(writer(), { name, spaces: [], permissions: [] }))
}

async function names(store: Store): Promise<string[]> {
  return (await store.listSeats('acme', page)).data.map((each) => each.name)
}

/** The content that another program reads. */
function onDisk(path: string): unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const found = database.prepare('SELECT name FROM seats ORDER BY id').all()
  const [verdict] = database.prepare('PRAGMA integrity_check').all()
  database.close()
  return [verdict?.integrity_check, ...found.map((row) => row.name)]
}

function backUp(path: string): string {
  const database = new DatabaseSync(path)
  database.exec(`VACUUM INTO '${path}.backup'`)
  database.close()
  return `${path}.backup`
}

for (const first of ['createSeat', 'changesSince', 'listSeats'] as const) {
  t.test(`the log is deleted, and the next call is ${first}`, async (t) => {
    const { path, store } = await opened(t, 3)
    const { head } = await store.changesSince(null)
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
    const next: () => Promise<unknown> = {
      createSeat: () => make(store, 'x'),
      changesSince: () => store.changesSince(null),
      listSeats: () => names(store),
    }[first]
    const refused = next()
    await t.rejects(refused, StoreUnavailable)
    await t.rejects(refused, /the log .*-wal of the store was moved, deleted or replaced/)
    await make(store, 'B')
    t.same(
      await names(store),
      ['s0', 's1', 's2', 'B'],
      'the next call continues with all acknowledged writes',
    )
    t.same(onDisk(path), ['ok', 's0', 's1', 's2', 'B'], 'and so do other programs')
    t.equal((await store.changesSince(head)).changes, null)
    t.equal((await store.changesSince(head)).changes?.length, 2, 'once')
  })
}

t.test('the log is deleted: acknowledged writes from before and after survive kill -9', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const script = fileURLToPath(new URL('./lost-log-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const output: string[] = []
  for await (const line of createInterface(child.stdout)) {
    if (line === 'end') child.kill('SIGKILL')
    else output.push(line)
  }
  t.same((await exit)[1], 'SIGKILL')
  const acknowledged = output.filter((line) => /^s[0-9]+$/.test(line))
  t.equal(acknowledged.length, 19, output.join())
  t.same(onDisk(path), ['ok', ...acknowledged])
})

t.test('a backup replaces the file, and the log is left', async (t) => {
  const { path, store } = await opened(t, 2)
  const { head } = await store.changesSince(null)
  const backup = backUp(path)
  for (let at = 0; at < 20; at++) await make(store, `later ${at}`)
  renameSync(backup, path)
  await t.rejects(store.listSeats('acme', page), /the store .* was moved, deleted or replaced/)
  for (let time = 0; time < 2; time++) {
    const why = /cannot be opened: the file was replaced, .*: remove .*-wal first/
    await t.rejects(store.changesSince(null), why)
    await t.rejects(make(store, 'x'), why)
    await t.rejects(names(store), StoreUnavailable)
  }
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  t.same(await names(store), ['s0', 's1'], 'removed: the backup is used, without a restart')
  await make(store, 'B')
  t.same(onDisk(path), ['ok', 's0', 's1', 'B'])
  t.equal((await store.changesSince(head)).changes, null)
})

t.test('the file is moved away and back', async (t) => {
  const { path, store } = await opened(t, 2)
  renameSync(path, `${path}.away`)
  await t.rejects(make(store, 'x'), /moved, deleted or replaced/)
  await t.rejects(make(store, 'x'), /cannot be opened: ENOENT/)
  t.notOk(existsSync(path), 'it is not created again')
  renameSync(`${path}.away`, path)
  await make(store, 'B')
  t.same(await names(store), ['s0', 's1', 'B'], 'its own log is accepted')
  t.same(onDisk(path), ['ok', 's0', 's1', 'B'])
})

t.test('a file in its place is checked as at the start', async (t) => {
  const { path, store } = await opened(t, 200)
  const backup = backUp(path)
  const file = openSync(backup, 'r+')
  for (let page = 2; page < statSync(backup).size / 4096; page++)
    writeSync(file, Buffer.alloc(2000, 0xa5), 0, 2000, page * 4096)
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
  renameSync(backup, path)
  await t.rejects(store.changesSince(null), /moved, deleted or replaced/)
  await t.rejects(store.changesSince(null), /cannot be opened: .*(damaged|malformed)/)
  truncateSync(path, 0)
  await t.rejects(store.changesSince(null), /cannot be opened: the file is empty/)
  rmSync(path)
  const other = new DatabaseSync(path)
  other.exec('CREATE TABLE bookmarks (url TEXT)')
  other.close()
  await t.rejects(make(store, 'x'), /cannot be opened: the file is not a Seatgate store/)
})

t.test('a symbolic link: the log beside the target file is watched', async (t) => {
  const folder = temporaryFolder(t)
  const { path, store } = await opened(t, 1)
  await store.close()
  symlinkSync(path, join(folder, 'link.db'))
  const linked = await open(t, { path: join(folder, 'link.db') })
  await make(linked, 'B')
  rmSync(`${path}-wal`)
  await t.rejects(make(linked, 'x'), /the log .* of the store was moved, deleted or replaced/)
  t.same(await names(linked), ['s0', 'B'])
})

t.test('many calls at the time of the loss: each settles, and acknowledged writes exist', async (t) => {
  const { path, store } = await opened(t, 1)
  const writes = Array.from({ length: 200 }, async (_, at) => {
    if (at === 100) for (const suffix of ['-wal', '-shm']) rmSync(path + suffix)
    return make(store, `n${at}`).then(() => `n${at}`)
  })
  const reads = Array.from({ length: 50 }, () => names(store))
  const made = (await Promise.allSettled(writes)).flatMap((each) =>
    each.status === 'fulfilled' ? [each.value] : [],
  )
  for (const each of await Promise.allSettled(reads))
    t.ok(each.status === 'fulfilled' || each.reason instanceof StoreUnavailable)
  await make(store, 'last')
  const found = new Set(onDisk(path))
  t.same(
    [...made, 'last'].filter((name) => !found.has(name)),
    [],
  )
})
