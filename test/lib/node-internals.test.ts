import { getHeapSpaceStatistics } from 'node:v8'
import t from 'tap'
import { collectYoungGeneration, missingInternals } from '../../src/lib/node-internals.ts'

t.test('this version of Node.js has all that is used without a public name', async (t) => {
  t.same(missingInternals(), [])
})

t.test('the young generation is collected, by a function that no other code sees', async (t) => {
  const used = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_used_size ?? 0
  let garbage: unknown[]
  do garbage = Array.from({ length: 1000 }, () => ({}))
  while (used() < 512 * 1024)
  t.equal(garbage.length, 1000)
  garbage = []
  const before = used()
  collectYoungGeneration()
  t.ok(used() < before / 2, `${before} bytes before, ${used()} after`)
  t.equal(typeof (globalThis as { gc?: unknown }).gc, 'undefined')
})
