import t from 'tap'
import type { Trace } from '../../../src/model/decision.ts'
import {
  type AsOf,
  type Question,
  ReadThrough,
  type Cached,
  WHOLE,
} from '../../../src/decision/seats/read-through.ts'
import { LruMap, LruBudget } from '../../../src/lib/lru-maps.ts'
import { traceFrom } from '../trace.ts'
import { ReceivedChanges } from '../../../src/decision/seats/received-changes.ts'

/** A bound of eight values. */
const remembered = () => new LruMap<Cached<string>>(new LruBudget(8), () => 1)

/** A source whose reads the test completes one by one. */
function source() {
  const loads: { key: string; answer: (value: AsOf<string>) => void; fail: (error: Error) => void }[] = []
  const cache = new ReadThrough<string>({
    kind: 'seat',
    received: new ReceivedChanges(),
    cache: remembered(),
    load: (_tenant, key) => new Promise<AsOf<string>>((answer, fail) => loads.push({ key, answer, fail })),
  })
  return { loads, cache }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('concurrent look-ups share one read, later ones are synchronous', async (t) => {
  const { loads, cache } = source()
  const waiting = [
    cache.get('acme', 'a', WHOLE),
    cache.get('acme', 'a', WHOLE),
    cache.get('acme', 'a', WHOLE),
  ]
  t.equal(loads.length, 1)
  loads[0]?.answer({ seq: 1, value: 'A' })
  t.same(await Promise.all(waiting), ['A', 'A', 'A'])
  t.equal(cache.get('acme', 'a', WHOLE), 'A', 'not a promise')
})

t.test('a notified change invalidates', async (t) => {
  const { loads, cache } = source()
  const first = cache.get('acme', 'a', WHOLE)
  loads[0]?.answer({ seq: 1, value: 'old' })
  await first
  cache.invalidate('acme', 'a', 2)
  const second = cache.get('acme', 'a', WHOLE)
  loads[1]?.answer({ seq: 2, value: 'new' })
  t.equal(await second, 'new')
})

t.test('a slow read that began before a change is not used', async (t) => {
  const { loads, cache } = source()
  const waiting = cache.get('acme', 'a', WHOLE)
  cache.invalidate('acme', 'a', 7)
  loads[0]?.answer({ seq: 6, value: 'old' })
  await settled()
  t.equal(loads.length, 2, 'read again')
  loads[1]?.answer({ seq: 7, value: 'new' })
  t.equal(await waiting, 'new')
  t.equal(cache.get('acme', 'a', WHOLE), 'new')
})

t.test('the same after everything is invalidated, with any sequence numbers', async (t) => {
  const { loads, cache } = source()
  const waiting = cache.get('acme', 'a', WHOLE)
  cache.invalidate('acme', 'a', 2015)
  cache.clear()
  loads[0]?.answer({ seq: 2010, value: 'old' })
  await settled()
  t.equal(loads.length, 2, 'read again')
  loads[1]?.answer({ seq: 3, value: 'of a store that numbers anew' })
  t.equal(await waiting, 'of a store that numbers anew')
})

t.test('a change of another key causes no read', async (t) => {
  const { loads, cache } = source()
  const waiting = cache.get('acme', 'a', WHOLE)
  cache.invalidate('acme', 'b', 9)
  loads[0]?.answer({ seq: 1, value: 'A' })
  t.equal(await waiting, 'A')
  t.equal(loads.length, 1)
})

t.test('a failure reaches all waiting callers, and the next one reads again', async (t) => {
  const { loads, cache } = source()
  const waiting = [cache.get('acme', 'a', WHOLE), cache.get('acme', 'a', WHOLE)]
  loads[0]?.fail(new Error('gone'))
  for (const each of waiting) await t.rejects(Promise.resolve(each), { message: 'gone' })
  const again = cache.get('acme', 'a', WHOLE)
  loads[1]?.answer({ seq: 1, value: 'A' })
  t.equal(await again, 'A')
})

t.test('a store that stays behind its own feed gives an error, not a loop', async (t) => {
  const cache = new ReadThrough<string>({
    kind: 'seat',
    received: new ReceivedChanges(),
    cache: remembered(),
    load: async () => ({ seq: 1, value: 'old' }),
  })
  const waiting = cache.get('acme', 'a', WHOLE)
  cache.invalidate('acme', 'a', 2)
  await t.rejects(Promise.resolve(waiting), /older than its own change feed/)
})

t.test('it holds no more than its bound, least recently used first', async (t) => {
  const cache = new ReadThrough<string>({
    kind: 'seat',
    received: new ReceivedChanges(),
    cache: remembered(),
    load: async (_tenant, key) => ({ seq: 1, value: key }),
  })
  await cache.get('acme', 'used', WHOLE)
  for (let i = 0; i < 100; i++) {
    await cache.get('acme', `key ${i}`, WHOLE)
    t.ok(cache.size <= 8)
    t.equal(cache.get('acme', 'used', WHOLE), 'used')
  }
  t.type(cache.get('acme', 'key 1', WHOLE), Promise, 'the oldest was evicted')
})

t.test('the trace has the source of a value, or the slowest of several', async (t) => {
  const { loads, cache } = source()
  const ask = async (trace: Trace, answer: Partial<AsOf<string>>) => {
    const waiting = cache.get('acme', 'a', WHOLE, trace)
    loads.at(-1)?.answer({ seq: 1, value: 'A', ...answer })
    t.equal(await waiting, 'A')
    return trace.source
  }
  t.equal(await ask(traceFrom('memory'), { source: 'redis' }), 'redis')
  t.equal(await ask(traceFrom('redis'), {}), 'redis', 'memory is no slower')
  t.equal(loads.length, 1)
  cache.clear()
  t.equal(await ask(traceFrom('memory'), {}), 'store', 'the default source')
  cache.clear()
  t.equal(await ask(traceFrom('redis'), { source: 'store' }), 'store')
  cache.clear()
  t.equal(await ask(traceFrom('store'), { source: 'redis' }), 'store')
})

t.test('all callers that wait for one read have its source', async (t) => {
  const { loads, cache } = source()
  const traces = [traceFrom(), traceFrom()]
  const waiting = traces.map((trace) => cache.get('acme', 'a', WHOLE, trace))
  loads[0]?.answer({ seq: 1, value: 'A', source: 'redis' })
  await Promise.all(waiting)
  t.same(
    traces.map(({ source: of }) => of),
    ['redis', 'redis'],
  )
})

t.test('a discarded read is not the source', async (t) => {
  const { loads, cache } = source()
  const trace = traceFrom()
  const waiting = cache.get('acme', 'a', WHOLE, trace)
  cache.invalidate('acme', 'a', 7)
  loads[0]?.answer({ seq: 6, value: 'old', source: 'store' })
  await settled()
  loads[1]?.answer({ seq: 7, value: 'new', source: 'redis' })
  await waiting
  t.equal(trace.source, 'redis')
})

t.test('a failure leaves the trace unchanged', async (t) => {
  const { loads, cache } = source()
  const trace = traceFrom()
  const waiting = cache.get('acme', 'a', WHOLE, trace)
  loads[0]?.fail(new Error('gone'))
  await t.rejects(Promise.resolve(waiting), { message: 'gone' })
  t.equal(trace.source, 'memory')
})

/** A source whose results cover one query each, unless the value begins with `all`. */
function partial() {
  const loads: { key: string; query: string; answer: (value: AsOf<string>) => void }[] = []
  const received = new ReceivedChanges()
  received.readTo(4, true)
  const cache = new ReadThrough<string, Question>({
    kind: 'seat',
    received,
    cache: new LruMap<Cached<string>>(new LruBudget(8), () => 1),
    load: (_tenant, key, { id }) =>
      new Promise<AsOf<string>>((answer) => loads.push({ key, query: id, answer })),
    isWhole: (value) => value.startsWith('all'),
  })
  const get = (id: string) => cache.get('acme', 'k', { id })
  return { loads, cache, get }
}

t.test('a result for one query is cached for that query alone', async (t) => {
  const { loads, get } = partial()
  const first = get('q1')
  loads[0]?.answer({ seq: 1, value: 'part 1' })
  t.equal(await first, 'part 1')
  t.equal(get('q1'), 'part 1', 'synchronously')
  const second = get('q2')
  t.same(
    loads.map(({ query }) => query),
    ['q1', 'q2'],
  )
  loads[1]?.answer({ seq: 1, value: 'part 2' })
  t.equal(await second, 'part 2')
  t.same([get('q1'), get('q2')], ['part 1', 'part 2'])
})

t.test('a second query waits for the first result, which may cover it', async (t) => {
  const { loads, get } = partial()
  const all = [get('q1'), get('q2'), get('q2'), get('q3')]
  t.equal(loads.length, 1)
  loads[0]?.answer({ seq: 1, value: 'all' })
  t.same(await Promise.all(all), ['all', 'all', 'all', 'all'])
  t.same([loads.length, get('q9')], [1, 'all'])
})

t.test('where the first result does not cover them, each query is read once', async (t) => {
  const { loads, get } = partial()
  const all = [get('q1'), get('q2'), get('q2'), get('q3')]
  loads[0]?.answer({ seq: 1, value: 'part 1' })
  await settled()
  t.same(
    loads.map(({ query }) => query),
    ['q1', 'q2', 'q3'],
  )
  loads[2]?.answer({ seq: 1, value: 'part 3' })
  loads[1]?.answer({ seq: 1, value: 'part 2' })
  t.same(await Promise.all(all), ['part 1', 'part 2', 'part 2', 'part 3'])
})

t.test('a change invalidates every pending query', async (t) => {
  const { loads, cache, get } = partial()
  const first = get('q1')
  loads[0]?.answer({ seq: 1, value: 'part 1' })
  await first
  const [second, third] = [get('q2'), get('q3')]
  cache.invalidate('acme', 'k', 5)
  for (const query of loads.splice(0)) query.answer({ seq: 4, value: 'part old' })
  await settled()
  t.same(
    loads.map(({ query }) => query),
    ['q2', 'q3'],
    'read again',
  )
  for (const query of loads.splice(0)) query.answer({ seq: 5, value: `part ${query.query}` })
  t.same(await Promise.all([second, third]), ['part q2', 'part q3'])
  t.type(get('q1'), Promise, 'invalidated too')
})

t.test('sixteen results are cached for one key', async (t) => {
  const { loads, get } = partial()
  for (let at = 0; at < 40; at++) {
    const answer = get(`q${at}`)
    loads.at(-1)?.answer({ seq: 1, value: `part ${at}` })
    await answer
  }
  t.equal(get('q39'), 'part 39')
  t.equal(get('q24'), 'part 24')
  t.type(get('q23'), Promise)
})

t.test('the values of a tenant are forgotten together, and the reads that began before', async (t) => {
  const { loads, cache } = source()
  const read = async (tenant: string, key: string, seq: number) => {
    const value = cache.get(tenant, key, WHOLE)
    loads.at(-1)?.answer({ seq, value: `${tenant} ${key} ${seq}` })
    return value
  }
  for (const tenant of ['acme', 'acme-2']) for (const key of ['a', 'b']) await read(tenant, key, 1)
  const inFlight = cache.get('acme', 'c', WHOLE)
  const elsewhere = cache.get('acme-2', 'c', WHOLE)
  const [own, other] = loads.slice(-2)
  cache.invalidateTenant('acme', 5)
  t.equal(cache.size, 2)
  t.equal(cache.get('acme-2', 'a', WHOLE), 'acme-2 a 1')
  t.equal(await read('acme', 'a', 5), 'acme a 5')
  own?.answer({ seq: 4, value: 'old' })
  other?.answer({ seq: 4, value: 'counts' })
  t.equal(await elsewhere, 'counts')
  await settled()
  loads.at(-1)?.answer({ seq: 5, value: 'new' })
  t.equal(await inFlight, 'new')
})
