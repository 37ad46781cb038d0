/** The list of instances, with crashes of the server and broken connections. */

import type { Test } from 'tap'
import type { Registry } from '../../../../seats-admin/index.ts'
import type { PostgresServer } from '../../../support/servers/postgres.ts'
import { startTcpProxy } from '../../../support/servers/proxy.ts'
import { until } from '../../../support/until.ts'
import { column, seat } from '../conformance.ts'
import { databaseOf, emptyDatabase, open } from './support.ts'
import { follow } from './writers.ts'

async function registryOf(t: Test, url: string): Promise<Registry> {
  const { registry } = await open(t, { url })
  if (registry === null) throw new Error('no registry')
  return registry
}

/** Sends beats until one succeeds, and returns it; those before are lost. */
async function nextBeat(registry: Registry, id: string, beat: number): Promise<number> {
  let sent = beat
  await until(async () => {
    sent++
    return registry.follow(id, sent, null, 0).then(
      ({ registered }) => registered,
      () => false,
    )
  }, 'a beat that succeeds')
  return sent
}

/** After a crash of the server, each registration before it is there, and beats go on. */
export async function crashes(t: Test, server: PostgresServer, rounds: number): Promise<void> {
  const registry = await registryOf(t, await emptyDatabase(server))
  for (let round = 0; round < rounds; round++) {
    await registry.register(`late ${round}`, 'x')
    await server.kill()
    await server.restart()
    await until(
      async () => (await registry.instances().catch(() => [])).length === round + 1,
      'all registrations',
    )
    t.ok((await nextBeat(registry, `late ${round}`, 0)) > 0)
  }
}

/** Many instances send beats and follow at once, while a store makes this many Seats. */
export async function followTogether(t: Test, server: PostgresServer, seats: number): Promise<void> {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const ids = ['a', 'b', 'c', 'd', 'e', 'f']
  const registries = await Promise.all(ids.map(() => registryOf(t, url)))
  await Promise.all(registries.map((registry, at) => registry.register(ids[at] ?? '', 'x')))
  let writing = true
  const followers = registries.map((registry, at) =>
    follow(
      async (position, beat) => {
        const found = await registry.follow(ids[at] ?? '', beat, position, 0).catch(() => null)
        if (found?.registered === false) throw new Error('not registered')
        return found
      },
      () => writing,
    ),
  )
  for (let at = 0; at < seats; at++) await seat(store, `s${at}`)
  writing = false
  const all = Array.from({ length: 2 * seats }, (_, at) => at + 1)
  for (const seen of await Promise.all(followers)) t.same(column(seen, 'seq'), all)
  for (const { beat, applied } of (await store.registry?.instances()) ?? [])
    t.ok(beat > 1 && applied <= 2 * seats)
}

export function registry(t: Test, server: PostgresServer): void {
  t.test('a crash of the server undoes no registration, and may undo beats', (t) => crashes(t, server, 1))

  t.test(
    'after a broken connection no instance is removed for a while: a beat may have been undone',
    async (t) => {
      const proxy = await startTcpProxy(t, server)
      const url = await emptyDatabase(server)
      const registry = await registryOf(t, url.replace(`:${server.port}/`, `:${proxy.port}/`))
      for (const id of ['a', 'b', 'dead', 'gone']) await registry.register(id, id)
      await registry.follow('a', 1, null, 0)
      t.equal((await registry.instances()).length, 4)
      await registry.forget('gone', 0)
      t.equal((await registry.instances()).length, 3, 'removed while the connection was never broken')
      // The store's clock stands still, so that "a while" is not over before the test has looked.
      const now = process.hrtime.bigint()
      t.intercept(process.hrtime, 'bigint', { value: () => now })
      proxy.killConnections()
      await nextBeat(registry, 'a', 1)
      await t.rejects(registry.forget('dead', 0), { name: 'StoreUnavailable' })
      t.equal((await registry.instances()).length, 3)

      const other = await registryOf(t, url)
      await other.follow('b', 1, null, 0)
      await other.instances()
      await other.forget('dead', 0)
      t.equal((await registry.instances()).length, 2, 'a store whose connection was never broken removes it')
    },
  )

  t.test('an instance that was removed is named for a minute', async (t) => {
    const url = await emptyDatabase(server)
    const registry = await registryOf(t, url)
    const database = databaseOf(url)
    for (const id of ['early', 'late']) {
      await registry.register(id, id)
      await registry.follow(id, 1, null, 0)
      await registry.forget(id, 1)
    }
    const gone = (seconds: number, id: string) =>
      server.query(
        `UPDATE seatgate.gone_instances SET gone_at = clock_timestamp() - make_interval(secs => $1::int) WHERE id = $2`,
        [seconds, id],
        database,
      )
    await gone(61, 'early')
    await gone(20, 'late')
    t.match(await registry.reachable(), [{ id: 'late', gone: true }])
    await registry.register('new', 'new')
    t.match(await server.query('SELECT id FROM seatgate.gone_instances', [], database), [{ id: 'late' }])
  })

  /** As version 0.1 before the column `config` wrote them. */
  const OLD_REGISTER = `INSERT INTO seatgate.instances (id, name, beat, applied, seen_at)
  VALUES ('old', 'old', 0, 0, clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, seen_at = excluded.seen_at`
  const OLD_BEAT = `UPDATE seatgate.instances SET beat = 1, applied = 0, seen_at = clock_timestamp()
  WHERE id = 'old' AND beat < 1 RETURNING 1 AS done`

  t.test('an instance of an older version goes on beside new ones', async (t) => {
    const url = await emptyDatabase(server)
    const registry = await registryOf(t, url)
    const database = databaseOf(url)
    await server.query(OLD_REGISTER, [], database)
    t.same(await server.query(OLD_BEAT, [], database), [{ done: 1 }])
    await registry.register('new', 'new')
    await registry.follow('new', 1, null, 0, { config: '3f2a8c01d9e4', url: null })
    t.match(await registry.instances(), [
      { id: 'new', config: '3f2a8c01d9e4' },
      { id: 'old', beat: 1, config: null, refused: null, checksFiles: false },
    ])
    t.match(await registry.secrets('acme'), [{ id: 'new' }, { id: 'old', secrets: null }])
  })
}
