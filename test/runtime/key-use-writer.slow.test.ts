/** The background writer of the last uses of API keys, on real stores that go away and come back. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import type { Store } from '../../seats-admin/index.ts'
import type { KeyUse } from '../../seats-admin/model/api-key.ts'
import { KeyUseWriter, type KeyUseWriterOptions } from '../../src/runtime/key-use-writer.ts'
import { openLog } from '../../src/telemetry/logger.ts'
import { holdTime } from '../support/held-time.ts'
import { ADMIN, done, writer } from '../seats-admin/store/conformance.ts'
import * as postgres from '../seats-admin/store/postgres/support.ts'
import * as sqlite from '../seats-admin/store/sqlite/support.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { until } from '../support/until.ts'

/** The writer of a store; `used` notes a use of a key. */
async function started(t: Test, store: Store, times: Pick<KeyUseWriterOptions, 'every' | 'everyOfKey'> = {}) {
  const log = await openLog({ pretty: false, destination: join(sqlite.temporaryFolder(t), 'log') })
  const warnings: unknown[] = []
  const logger = Object.assign(Object.create(log.logger), {
    warn: (fields: unknown) => warnings.push(fields),
  })
  let noted: KeyUse[] = []
  let rounds = 0
  const take = async () => {
    rounds++
    return noted.splice(0)
  }
  const keyUses = new KeyUseWriter({ store, take, log: { ...log, logger }, ...times })
  t.teardown(async () => {
    await keyUses.close()
    await log.close()
  })
  const used = (id: string, at: number) => void noted.push({ tenant: 'acme', id, at })
  const many = (name: string, count: number) => {
    noted = noted.concat(
      Array.from({ length: count }, (_, at) => ({ tenant: 'acme', id: `${name} ${at}`, at })),
    )
  }
  /** Resolves once a round has begun after all that were noted, and those before it have ended. */
  const nextRounds = async () => {
    const wanted = rounds + 2
    await until(
      () => rounds >= wanted,
      () => `round ${wanted}: ${rounds} have begun`,
    )
  }
  return { keyUses, used, many, nextRounds, warnings }
}

async function keyIn(store: Store): Promise<{ id: string; lastUse: () => Promise<number | null> }> {
  const { id } = done(await store.createApiKey(writer(), { name: 'k', seats: [], expiresAt: null })).value
  return { id, lastUse: async () => done(await store.readApiKey('acme', id, ADMIN)).lastUsedAt }
}

const MINUTE = 60_000

// Neither the threads of a store nor held timers keep the process alive while a test waits for them.
const alive = setInterval(() => {}, MINUTE)
t.teardown(() => clearInterval(alive))

t.test('uses are written each minute, those of one key every five minutes, and all at the end', async (t) => {
  const store = await sqlite.open(t, { path: join(sqlite.temporaryFolder(t), 'seatgate.db') })
  const [one, two] = [await keyIn(store), await keyIn(store)]
  const time = holdTime(t)
  const { keyUses, used } = await started(t, store)
  const isWritten = (key: typeof one, at: number, waiting: number) =>
    until(
      async () => (await key.lastUse()) === at && keyUses.waiting === waiting,
      `${at} as the last use of a key, with ${waiting} others that wait`,
    )
  used(one.id, 100)
  time.pass(MINUTE - 1)
  t.equal(await one.lastUse(), null, 'not yet')
  time.pass(1)
  await isWritten(one, 100, 0)
  used(one.id, 200)
  for (let minute = 1; minute < 5; minute++) {
    used(two.id, 150)
    time.pass(MINUTE)
    // The use of the other key tells that the round has been.
    if (minute === 1) await isWritten(two, 150, 1)
    else await until(() => keyUses.waiting === 2, 'a use of a key that was written a moment ago, waiting')
    t.equal(await one.lastUse(), 100, `written ${minute} minutes ago`)
  }
  time.pass(MINUTE)
  await isWritten(one, 200, 1)
  await keyUses.close()
  t.equal(await two.lastUse(), 150)
})

t.test('a PostgreSQL server that is away: one warning, bounded memory, and nothing is lost', async (t) => {
  const server = await startPostgres(t)
  const store = await postgres.open(t, { url: await postgres.emptyDatabase(server), timeout: 2000 })
  const { keyUses, used, many, nextRounds, warnings } = await started(t, store, { every: 20, everyOfKey: 0 })
  const { id, lastUse } = await keyIn(store)
  await server.stop()
  used(id, 100)
  await until(() => warnings.length > 0, 'a warning')
  for (const name of ['none', 'no other']) {
    many(name, 75_000)
    await nextRounds()
  }
  t.equal(keyUses.waiting, 100_000)
  t.equal(warnings.length, 1)
  t.match(warnings, [{ cause: /StoreUnavailable/ }])
  used(id, 300)
  await server.restart()
  await until(async () => (await lastUse().catch(() => null)) === 300, 'the last use, written')
  await until(
    () => keyUses.waiting === 0,
    () => `${keyUses.waiting} uses wait`,
  )
})

t.test('an orderly end waits two seconds at most for a store that is locked', async (t) => {
  const path = join(sqlite.temporaryFolder(t), 'seatgate.db')
  const store = await sqlite.open(t, { path, timeout: 60_000 })
  const { id, lastUse } = await keyIn(store)
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  const time = holdTime(t)
  /** Ends a writer while another program has the lock of the store. */
  const close = async (at: number) => {
    const { keyUses, used } = await started(t, store)
    other.exec('BEGIN IMMEDIATE')
    used(id, at)
    const closing = { done: false, end: keyUses.close().then(() => void (closing.done = true)) }
    await until(() => keyUses.waiting === 1, 'the last round')
    return closing
  }

  const patient = await close(100)
  time.pass(1999)
  other.exec('ROLLBACK')
  await patient.end
  t.equal(await lastUse(), 100, 'the lock was released in time')

  const late = await close(200)
  time.pass(1999)
  // Longer than an end that doesn't wait takes.
  t.equal(await lastUse(), 100)
  t.notOk(late.done, 'it waits')
  time.pass(1)
  await late.end
  t.equal(await lastUse(), 100, 'the lock is held still')
  other.exec('ROLLBACK')
})
