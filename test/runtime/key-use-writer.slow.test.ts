/** The background writer of the last uses of API keys, on real stores that go away and come back. */

import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import type { Store } from '../../seats-admin/index.ts'
import type { KeyUse } from '../../seats-admin/model/api-key.ts'
import { KeyUseWriter } from '../../src/runtime/key-use-writer.ts'
import { openLog } from '../../src/telemetry/logger.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { ADMIN, done, writer } from '../seats-admin/store/conformance.ts'
import * as postgres from '../seats-admin/store/postgres/support.ts'
import * as sqlite from '../seats-admin/store/sqlite/support.ts'
import { until } from './workers/support.ts'

/** The writer of a store; `used` notes a use of a key. */
async function started(t: Test, store: Store, everyOfKey = 0) {
  const folder = sqlite.temporaryFolder(t)
  const log = await openLog({ pretty: false, destination: join(folder, 'log') })
  const warnings: unknown[] = []
  const logger = Object.assign(Object.create(log.logger), {
    warn: (fields: unknown) => warnings.push(fields),
  })
  let noted: KeyUse[] = []
  const take = async () => noted.splice(0)
  const keyUses = new KeyUseWriter({ store, take, log: { ...log, logger }, every: 20, everyOfKey })
  t.teardown(async () => {
    await keyUses.close()
    await log.close()
  })
  const used = (id: string, at: number) => void noted.push({ tenant: 'acme', id, at })
  const many = (count: number) => {
    noted = noted.concat(Array.from({ length: count }, (_, at) => ({ tenant: 'acme', id: `none ${at}`, at })))
  }
  return { keyUses, used, many, warnings }
}

async function keyIn(store: Store): Promise<{ id: string; lastUse: () => Promise<number | null> }> {
  const { id } = done(await store.createApiKey(writer(), { name: 'k', seats: [], expiresAt: null })).value
  return { id, lastUse: async () => done(await store.readApiKey('acme', id, ADMIN)).lastUsedAt }
}

t.test('uses are written in the background, a key at most once a period, and all at the end', async (t) => {
  const store = await sqlite.open(t, { path: join(sqlite.temporaryFolder(t), 'seatgate.db') })
  const { keyUses, used } = await started(t, store, 60_000)
  const [one, two] = [await keyIn(store), await keyIn(store)]
  used(one.id, 100)
  await until(async () => (await one.lastUse()) === 100)
  used(one.id, 200)
  used(two.id, 150)
  await until(async () => (await two.lastUse()) === 150)
  t.equal(await one.lastUse(), 100, 'written a moment ago')
  t.equal(keyUses.waiting, 1)
  await keyUses.close()
  t.equal(await one.lastUse(), 200)
})

t.test('a PostgreSQL server that is away: one warning, bounded memory, and nothing is lost', async (t) => {
  const server = await startPostgres(t)
  const store = await postgres.open(t, { url: await postgres.emptyDatabase(server), timeout: 2000 })
  const { keyUses, used, many, warnings } = await started(t, store)
  const { id, lastUse } = await keyIn(store)
  await server.stop()
  used(id, 100)
  await until(() => warnings.length > 0)
  many(150_000)
  await until(() => keyUses.waiting > 1)
  await sleep(500)
  t.equal(keyUses.waiting, 100_000)
  used(id, 300)
  await server.restart()
  await until(async () => (await lastUse().catch(() => null)) === 300)
  await until(() => keyUses.waiting === 0)
  t.equal(warnings.length, 1)
  t.match(warnings, [{ cause: /StoreUnavailable/ }])
})

t.test('an orderly end waits two seconds at most for a store that is locked', async (t) => {
  const path = join(sqlite.temporaryFolder(t), 'seatgate.db')
  const store = await sqlite.open(t, { path, timeout: 20_000 })
  const { keyUses, used } = await started(t, store)
  const { id, lastUse } = await keyIn(store)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  used(id, 100)
  let closed = false
  const closing = keyUses.close().then(() => (closed = true))
  await sleep(1000)
  t.equal(closed, false, 'it tries')
  await closing
  t.equal(await lastUse(), null, 'the lock is held still')
  other.exec('ROLLBACK')
  other.close()
})
