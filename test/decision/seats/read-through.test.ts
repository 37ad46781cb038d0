import t from 'tap'
import type { Trace } from '../../../src/model/decision.ts'
import {
  type AsOf,
  type Question,
  ReadThrough,
  type Cached,
  WHOLE,
} from '../../../src/decision/seats/read-through.ts'
import { LruMap, MemoryBudget } from '../../../src/decision/seats/lru-maps.ts'

/** Room for eight. */
const remembered = () => new LruMap<Cached<string>>(new MemoryBudget(8), () => 1)

/** A source whose answers the test gives one by one. */
function source() {
  const asked: { key: string; answer: (value: AsOf<string>) => void; fail: (error: Error) => void }[] = []
  const cache = new ReadThrough<string>({
    cache: remembered(),
    load: (key) => new Promise<AsOf<string>>((answer, fail) => asked.push({ key, answer, fail })),
  })
  return { asked, cache }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('asks once for many, then answers at once', async (t) => {
  const { asked, cache } = source()
  const waiting = [cache.get('a', WHOLE), cache.get('a', WHOLE), cache.get('a', WHOLE)]
  t.equal(asked.length, 1)
  asked[0]?.answer({ seq: 1, value: 'A' })
  t.same(await Promise.all(waiting), ['A', 'A', 'A'])
  t.equal(cache.get('a', WHOLE), 'A', 'no promise')
})

t.test('forgets when told', async (t) => {
  const { asked, cache } = source()
  const first = cache.get('a', WHOLE)
  asked[0]?.answer({ seq: 1, value: 'old' })
  await first
  cache.invalidate('a', 2)
  const second = cache.get('a', WHOLE)
  asked[1]?.answer({ seq: 2, value: 'new' })
  t.equal(await second, 'new')
})

t.test('a slow reading that began before a change is not believed', async (t) => {
  const { asked, cache } = source()
  const waiting = cache.get('a', WHOLE)
  cache.invalidate('a', 7)
  asked[0]?.answer({ seq: 6, value: 'old' })
  await settled()
  t.equal(asked.length, 2, 'asked again')
  asked[1]?.answer({ seq: 7, value: 'new' })
  t.equal(await waiting, 'new')
  t.equal(cache.get('a', WHOLE), 'new')
})

t.test('the same when everything is forgotten at once, whatever the numbers say', async (t) => {
  const { asked, cache } = source()
  const waiting = cache.get('a', WHOLE)
  cache.invalidate('a', 2015)
  cache.clear()
  asked[0]?.answer({ seq: 2010, value: 'old' })
  await settled()
  t.equal(asked.length, 2, 'asked again')
  asked[1]?.answer({ seq: 3, value: 'of a store that numbers anew' })
  t.equal(await waiting, 'of a store that numbers anew')
})

t.test('a change to another key costs nothing', async (t) => {
  const { asked, cache } = source()
  const waiting = cache.get('a', WHOLE)
  cache.invalidate('b', 9)
  asked[0]?.answer({ seq: 1, value: 'A' })
  t.equal(await waiting, 'A')
  t.equal(asked.length, 1)
})

t.test('a failure reaches all who wait, and the next one asks again', async (t) => {
  const { asked, cache } = source()
  const waiting = [cache.get('a', WHOLE), cache.get('a', WHOLE)]
  asked[0]?.fail(new Error('gone'))
  for (const each of waiting) await t.rejects(Promise.resolve(each), { message: 'gone' })
  const again = cache.get('a', WHOLE)
  asked[1]?.answer({ seq: 1, value: 'A' })
  t.equal(await again, 'A')
})

t.test('a store that stays behind its own feed ends in an error, not in a loop', async (t) => {
  const cache = new ReadThrough<string>({
    cache: remembered(),
    load: async () => ({ seq: 1, value: 'old' }),
  })
  const waiting = cache.get('a', WHOLE)
  cache.invalidate('a', 2)
  await t.rejects(Promise.resolve(waiting), /older than its own change feed/)
})

t.test('holds no more than its bound, and what is used lately', async (t) => {
  const cache = new ReadThrough<string>({
    cache: remembered(),
    load: async (key) => ({ seq: 1, value: key }),
  })
  await cache.get('used', WHOLE)
  for (let i = 0; i < 100; i++) {
    await cache.get(`key ${i}`, WHOLE)
    t.ok(cache.size <= 8)
    t.equal(cache.get('used', WHOLE), 'used')
  }
  t.type(cache.get('key 1', WHOLE), Promise, 'the oldest went')
})

t.test('says where an answer came from; the slowest of several', async (t) => {
  const { asked, cache } = source()
  const ask = async (trace: Trace, answer: Partial<AsOf<string>>) => {
    const waiting = cache.get('a', WHOLE, trace)
    asked.at(-1)?.answer({ seq: 1, value: 'A', ...answer })
    t.equal(await waiting, 'A')
    return trace.source
  }
  t.equal(await ask({ source: 'memory' }, { source: 'redis' }), 'redis')
  t.equal(await ask({ source: 'redis' }, {}), 'redis', 'memory is no slower')
  t.equal(asked.length, 1)
  cache.clear()
  t.equal(await ask({ source: 'memory' }, {}), 'store', 'which is meant where nothing is said')
  cache.clear()
  t.equal(await ask({ source: 'redis' }, { source: 'store' }), 'store')
  cache.clear()
  t.equal(await ask({ source: 'store' }, { source: 'redis' }), 'store')
})

t.test('the same for all who wait for one answer', async (t) => {
  const { asked, cache } = source()
  const traces: Trace[] = [{ source: 'memory' }, { source: 'memory' }]
  const waiting = traces.map((trace) => cache.get('a', WHOLE, trace))
  asked[0]?.answer({ seq: 1, value: 'A', source: 'redis' })
  await Promise.all(waiting)
  t.same(traces, [{ source: 'redis' }, { source: 'redis' }])
})

t.test('an answer that did not count is not where it came from', async (t) => {
  const { asked, cache } = source()
  const trace: Trace = { source: 'memory' }
  const waiting = cache.get('a', WHOLE, trace)
  cache.invalidate('a', 7)
  asked[0]?.answer({ seq: 6, value: 'old', source: 'store' })
  await settled()
  asked[1]?.answer({ seq: 7, value: 'new', source: 'redis' })
  await waiting
  t.equal(trace.source, 'redis')
})

t.test('a failure leaves the trace as it is', async (t) => {
  const { asked, cache } = source()
  const trace: Trace = { source: 'memory' }
  const waiting = cache.get('a', WHOLE, trace)
  asked[0]?.fail(new Error('gone'))
  await t.rejects(Promise.resolve(waiting), { message: 'gone' })
  t.equal(trace.source, 'memory')
})

/** A source whose answers cover one question each, unless the value begins with `all`. */
function partial() {
  const asked: { key: string; question: string; answer: (value: AsOf<string>) => void }[] = []
  const cache = new ReadThrough<string, Question>({
    cache: new LruMap<Cached<string>>(new MemoryBudget(8), () => 1),
    load: (key, { id }) => new Promise<AsOf<string>>((answer) => asked.push({ key, question: id, answer })),
    isWhole: (value) => value.startsWith('all'),
  })
  const get = (id: string) => cache.get('k', { id })
  return { asked, cache, get }
}

t.test('an answer to one question is remembered for that question alone', async (t) => {
  const { asked, get } = partial()
  const first = get('q1')
  asked[0]?.answer({ seq: 1, value: 'part 1' })
  t.equal(await first, 'part 1')
  t.equal(get('q1'), 'part 1', 'at once')
  const second = get('q2')
  t.same(
    asked.map(({ question }) => question),
    ['q1', 'q2'],
  )
  asked[1]?.answer({ seq: 1, value: 'part 2' })
  t.equal(await second, 'part 2')
  t.same([get('q1'), get('q2')], ['part 1', 'part 2'])
})

t.test('a second question waits for the first answer, which may cover it', async (t) => {
  const { asked, get } = partial()
  const all = [get('q1'), get('q2'), get('q2'), get('q3')]
  t.equal(asked.length, 1)
  asked[0]?.answer({ seq: 1, value: 'all' })
  t.same(await Promise.all(all), ['all', 'all', 'all', 'all'])
  t.same([asked.length, get('q9')], [1, 'all'])
})

t.test('where the first answer does not cover them, each question is asked once', async (t) => {
  const { asked, get } = partial()
  const all = [get('q1'), get('q2'), get('q2'), get('q3')]
  asked[0]?.answer({ seq: 1, value: 'part 1' })
  await settled()
  t.same(
    asked.map(({ question }) => question),
    ['q1', 'q2', 'q3'],
  )
  asked[2]?.answer({ seq: 1, value: 'part 3' })
  asked[1]?.answer({ seq: 1, value: 'part 2' })
  t.same(await Promise.all(all), ['part 1', 'part 2', 'part 2', 'part 3'])
})

t.test('a change voids every question that is under way', async (t) => {
  const { asked, cache, get } = partial()
  const first = get('q1')
  asked[0]?.answer({ seq: 1, value: 'part 1' })
  await first
  const [second, third] = [get('q2'), get('q3')]
  cache.invalidate('k', 5)
  for (const question of asked.splice(0)) question.answer({ seq: 4, value: 'part old' })
  await settled()
  t.same(
    asked.map(({ question }) => question),
    ['q2', 'q3'],
    'asked again',
  )
  for (const question of asked.splice(0)) question.answer({ seq: 5, value: `part ${question.question}` })
  t.same(await Promise.all([second, third]), ['part q2', 'part q3'])
  t.type(get('q1'), Promise, 'forgotten as well')
})

t.test('of one key, sixteen answers are remembered', async (t) => {
  const { asked, get } = partial()
  for (let at = 0; at < 40; at++) {
    const answer = get(`q${at}`)
    asked.at(-1)?.answer({ seq: 1, value: `part ${at}` })
    await answer
  }
  t.equal(get('q39'), 'part 39')
  t.equal(get('q24'), 'part 24')
  t.type(get('q23'), Promise)
})
