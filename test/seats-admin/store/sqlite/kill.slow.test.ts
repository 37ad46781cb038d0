/** `kill -9`: what was acknowledged is there afterwards, whole; what was under way is there wholly or not at all. */

import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openSqliteStore } from '../../../../seats-admin/index.ts'
import { broken, halves, startWriter, writeAndDie } from '../killed.ts'
import { temporaryFolder } from './support.ts'

const LANES = 4
const ROUNDS = 10

t.test(`${LANES * ROUNDS} rounds`, async (t) => {
  const lane = async (number: number) => {
    const path = join(temporaryFolder(t), 'seatgate.db')
    const all: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const said = await writeAndDie({ kind: 'sqlite', path }, `${number}-${round}`, Math.random() * 100)
      all.push(...said)
      const store = await openSqliteStore({ path })
      t.same(await broken(store, said), [], `lane ${number}, round ${round}: ${said.length} acknowledged`)
      // Every other round the next writer finds the log as the killed one left it.
      if (round % 2 === 0) await store.close()
      else t.teardown(() => store.close())
    }
    const store = await openSqliteStore({ path })
    t.same([...(await broken(store, all)), ...(await halves(store))], [], `lane ${number}: all ${all.length}`)
    await store.close()
    t.ok(all.length >= ROUNDS, 'each round had one at least')
  }
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
})

t.test('killed while it makes the file', async (t) => {
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
