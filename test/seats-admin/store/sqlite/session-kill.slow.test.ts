/** `kill -9` of a gateway during sign-ins, refreshes and sign-outs. */

import { join } from 'node:path'
import t from 'tap'
import { openSqliteStore } from '../../../../seats-admin/index.ts'
import { writeUntilKilled } from '../killed.ts'
import { lostSessionSteps, sessionScript } from '../session-killed.ts'
import { temporaryFolder } from './support.ts'

const LANES = 2
const ROUNDS = 6

t.test(`${LANES * ROUNDS} rounds`, async (t) => {
  const lane = async (number: number) => {
    const path = join(temporaryFolder(t), 'seatgate.db')
    const all: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const location = { kind: 'sqlite', path, timeout: 10_000 } as const
      const acknowledged = await writeUntilKilled(
        location,
        `${number}-${round}`,
        Math.random() * 100,
        sessionScript,
      )
      all.push(...acknowledged)
      const store = await openSqliteStore({ path })
      t.same(
        await lostSessionSteps(store, acknowledged),
        [],
        `lane ${number}, round ${round}: ${acknowledged.length}`,
      )
      // Every other round the next process finds the log of the killed one.
      if (round % 2 === 0) await store.close()
      else t.teardown(() => store.close())
    }
    const store = await openSqliteStore({ path })
    t.same(await lostSessionSteps(store, all), [], `lane ${number}: all ${all.length}`)
    await store.close()
    t.ok(all.length >= ROUNDS, 'at least one in each round')
  }
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
})
