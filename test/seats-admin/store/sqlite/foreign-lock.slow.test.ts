/** Another program holds the write lock of the file. */

import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import t from 'tap'
import { done, writer } from '../conformance.ts'
import { locked } from '../locked.ts'
import { open, otherProgram, temporaryFolder } from './support.ts'

locked(t, async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  return {
    open: (timeout) => open(t, { path, timeout }),
    lock: async () => {
      await (await open(t, { path })).close()
      return otherProgram(t, path, 'BEGIN IMMEDIATE')
    },
    // The writer's thread receives its call before the reader's thread responds.
    waiting: async (store) => void (await store.changesSince(null)),
  }
})

t.test('a write behind a file of Seats waits as long as that may take', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const timeout = 2000
  const store = await open(t, { path, timeout })
  const release = await otherProgram(t, path, 'BEGIN IMMEDIATE')
  const seats = [{ name: 'A', spaces: [], permissions: [], was: null }]
  const applied = store.applySeats(writer(), { seats, prune: false }, null)
  // Its Seats are on their way to the thread by then.
  await setImmediate()
  const created = store.createSeat(writer(), { name: 'B', spaces: [], permissions: [] })
  const settled: string[] = []
  for (const [name, call] of Object.entries({ applied, created }))
    void call.finally(() => settled.push(name)).catch(() => {})
  await setTimeout(1.5 * timeout)
  t.same(settled, [], 'neither has given up')
  await release()
  done(await applied)
  done(await created)
  t.same(settled, ['applied', 'created'])
})
