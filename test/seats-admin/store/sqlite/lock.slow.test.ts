/** Of all processes that take a store's lock, one holds it, until it releases it or ends. */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { lockStore, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { done, writer } from '../conformance.ts'
import { open, temporaryFolder } from './support.ts'

const script = fileURLToPath(new URL('./lock-holder-process.ts', import.meta.url))

interface Holder {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  readonly lines: AsyncIterator<string>
  readonly exit: Promise<unknown>
}

function holder(t: Test, path: string, ...more: string[]): Holder {
  const child = spawn(process.execPath, [script, path, ...more], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const lines: Interface = createInterface(child.stdout)
  return { child, lines: lines[Symbol.asyncIterator](), exit: once(child, 'exit') }
}

async function line({ lines }: Holder): Promise<string> {
  return (await lines.next()).value
}

t.test('another process holds it until it releases it', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const other = holder(t, path)
  t.equal(await line(other), 'locked')
  t.equal(lockStore(path), null)
  t.equal(lockStore(path), null, 'attempts do not release it')
  const third = holder(t, path)
  t.equal(await line(third), 'refused')
  third.child.stdin.end()
  await third.exit
  t.equal(lockStore(path), null, 'nor does the end of a refused process')

  const store = await open(t, { path })
  done(await store.createSeat(writer(), { name: 'A', spaces: [], permissions: [] }))
  await store.close()
  t.equal(lockStore(path), null, 'the command line can use the store itself')

  other.child.stdin.end()
  t.equal(await line(other), 'released')
  const lock = lockStore(path)
  t.not(lock, null)
  t.equal(lockStore(path), null, 'not twice in one process either')
  lock?.release()
  lock?.release()
  lockStore(path)?.release()
})

t.test('it ends with its process: kill -9', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  for (let round = 0; round < 2; round++) {
    const other = holder(t, path)
    t.equal(await line(other), 'locked', 'whatever the previous process left')
    t.equal(lockStore(path), null)
    other.child.kill('SIGKILL')
    await other.exit
    const lock = lockStore(path)
    t.not(lock, null)
    lock?.release()
  }
})

t.test('a stopped process keeps it', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const other = holder(t, path)
  t.equal(await line(other), 'locked')
  other.child.kill('SIGSTOP')
  t.equal(lockStore(path), null)
})

t.test('it is held without a reference to the lock', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const entryPoint = new URL('../../../../seats-admin/index.ts', import.meta.url).href
  const program = `
    const { lockStore } = await import('${entryPoint}')
    lockStore(process.argv[1])
    for (let round = 0; round < 5; round++) { gc(); await new Promise((resolve) => setTimeout(resolve, 10)) }
    console.log(lockStore(process.argv[1]))
    process.exit()`
  const child = spawn(process.execPath, ['--expose-gc', '-e', program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.equal((await child.stdout.toArray()).join('').trim(), 'null')
})

t.test('of six concurrent attempts one succeeds', async (t) => {
  const path = join(temporaryFolder(t), 'a', 'seatgate.db')
  const all = Array.from({ length: 6 }, () => holder(t, path, 'wait'))
  for (const each of all) t.equal(await line(each), 'ready')
  for (const each of all) each.child.stdin.write('go\n')
  const output = await Promise.all(all.map(line))
  t.equal(output.filter((word) => word === 'locked').length, 1, output.join())
})

t.test('the folder is created, and the file is for its owner only', async (t) => {
  const folder = join(temporaryFolder(t), 'a', 'b')
  const path = join(folder, 'säts #1?%20.db')
  const lock = lockStore(path)
  t.same(readdirSync(folder), ['säts #1?%20.db.lock'])
  t.equal(statSync(`${path}.lock`).mode & 0o777, 0o600)
  t.equal(statSync(folder).mode & 0o777, 0o700)
  lock?.release()
})

t.test('a symbolic link gives the same lock', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'seatgate.db')
  await (await open(t, { path })).close()
  symlinkSync(path, join(folder, 'link.db'))
  symlinkSync(folder, join(folder, 'self'))
  const lock = lockStore(join(folder, 'link.db'))
  t.equal(lockStore(path), null)
  t.equal(lockStore(join(folder, 'self', 'seatgate.db')), null)
  lock?.release()
})

t.test('a path that exists and is not a lock file is refused', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  writeFileSync(`${path}.lock`, 'pid 1234\n'.repeat(1000))
  t.throws(() => lockStore(path), { name: StoreUnavailable.name })
  t.throws(() => lockStore(path), { message: /cannot be locked: file is not a database/ })
  const folder = join(temporaryFolder(t), 'seatgate.db')
  mkdirSync(`${folder}.lock`)
  t.throws(() => lockStore(folder), { message: /cannot be locked: / })
})
