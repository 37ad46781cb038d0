/** Another program holds the write lock: reads go on, writes are refused in time, and all is well once it lets go. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../seats-admin/index.ts'
import { ADMIN, BEGINNING, done, refused, writer } from '../conformance.ts'
import { open, temporaryFolder } from './support.ts'

const script = fileURLToPath(new URL('./lock-process.ts', import.meta.url))
const seat = (name: string) => ({ name, spaces: [], permissions: [] })

async function lock(t: Test, path: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [script, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  await once(child.stdout, 'data')
  const exit = once(child, 'exit')
  return async () => {
    child.stdin.end()
    await exit
  }
}

t.test('while the lock is held', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path, timeout: 1500 })
  const { id } = done(await store.createSeat(writer(), seat('A'))).value
  const before = await store.changesSince(BEGINNING)
  const release = await lock(t, path)

  const write = store.createSeat(writer(), seat('B'))
  let settled = false
  void write.catch(() => {
    settled = true
  })
  for (let read = 0; read < 50; read++) {
    t.equal((await store.seatById('acme', id)).value?.name, 'A')
    t.same(await store.changesSince(BEGINNING), before)
  }
  t.notOk(settled, 'a hundred reads were answered while one write waited')
  await t.rejects(write, StoreUnavailable)
  await t.rejects(write, /database is locked/)

  const many = await Promise.allSettled(
    Array.from({ length: 200 }, (_, at) => store.createSeat(writer(), seat(`C${at}`))),
  )
  t.ok(many.every((each) => each.status === 'rejected' && each.reason instanceof StoreUnavailable))
  await t.rejects(store.updateSeat(writer(), id, {}), StoreUnavailable)
  await t.rejects(store.revokeApiKey(writer(), id), StoreUnavailable)
  await t.rejects(store.recordMember('acme', 'ann', [id]), StoreUnavailable)

  const second = await open(t, { path })
  t.equal((await second.seatById('acme', id)).value?.name, 'A', 'a gateway can even start')

  await release()
  t.equal(refused(await store.createSeat(writer(), seat('D'))), 'not refused', 'and is well at once')
  const names = (await store.listSeats('acme', { limit: 100, after: null, scope: ADMIN })).data.map(
    (each) => each.name,
  )
  t.same(names, ['A', 'D'], 'what was given up was not done behind its caller’s back')
})

t.test('a write that waited for the lock is done once it is free', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path, timeout: 10_000 })
  const release = await lock(t, path)
  const now = 1_000_000
  const write = store.createSeat(writer(ADMIN, now), seat('A'))
  await store.changesSince(BEGINNING)
  await release()
  t.equal(done(await write).value.createdAt, now)
})

t.test('a name is given up when the Seat goes, not when its going was asked for', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path, timeout: 10_000 })
  const now = 1_000_000
  const { id } = done(await store.createSeat(writer(ADMIN, now), seat('A'))).value
  const release = await lock(t, path)
  const write = store.deleteSeat(writer(ADMIN, now), id)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  await release()
  done(await write)
  const { givenUpAt } = (await store.seatByName('acme', 'A')).value
  t.ok((givenUpAt ?? 0) > now / 1000, 'a token issued while it waited gains nothing later')
})

t.test('calls that pile up are refused at once', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path, timeout: 3000 })
  const release = await lock(t, path)
  const writes = Array.from({ length: 10_000 }, () => store.createSeat(writer(), seat('A')))
  const last = store.createSeat(writer(), seat('A'))
  const rest = Promise.allSettled(writes)
  await t.rejects(last, /10000 calls waiting/)
  t.same(
    await store.changesSince(BEGINNING),
    { head: BEGINNING, changes: [] },
    'reads have a queue of their own',
  )
  await release()
  const results = await rest
  const made = results.filter((each) => each.status === 'fulfilled' && refused(each.value) === 'not refused')
  t.equal(made.length, 1)
  t.equal(refused(await store.createSeat(writer(), seat('B'))), 'not refused', 'the queue is free again')
})
