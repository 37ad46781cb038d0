/** Another program, or a frozen gateway, holds the counter row. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../seats-admin/index.ts'
import { withTimeout } from '../../../../seats-admin/store/postgres/call.ts'
import { sessionOf } from '../../../../seats-admin/store/postgres/connection-pools.ts'
import { Pool } from '../../../../seats-admin/store/postgres/postgres-pool.ts'
import { transact } from '../../../../seats-admin/store/postgres/postgres-transaction.ts'
import { parseUrl } from '../../../../seats-admin/store/postgres/url.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { startTcpProxy } from '../../../support/servers/proxy.ts'
import { until } from '../../../support/until.ts'
import { ADMIN, done, writer } from '../conformance.ts'
import { locked } from '../locked.ts'
import { connected, databaseOf, emptyDatabase, open } from './support.ts'

const server = await startPostgres(t, { fsync: false })
const seat = (name: string) => ({ name, spaces: [], permissions: [] })
const page = { limit: 100, after: null, scope: ADMIN }

/** As an administrator may with psql. */
async function lock(t: Test, url: string): Promise<() => Promise<void>> {
  const client = await connected(t, url)
  await client.query('BEGIN; SELECT * FROM seatgate.counter FOR UPDATE')
  return async () => void (await client.query('ROLLBACK'))
}

async function waiting(url: string): Promise<void> {
  const asked = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`
  await until(
    async () => (await server.query(asked, [databaseOf(url)])).length > 0,
    'a call that waits for the lock',
  )
}

locked(t, async (t) => {
  const url = await emptyDatabase(server)
  return {
    open: (timeout) => open(t, { url, timeout }),
    lock: () => lock(t, url),
    waiting: () => waiting(url),
  }
})

t.test('a gateway frozen in its transaction does not block the others', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const script = fileURLToPath(new URL('./lock-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.kill('SIGSTOP')
  done(await store.createSeat(writer(), seat('B')))
  const exit = once(child, 'exit')
  child.stdin.write('go on\n')
  child.kill('SIGCONT')
  t.same(await exit, [0, null], 'its write failed')
  t.same(
    (await store.listSeats('acme', page)).data.map((each) => each.name),
    ['B'],
  )
})

const questions = {
  'in its transaction': 'SELECT 1',
  // More than all buffers on the way: the server can't send it, and no statement timeout ends that.
  'during a large response': `SELECT repeat('x', 100000000)`,
}
for (const [where, question] of Object.entries(questions)) {
  t.test(`nor does a gateway that is cut off ${where}`, async (t) => {
    const proxy = await startTcpProxy(t, server)
    const url = await emptyDatabase(server)
    const others = await open(t, { url })
    const target = parseUrl(url.replace(`:${server.port}/`, `:${proxy.port}/`))
    const pool = new Pool(target, sessionOf(2000), 1)
    const cut = Promise.withResolvers<void>()
    // The client's timeout is longer: the server must end the transaction.
    const write = withTimeout(60_000, (call) =>
      transact(pool, call, async (transaction) => {
        proxy.freeze()
        cut.resolve()
        return transaction.all(question, {})
      }),
    )
    await cut.promise
    done(await others.createSeat(writer(), seat('B')))
    const refused = t.rejects(write, StoreUnavailable)
    await proxy.heal()
    await refused
    await pool.close()
  })
}
