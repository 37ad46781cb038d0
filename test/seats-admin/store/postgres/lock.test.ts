/** Somebody else holds the counter row: reads go on, writes are refused in time, and all is well once it lets go. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../seats-admin/index.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { until } from '../../../support/servers/wait.ts'
import { ADMIN, done, refused, writer } from '../conformance.ts'
import { databaseOf, emptyDatabase, open } from './support.ts'

const server = await startPostgres(t)
const seat = (name: string) => ({ name, spaces: [], permissions: [] })
const page = { limit: 100, after: null, scope: ADMIN }

/** As somebody with psql might. */
async function lock(t: Test, url: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('BEGIN; SELECT * FROM seatgate.counter FOR UPDATE')
  return async () => void (await client.query('ROLLBACK'))
}

/** Resolves once so many sessions of the database wait for a lock. */
async function waiting(url: string, count: number): Promise<void> {
  const asked = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`
  const found = async () => Number((await server.query(asked, [databaseOf(url)]))[0]?.n)
  await until(
    async () => (await found()) >= count,
    () => 'nobody waits for the lock',
  )
}

t.test('while the lock is held', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const { id } = done(await store.createSeat(writer(), seat('A'))).value
  const before = await store.changesSince(null)
  await store.registry?.register('a', 'a')
  const release = await lock(t, url)

  const write = store.createSeat(writer(), seat('B'))
  let settled = false
  void write.catch(() => {
    settled = true
  })
  await waiting(url, 1)
  for (let read = 0; read < 20; read++) {
    t.equal((await store.seatById('acme', id)).value?.name, 'A')
    t.same(await store.changesSince(null), before)
    t.equal((await store.listSeats('acme', page)).data.length, 1)
    t.equal((await store.registry?.follow('a', read + 1, before.head, before.head.seq))?.registered, true)
  }
  t.notOk(settled, 'eighty reads were answered while one write waited')
  await t.rejects(write, StoreUnavailable)
  await t.rejects(write, /lock timeout/)

  const many = await Promise.allSettled(
    Array.from({ length: 50 }, (_, at) => store.createSeat(writer(), seat(`C${at}`))),
  )
  t.ok(many.every((each) => each.status === 'rejected' && each.reason instanceof StoreUnavailable))
  await t.rejects(store.updateSeat(writer(), id, {}), StoreUnavailable)
  await t.rejects(store.recordMember('acme', 'ann', [id]), StoreUnavailable)
  await store.recordMember('acme', 'ann', [])

  const second = await open(t, { url })
  t.equal((await second.seatById('acme', id)).value?.name, 'A', 'a gateway can even start')

  await release()
  t.equal(refused(await store.createSeat(writer(), seat('D'))), 'not refused', 'and is well at once')
  const names = (await store.listSeats('acme', page)).data.map((each) => each.name)
  t.same(names, ['A', 'D'], 'what was given up was not done behind its caller’s back')
})

t.test('a write that waited for the lock is done once it is free', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url, timeout: 10_000 })
  const now = 1_000_000
  const { id } = done(await store.createSeat(writer(ADMIN, now), seat('A'))).value
  const release = await lock(t, url)
  const write = store.deleteSeat(writer(ADMIN, now), id)
  await waiting(url, 1)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  await release()
  done(await write)
  const { givenUpAt } = (await store.seatByName('acme', 'A')).value
  t.ok(
    (givenUpAt ?? 0) > now / 1000,
    'a name is given up when the Seat goes, not when its going was asked for',
  )
})

t.test('calls that pile up are refused at once', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url, timeout: 8000 })
  const release = await lock(t, url)
  const make = () => store.createSeat(writer(), seat('A'))
  const first = [make(), make()]
  await waiting(url, 2)
  const rest = Promise.allSettled([...first, ...Array.from({ length: 10_000 }, make)])
  await t.rejects(make(), /10000 calls waiting/)
  t.same((await store.changesSince(null)).changes, [], 'reads have a queue of their own')
  await release()
  await rest
  t.equal((await store.listSeats('acme', page)).data.length, 1)
  t.equal(refused(await store.createSeat(writer(), seat('B'))), 'not refused', 'the queue is free again')
})

t.test('a gateway that stands still in its transaction does not keep the others out', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const script = fileURLToPath(new URL('./lock-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, url], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.kill('SIGSTOP')
  done(await store.createSeat(writer(), seat('B')))
  const exit = once(child, 'exit')
  child.kill('SIGCONT')
  t.same(await exit, [0, null], 'it was told that its write was not done')
  t.same(
    (await store.listSeats('acme', page)).data.map((each) => each.name),
    ['B'],
  )
})
