/** The server, or the connection to it, fails and recovers. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import t, { type Test } from 'tap'
import { type Store, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { startTcpProxy } from '../../../support/servers/proxy.ts'
import { until } from '../../../support/until.ts'
import { ADMIN, BEGINNING, done, refused, signedIn, writer } from '../conformance.ts'
import { databaseOf, emptyDatabase, open } from './support.ts'

const server = await startPostgres(t)
const page = { limit: 100, after: null, scope: ADMIN }
const nothing = { spaces: [], permissions: [] }

/** `maker` has the usual timeout, and no proxy on its way. */
async function withSeat(t: Test, options: { pool?: number; port?: number; timeout?: number } = {}) {
  const { port = server.port, ...rest } = options
  const ownUrl = await emptyDatabase(server)
  const url = ownUrl.replace(`:${server.port}/`, `:${port}/`)
  const maker = await open(t, { url: ownUrl })
  const { id } = done(await maker.createSeat(writer(), { name: 'A', ...nothing })).value
  await maker.registry?.register('a', 'a')
  const store = await open(t, { url, ...rest })
  // One after the other, so that each pool opens one connection. With a short timeout, the first calls may fail.
  await succeeds(() => store.updateSeat(writer(), id, {}))
  await succeeds(() => store.registry?.follow('a', 1, null, 0))
  await succeeds(() => store.listSeats('acme', page))
  return { url, store, id, maker }
}

function succeeds(call: () => Promise<unknown> | undefined): Promise<void> {
  const look = async () => {
    await call()
    return true
  }
  return until(() => look().catch(() => false), 'the success of a call')
}

/** One call of each kind. */
function calls(store: Store, id: string, beat: number): Promise<unknown>[] {
  return [
    store.seatById('acme', id),
    store.changesSince(BEGINNING),
    store.listSeats('acme', page),
    store.readSeat('acme', id, ADMIN),
    store.updateSeat(writer(), id, {}),
    store.recordSignIn('acme', signedIn(`user ${beat}`), [id]),
    store.registry?.instances() ?? Promise.reject(new Error('no registry')),
    store.registry?.follow('a', beat, null, 0) ?? Promise.reject(new Error('no registry')),
  ]
}

async function allUnavailable(t: Test, all: Promise<unknown>[]): Promise<void> {
  for (const each of await Promise.allSettled(all))
    t.ok(each.status === 'rejected' && each.reason instanceof StoreUnavailable, JSON.stringify(each))
}

/** Recovers without a restart; the first calls may still fail. */
async function recovers(t: Test, store: Store, id: string): Promise<void> {
  let beat = 1000
  await until(
    async () =>
      (await Promise.allSettled(calls(store, id, ++beat))).every((each) => each.status === 'fulfilled'),
    'the recovery of the store',
  )
  t.pass('recovered')
}

t.test('connections closed by the server cost no request', async (t) => {
  const { store, id } = await withSeat(t)
  await Promise.all(Array.from({ length: 20 }, () => store.seatById('acme', id)))
  for (let round = 0; round < 2; round++) {
    await server.restart()
    const results = await Promise.all([
      store.seatById('acme', id),
      store.listSeats('acme', page),
      store.updateSeat(writer(), id, {}),
    ])
    t.equal(refused(results[2]), 'not refused')
  }
})

t.test('nor do connections found closed at their next use', async (t) => {
  const proxy = await startTcpProxy(t, server)
  const { store, id } = await withSeat(t, { port: proxy.port })
  const uses: Record<string, () => Promise<unknown>> = {
    'a point read': () => store.seatById('acme', id),
    'a listing': () => store.listSeats('acme', page),
    'a write': () => store.updateSeat(writer(), id, {}),
  }
  for (const [name, use] of Object.entries(uses)) {
    await use()
    const { head } = await store.changesSince(null)
    // The pool can't have noticed before the next turn of the event loop.
    proxy.killConnections()
    await use()
    const { changes } = await store.changesSince(head)
    t.equal(changes?.length, name === 'a write' ? 2 : 0, `${name} is applied once`)
  }
})

t.test('nor do connections terminated during a read', async (t) => {
  const { url, store, id } = await withSeat(t)
  let reading = true
  const counts = Array.from({ length: 8 }, () => 0)
  const readers = counts.map(async (_, at) => {
    for (; reading; counts[at] = (counts[at] ?? 0) + 1)
      t.equal((await store.seatById('acme', id)).value?.id, id)
  })
  for (let round = 0; round < 4; round++) {
    const before = [...counts]
    // Each reader has a connection, which it then loses.
    await until(
      () => counts.every((count, at) => count > (before[at] ?? 0) + 1),
      'two more readings of each reader',
    )
    // Spare the newest connections: if all of them end, the store counts as unreachable.
    await server.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = $1 AND backend_start < clock_timestamp() - interval '50 milliseconds'`,
      [databaseOf(url)],
    )
  }
  reading = false
  await Promise.all(readers)
})

t.test('the server crashes and restarts', async (t) => {
  const { store, id } = await withSeat(t)
  await server.kill()
  for (let round = 0; round < 2; round++) await allUnavailable(t, calls(store, id, 2 + round))
  await server.restart()
  await recovers(t, store, id)
  t.match((await store.registry?.instances())?.length, 1, 'a registration survives a crash')
})

t.test(
  'the server is frozen: each call times out, and no late response reaches another caller',
  async (t) => {
    const { store, id, maker } = await withSeat(t, { pool: 1, timeout: 2000 })
    const names = ['B', 'C', 'D']
    for (const name of names) done(await maker.createSeat(writer(), { name, ...nothing }))
    await server.freeze()
    await allUnavailable(t, [...calls(store, id, 2), ...names.map((name) => store.seatByName('acme', name))])
    server.thaw()
    await recovers(t, store, id)
    for (let again = 0; again < 20; again++)
      for (const name of names) {
        // Null: a slow machine let this one time out too.
        const found = await store.seatByName('acme', name).catch(() => null)
        if (found !== null) t.equal(found.value.seat?.name, name)
      }
  },
)

t.test('packets are lost', async (t) => {
  const proxy = await startTcpProxy(t, server)
  const { store, id, maker: direct } = await withSeat(t, { port: proxy.port, pool: 2, timeout: 2000 })
  proxy.freeze()
  const cut = allUnavailable(t, calls(store, id, 2))
  done(await direct.updateSeat(writer(), id, { name: 'by another' }))
  await cut
  t.equal((await direct.seatById('acme', id)).value?.name, 'by another', 'other clients are not blocked')
  await proxy.heal()
  await recovers(t, store, id)
  t.equal((await direct.seatById('acme', id)).value?.name, 'by another', 'and nothing was written later')
})

t.test(
  'the response to a commit is lost: the write may have been applied, and is not applied twice',
  async (t) => {
    for (const loses of ['the commit', 'its answer'] as const) {
      const line = await loseCommit(t, server.port, loses)
      const { store, id, maker: direct } = await withSeat(t, { port: line.port })
      const { head } = await direct.changesSince(null)
      line.armed = true
      await t.rejects(store.updateSeat(writer(), id, { name: 'B' }), StoreUnavailable)
      line.armed = false
      t.equal((await direct.changesSince(head)).changes?.length, loses === 'the commit' ? 0 : 3)
      await recovers(t, store, id)
    }
  },
)

/** A proxy that, once armed, loses the first commit, or its response, and closes the connection. */
async function loseCommit(t: Test, port: number, loses: 'the commit' | 'its answer') {
  const line = { port: 0, armed: false }
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1')
    const end = () => {
      client.destroy()
      target.destroy()
    }
    for (const socket of [client, target]) socket.on('error', () => {}).on('close', end)
    client.on('data', (bytes) => {
      const commits = line.armed && bytes.includes('COMMIT\0')
      if (commits && loses === 'the commit') return end()
      target.write(bytes)
      if (commits) target.removeAllListeners('data').once('data', end)
    })
    target.on('data', (bytes) => client.write(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  line.port = (server.address() as AddressInfo).port
  return line
}

t.test('while the server is silent, connection attempts are limited', async (t) => {
  const proxy = await startTcpProxy(t, server)
  const { store, id } = await withSeat(t, { port: proxy.port, pool: 2 })
  await proxy.cut()
  const counter = await countConnections(t, proxy.port)
  // The time of the store goes on only between the rounds.
  let now = process.hrtime.bigint()
  const clock = t.intercept(process.hrtime, 'bigint', { value: () => now })
  for (let round = 1; round <= 3; round++) {
    for (let call = 0; call < 50; call++) await t.rejects(store.seatById('acme', id), StoreUnavailable)
    t.ok(counter.count >= round && counter.count <= 2 * round, `${counter.count} attempts in ${round} rounds`)
    now += 100_000_000n
  }
  clock.restore()
  await counter.close()
  await proxy.heal()
  await recovers(t, store, id)
})

async function countConnections(t: Test, port: number) {
  let count = 0
  const server: Server = createServer((socket) => {
    count++
    socket.destroy()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return {
    get count() {
      return count
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
