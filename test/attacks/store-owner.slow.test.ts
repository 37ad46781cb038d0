/**
 * The owner that the store records is overwritten, or the store is replaced by a restored one: the gateway that no longer
 * owns it decides and writes nothing.
 */

import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { until } from '../support/until.ts'
import { admin, ask, askOnce, makeViewer, permit, prepare, start } from './store-gateways.ts'

// A gateway waits for leases and for its next look at the store.
t.jobs = 2

for (const workers of [1, 2]) {
  t.test(
    `another owner is recorded in the store, ${workers} workers: the gateway stops deciding and ends`,
    async (t) => {
      const place = await prepare(t, `workers: ${workers}\n`)
      const { path, key, token } = place
      const gateway = await start(t, place)
      await makeViewer(gateway, key)
      t.equal(await ask(gateway, token), 200)
      // It is stopped meanwhile, so that its memory is unchanged when it continues.
      gateway.signal('SIGSTOP')
      const store = new DatabaseSync(path)
      store.exec("UPDATE counter SET owner = '0:0'")
      store.close()
      gateway.signal('SIGCONT')
      t.equal(await gateway.ended, 1)
      t.match(gateway.log, /another gateway has taken over this store/)
      await t.rejects(askOnce(gateway, token))
    },
  )
}

t.test('superseded: no write is committed', async (t) => {
  const place = await prepare(t)
  const { path, key } = place
  const gateway = await start(t, place)
  const store = new DatabaseSync(path)
  t.teardown(() => store.close())
  store.exec("BEGIN IMMEDIATE; UPDATE counter SET owner = '0:0'")
  const written = admin(gateway, key, 'POST', '/v1/seats', { name: 'Late', spaces: [], permissions: [] })
  const status = written.then(
    (answer) => answer.status,
    () => 'cut',
  )
  await until(async () => (await gateway.metric('seatgate_requests_in_flight')) === 1, 'the write')
  store.exec('COMMIT')
  t.ok([503, 'cut'].includes(await status))
  t.equal(store.prepare("SELECT count(*) AS n FROM seats WHERE name = 'Late'").get()?.n, 0)
  t.equal(await gateway.ended, 1)
})

for (const workers of [1, 2]) {
  t.test(
    `a restored folder replaces the store, and a second gateway starts on it, ${workers} workers`,
    async (t) => {
      const place = await prepare(t, `workers: ${workers}\n`)
      const { cwd, path, key, token } = place
      const first = await start(t, place)
      const id = await makeViewer(first, key)
      t.equal(await ask(first, token), 200)
      mkdirSync(join(cwd, 'restored'))
      const store = new DatabaseSync(path)
      store.exec(`VACUUM INTO '${join(cwd, 'restored', 'seatgate.db')}'`)
      store.close()
      const restored = new DatabaseSync(join(cwd, 'restored', 'seatgate.db'))
      restored.exec("UPDATE counter SET owner = '0:0'")
      restored.close()
      renameSync(join(cwd, 'data'), join(cwd, 'data.old'))
      renameSync(join(cwd, 'restored'), join(cwd, 'data'))
      const second = await start(t, place)
      t.equal(await permit(second, key, id, []), 200)
      const answer = askOnce(first, token).catch(() => 'cut')
      t.ok([503, 'cut'].includes(await answer), 'after that the first one decides nothing')
      const asking = setInterval(() => void askOnce(first, token).catch(() => null), 100)
      t.teardown(() => clearInterval(asking))
      t.equal(await first.ended, 1, 'it ends')
      clearInterval(asking)
      t.match(first.log, /another gateway has taken over this store/)
      t.equal(await ask(second, token), 403)
    },
  )
}
