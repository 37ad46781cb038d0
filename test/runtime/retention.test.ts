/** What a gateway deletes from its store because it is old. */

import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { AuditKeeping, deleteOld } from '../../src/runtime/retention.ts'
import { openLog } from '../../src/telemetry/logger.ts'
import { ADMIN, done, NOTHING, writer } from '../seats-admin/store/conformance.ts'
import { browserSession } from '../seats-admin/store/session-records.ts'
import { open, temporaryFolder } from '../seats-admin/store/sqlite/support.ts'

const DAY = 24 * 3_600_000
const RETENTION = 400 * DAY

async function setUp(t: Test) {
  const folder = temporaryFolder(t)
  const store = await open(t, { path: `${folder}/seatgate.db` })
  const log = await openLog({ pretty: false, destination: `${folder}/log` })
  const audit = new AuditKeeping(store.audit, log)
  // The pauses of the deletion do not keep the process alive.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  return { store, round: () => deleteOld(store, audit, RETENTION) }
}

t.test(
  'an instance whose clock is ahead deletes nothing that is young by the clock of the store',
  async (t) => {
    const { store, round } = await setUp(t)
    const now = Date.now()
    for (const [name, at] of [
      ['old', now - RETENTION - DAY],
      ['young', now - DAY],
    ] as const)
      done(await store.createSeat(writer(ADMIN, at), { name, ...NOTHING }))
    const old = browserSession({ expiresAt: now - 2 * DAY })
    const live = browserSession({ expiresAt: now + DAY })
    for (const each of [old, live]) await store.sessions.create(each)

    const clock = mock.method(Date, 'now', () => now + RETENTION + 2 * DAY)
    t.teardown(() => clock.mock.restore())
    await round()
    const { rows } = await store.audit.chain('acme', '', 10)
    t.match(rows, [{ seq: 2 }], 'the entry of the young Seat')
    t.equal(await store.sessions.sessionById('acme', old.id), null)
    t.match(await store.sessions.sessionById('acme', live.id), { id: live.id })
  },
)

t.test('a clock that is behind deletes nothing too early', async (t) => {
  const { store, round } = await setUp(t)
  const now = Date.now()
  done(await store.createSeat(writer(ADMIN, now - RETENTION - DAY), { name: 'old', ...NOTHING }))
  const clock = mock.method(Date, 'now', () => now - 2 * DAY)
  t.teardown(() => clock.mock.restore())
  await round()
  t.equal((await store.audit.chain('acme', '', 10)).rows.length, 1, 'not old by every clock')
})

t.test('without the clock of the store nothing is deleted', async (t) => {
  const { store, round } = await setUp(t)
  await store.close()
  await t.resolves(round())
})
