/** `kill -9`: acknowledged writes are complete afterwards, with their entries in the audit; a write in flight is applied entirely or not at all. */

import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openSqliteStore } from '../../../../seats-admin/index.ts'
import { auditFaults, lostWrites, incompleteSeats, startWriter, writeUntilKilled } from '../killed.ts'
import { temporaryFolder } from './support.ts'

const LANES = 4
const ROUNDS = 40

t.test(`${LANES * ROUNDS} rounds`, async (t) => {
  const lane = async (number: number) => {
    const path = join(temporaryFolder(t), 'seatgate.db')
    const all: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const acknowledged = await writeUntilKilled(
        { kind: 'sqlite', path },
        `${number}-${round}`,
        Math.random() * 100,
      )
      all.push(...acknowledged)
      const store = await openSqliteStore({ path })
      t.same(
        await lostWrites(store, acknowledged),
        [],
        `lane ${number}, round ${round}: ${acknowledged.length} acknowledged`,
      )
      // Every other round the next writer finds the log of the killed one.
      if (round % 2 === 0) await store.close()
      else t.teardown(() => store.close())
    }
    const store = await openSqliteStore({ path })
    t.same(
      [
        ...(await lostWrites(store, all)),
        ...(await incompleteSeats(store)),
        ...(await auditFaults(store, all)),
      ],
      [],
      `lane ${number}: all ${all.length}`,
    )
    await store.close()
    t.ok(all.length >= ROUNDS, 'at least one in each round')
  }
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
})

t.test('killed while it creates the file', async (t) => {
  for (let round = 0; round < 8; round++) {
    const path = join(temporaryFolder(t), 'seatgate.db')
    const child = startWriter({ kind: 'sqlite', path }, 'x')
    const exit = once(child, 'exit')
    await sleep(60 + Math.random() * 200)
    child.kill('SIGKILL')
    await exit
    const store = await openSqliteStore({ path })
    t.ok((await store.changesSince(null)).head.seq >= 0)
    await store.close()
  }
})
