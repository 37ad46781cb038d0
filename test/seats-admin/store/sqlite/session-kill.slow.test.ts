/** `kill -9` of a gateway in which people sign in, refresh and sign out. */

import { join } from 'node:path'
import t from 'tap'
import { openSqliteStore } from '../../../../seats-admin/index.ts'
import { writeAndDie } from '../killed.ts'
import { brokenSessions, sessionScript } from '../session-killed.ts'
import { temporaryFolder } from './support.ts'

const LANES = 2
const ROUNDS = 6

t.test(`${LANES * ROUNDS} rounds`, async (t) => {
  const lane = async (number: number) => {
    const path = join(temporaryFolder(t), 'seatgate.db')
    const all: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const location = { kind: 'sqlite', path, timeout: 10_000 } as const
      const said = await writeAndDie(location, `${number}-${round}`, Math.random() * 100, sessionScript)
      all.push(...said)
      const store = await openSqliteStore({ path })
      t.same(await brokenSessions(store, said), [], `lane ${number}, round ${round}: ${said.length}`)
      // Every other round the next process finds the log as the killed one left it.
      if (round % 2 === 0) await store.close()
      else t.teardown(() => store.close())
    }
    const store = await openSqliteStore({ path })
    t.same(await brokenSessions(store, all), [], `lane ${number}: all ${all.length}`)
    await store.close()
    t.ok(all.length >= ROUNDS, 'each round had one at least')
  }
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
})
