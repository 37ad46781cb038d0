/** One tenant's reads of the store neither delay nor starve another's. */

import t from 'tap'
import { FairReads, type FairReadsOptions } from '../../../src/decision/seats/fair-reads.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Reads that the test completes. */
function setUp(options: Partial<FairReadsOptions> = {}) {
  let time = 0
  const reads = new FairReads({
    perTenant: 2,
    total: 4,
    waiting: 10,
    maxWait: 1000,
    now: () => time,
    ...options,
  })
  const started: { what: string; end: (failure?: Error) => void }[] = []
  const run = (what: string) =>
    reads.run(
      what.split(' ')[0] ?? '',
      () =>
        new Promise<string>((resolve, reject) => {
          started.push({ what, end: (failure) => (failure ? reject(failure) : resolve(what)) })
        }),
    )
  const names = () => started.map(({ what }) => what)
  return { reads, started, names, run, later: (ms: number) => (time += ms) }
}

t.test('the number of concurrent reads is bounded, for a tenant and in total', async (t) => {
  const { run, names, started } = setUp()
  for (const what of ['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'b 3', 'c 1']) void run(what)
  t.same(names(), ['a 1', 'a 2', 'b 1', 'b 2'])
  started[0]?.end()
  await settled()
  t.equal(started.length, 5)
})

t.test('waiting tenants take turns, however many reads one of them queues', async (t) => {
  const { run, names, started } = setUp({ perTenant: 1, total: 1 })
  for (let at = 0; at < 5; at++) void run(`a ${at}`)
  for (let at = 0; at < 3; at++) void run(`b ${at}`)
  void run('c 0')
  for (let at = 0; at < 8; at++) {
    started[at]?.end()
    await settled()
  }
  t.same(names(), ['a 0', 'b 0', 'c 0', 'a 1', 'b 1', 'a 2', 'b 2', 'a 3', 'a 4'])
})

t.test('each read has its own result, and its own failure', async (t) => {
  const { run, started, reads } = setUp({ perTenant: 1, total: 1 })
  const answers = [run('a 1'), run('a 2'), run('b 1')]
  started[0]?.end(new Error('no store'))
  await t.rejects(Promise.resolve(answers[0]), /no store/)
  await settled()
  t.equal(reads.waiting, 1)
  started[1]?.end()
  await settled()
  started[2]?.end()
  t.same(await Promise.all(answers.slice(1)), ['a 2', 'b 1'])
  t.equal(reads.waiting, 0)
})

t.test('a read that throws synchronously is rejected, and frees its slot', async (t) => {
  const { run, started, reads } = setUp({ perTenant: 1, total: 2, waiting: 5000 })
  const broken = () =>
    reads.run('a', (): Promise<string> => {
      throw new Error('no store')
    })
  await t.rejects(broken(), /no store/)
  const first = run('a 1')
  const many = Promise.allSettled(Array.from({ length: 3000 }, broken))
  const last = run('a 2')
  started[0]?.end()
  t.equal(await first, 'a 1')
  t.ok((await many).every(({ status }) => status === 'rejected'))
  await settled()
  t.equal(reads.waiting, 0)
  started[1]?.end()
  t.equal(await last, 'a 2')
})

t.test("reads beyond a tenant's bound are refused, and other tenants' are not", async (t) => {
  const { run, reads, started } = setUp()
  for (let at = 0; at < 12; at++) void run(`a ${at}`).catch(() => {})
  await t.rejects(run('a 12'), /tenant a has 10 reads of the store waiting/)
  void run('b 1')
  t.equal(started.length, 3)
  t.equal(reads.waiting, 10)
})

t.test('a read that waits too long is refused, and frees its slot', async (t) => {
  const { run, reads, later } = setUp()
  const all = ['a 1', 'a 2', 'a 3'].map((what) => run(what))
  later(1001)
  // The timer for late reads keeps no process alive.
  const awake = setInterval(() => {}, 50)
  t.teardown(() => clearInterval(awake))
  await t.rejects(Promise.resolve(all[2]), /waited more than 1000 ms/)
  t.equal(reads.waiting, 0)
})

t.test('in any order of completion all reads run, and the bounds hold', async (t) => {
  let seed = 11
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const under = new Map<string, number>()
  const ends: (() => void)[] = []
  let [ran, most] = [0, 0]
  const reads = new FairReads({ perTenant: 3, total: 7, waiting: 9999, maxWait: 1000, now: () => 0 })
  const all: Promise<void>[] = []
  for (let step = 0; step < 5000; step++) {
    const tenant = `t${random(random(10) + 1)}`
    if (random(3) > 0)
      all.push(
        reads.run(tenant, async () => {
          under.set(tenant, (under.get(tenant) ?? 0) + 1)
          most = Math.max(most, ends.length + 1)
          if ((under.get(tenant) ?? 0) > 3) t.fail(`${tenant} has more than three`)
          await new Promise<void>((resolve) => ends.push(resolve))
          under.set(tenant, (under.get(tenant) ?? 0) - 1)
          ran++
        }),
      )
    else {
      ends.splice(random(ends.length), 1)[0]?.()
      await settled()
    }
  }
  while (ends.length > 0) {
    ends.shift()?.()
    await settled()
  }
  await Promise.all(all)
  t.equal(ran, all.length)
  t.ok(most <= 7, `${most} at once`)
  t.equal(reads.waiting, 0)
})
