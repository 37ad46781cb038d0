/** The stages of one event loop iteration run breadth first, and none is lost. */

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { inBatch } from '../../src/lib/batched-steps.ts'

t.test('all run a stage before the first runs the next', async (t) => {
  const seen: string[] = []
  const second = (name: string) => void seen.push(`second ${name}`)
  const first = (name: string) => {
    seen.push(`first ${name}`)
    inBatch(second, name)
  }
  for (const name of ['a', 'b', 'c']) inBatch(first, name)
  t.same(seen, [], 'not at once')
  await turn()
  t.same(seen, ['first a', 'first b', 'first c', 'second a', 'second b', 'second c'])
})

t.test('a step that throws does not affect the others', async (t) => {
  const seen: string[] = []
  const fault = new Error('a fault of ours')
  const thrown = new Promise((resolve) => process.once('uncaughtException', resolve))
  const step = (name: string) => {
    if (name === 'b') throw fault
    seen.push(name)
  }
  for (const name of ['a', 'b', 'c', 'd']) inBatch(step, name)
  t.equal(await thrown, fault)
  await turn()
  await turn()
  t.same(seen, ['a', 'c', 'd'])
})
