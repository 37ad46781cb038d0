/** `kill -9`: acknowledged writes are complete afterwards, with their entries in the audit; a write in flight is applied entirely or not at all. */

import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openSqliteStore } from '../../../../seats-admin/index.ts'
import { until } from '../../../support/until.ts'
import { lost, startWriter, writeUntilKilled } from '../killed.ts'
import { KILLED } from '../killed-records.ts'
import { temporaryFolder } from './support.ts'

const LANES = 2

for (const kind of KILLED) {
  const { what, rounds, faults } = kind
  t.test(`${LANES * rounds} writers of ${what}`, async (t) => {
    const lane = async (number: number) => {
      const path = join(temporaryFolder(t), 'seatgate.db')
      const location = { kind: 'sqlite', path, timeout: 60_000 } as const
      const all: string[] = []
      for (let round = 0; round < rounds; round++) {
        const acknowledged = await writeUntilKilled(location, `${number}-${round}`, what)
        all.push(...acknowledged)
        const store = await openSqliteStore({ path, timeout: 60_000 })
        const about = `lane ${number}, round ${round}: ${acknowledged.length} acknowledged`
        t.same(await lost(store, acknowledged, kind), [], about)
        // Every other round the next writer finds the log of the killed one.
        if (round % 2 === 0) await store.close()
        else t.teardown(() => store.close())
      }
      const store = await openSqliteStore({ path, timeout: 60_000 })
      t.same(
        [...(await lost(store, all, kind)), ...(await faults(store, all))],
        [],
        `lane ${number}: ${all.length}`,
      )
      await store.close()
      t.ok(all.length >= rounds, 'at least one in each round')
    }
    await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
  })
}

t.test('killed while it creates the file', async (t) => {
  for (let round = 0; round < 4; round++) {
    const folder = temporaryFolder(t)
    const path = join(folder, 'seatgate.db')
    const child = startWriter({ kind: 'sqlite', path }, 'x', 'Seats')
    const exit = once(child, 'exit')
    await until(() => readdirSync(folder).length > 0, 'a file, or its draft', { pause: 1 })
    await sleep(round * 10)
    child.kill('SIGKILL')
    await exit
    const store = await openSqliteStore({ path, timeout: 60_000 })
    t.ok((await store.changesSince(null)).head.seq >= 0)
    await store.close()
  }
})
