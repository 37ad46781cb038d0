/** What is kept in the process for a sign-in: taken once, not too late, not without bound. */

import t from 'tap'
import { ProcessEphemeral } from '../../src/oidc/ephemeral.ts'

t.test('taken once', async (t) => {
  const kept = new ProcessEphemeral()
  await kept.put('a', '1', 1000)
  const taken = await Promise.all(Array.from({ length: 50 }, () => kept.take('a')))
  t.same(
    taken.filter((value) => value !== null),
    ['1'],
  )
  t.equal(await kept.take('b'), null)
})

t.test('replaced', async (t) => {
  const kept = new ProcessEphemeral()
  await kept.put('a', '1', 1000)
  await kept.put('a', '2', 1000)
  t.equal(await kept.take('a'), '2')
  t.equal(await kept.take('a'), null)
})

t.test('not after its time', async (t) => {
  let now = 5
  const kept = new ProcessEphemeral({}, () => now)
  await kept.put('a', '1', 1000)
  await kept.put('b', '2', 1000)
  now = 1004
  t.equal(await kept.take('a'), '1')
  now = 1005
  t.equal(await kept.take('b'), null)
})

t.test('bounded in number: the oldest goes first', async (t) => {
  const kept = new ProcessEphemeral({ maxEntries: 10 })
  for (let i = 0; i < 1000; i++) await kept.put(String(i), 'x', 1000)
  t.equal(kept.size, 10)
  t.equal(await kept.take('989'), null)
  t.equal(await kept.take('990'), 'x')
  t.equal(await kept.take('999'), 'x')
})

t.test('bounded in size', async (t) => {
  const kept = new ProcessEphemeral({ maxSize: 1000, maxEntry: 200 })
  for (let i = 0; i < 100; i++) await kept.put(`k${i}`, 'x'.repeat(97), 1000)
  t.equal(kept.size, 10)
  await t.rejects(kept.put('large', 'x'.repeat(200), 1000))
  t.equal(await kept.take('k99'), 'x'.repeat(97))
})
