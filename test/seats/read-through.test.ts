import t from 'tap'
import { type AsOf, ReadThrough } from '../../src/seats/read-through.ts'

/** A source whose answers the test gives one by one. */
function source() {
  const asked: { key: string; answer: (value: AsOf<string>) => void; fail: (error: Error) => void }[] = []
  const cache = new ReadThrough<string>(
    2,
    (key) => new Promise<AsOf<string>>((answer, fail) => asked.push({ key, answer, fail })),
  )
  return { asked, cache }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('asks once for many, then answers at once', async (t) => {
  const { asked, cache } = source()
  const waiting = [cache.get('a'), cache.get('a'), cache.get('a')]
  t.equal(asked.length, 1)
  asked[0]?.answer({ seq: 1, value: 'A' })
  t.same(await Promise.all(waiting), ['A', 'A', 'A'])
  t.equal(cache.get('a'), 'A', 'no promise')
})

t.test('forgets when told', async (t) => {
  const { asked, cache } = source()
  const first = cache.get('a')
  asked[0]?.answer({ seq: 1, value: 'old' })
  await first
  cache.forget('a', 2)
  const second = cache.get('a')
  asked[1]?.answer({ seq: 2, value: 'new' })
  t.equal(await second, 'new')
})

t.test('a slow reading that began before a change is not believed', async (t) => {
  const { asked, cache } = source()
  const waiting = cache.get('a')
  cache.forget('a', 7)
  asked[0]?.answer({ seq: 6, value: 'old' })
  await settled()
  t.equal(asked.length, 2, 'asked again')
  asked[1]?.answer({ seq: 7, value: 'new' })
  t.equal(await waiting, 'new')
  t.equal(cache.get('a'), 'new')
})

t.test('the same when everything is forgotten at once, whatever the numbers say', async (t) => {
  const { asked, cache } = source()
  const waiting = cache.get('a')
  cache.forget('a', 2015)
  cache.forgetAll()
  asked[0]?.answer({ seq: 2010, value: 'old' })
  await settled()
  t.equal(asked.length, 2, 'asked again')
  asked[1]?.answer({ seq: 3, value: 'of a store that numbers anew' })
  t.equal(await waiting, 'of a store that numbers anew')
})

t.test('a change to another key costs nothing', async (t) => {
  const { asked, cache } = source()
  const waiting = cache.get('a')
  cache.forget('b', 9)
  asked[0]?.answer({ seq: 1, value: 'A' })
  t.equal(await waiting, 'A')
  t.equal(asked.length, 1)
})

t.test('a failure reaches all who wait, and the next one asks again', async (t) => {
  const { asked, cache } = source()
  const waiting = [cache.get('a'), cache.get('a')]
  asked[0]?.fail(new Error('gone'))
  for (const each of waiting) await t.rejects(Promise.resolve(each), { message: 'gone' })
  const again = cache.get('a')
  asked[1]?.answer({ seq: 1, value: 'A' })
  t.equal(await again, 'A')
})

t.test('a store that stays behind its own feed ends in an error, not in a loop', async (t) => {
  const cache = new ReadThrough<string>(2, async () => ({ seq: 1, value: 'old' }))
  const waiting = cache.get('a')
  cache.forget('a', 2)
  await t.rejects(Promise.resolve(waiting), /older than its own change feed/)
})

t.test('holds no more than its bound, and what is used lately', async (t) => {
  const cache = new ReadThrough<string>(8, async (key) => ({ seq: 1, value: key }))
  await cache.get('used')
  for (let i = 0; i < 100; i++) {
    await cache.get(`key ${i}`)
    t.ok(cache.size <= 8)
    t.equal(cache.get('used'), 'used')
  }
  t.type(cache.get('key 1'), Promise, 'the oldest went')
})

t.test('weighs what it holds', async (t) => {
  const cache = new ReadThrough<string>(
    100,
    async (key) => ({ seq: 1, value: key }),
    (value) => value.length,
  )
  for (let i = 0; i < 50; i++) await cache.get(`${i}`.padEnd(20, 'x'))
  t.ok(cache.size <= 6, `${cache.size} of 20 each`)
})
