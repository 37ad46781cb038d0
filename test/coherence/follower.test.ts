import t from 'tap'
import type { Position } from '../../seats-admin/model/change.ts'
import type { Reading } from '../../src/coherence/feed-reading.ts'
import { type FeedAnswer, Follower, RENEW_EVERY } from '../../src/coherence/follower.ts'
import { change, HandClock, position, settled } from './support.ts'

/** A feed whose answers the test gives one by one. */
function setUp() {
  const clock = new HandClock()
  const asked: {
    readonly from: Position | null
    readonly noted: number
    readonly applied: number
    readonly answer: (answer: Partial<FeedAnswer>) => void
    readonly fail: (cause: Error) => void
  }[] = []
  const readings: Reading[] = []
  const states: string[] = []
  const feed = {
    read: (from: Position | null, noted: number, applied: number) => {
      const { promise, resolve, reject } = Promise.withResolvers<FeedAnswer>()
      const usual = { noted, head: position(asked.length), changes: [] }
      asked.push({ from, noted, applied, answer: (answer) => resolve({ ...usual, ...answer }), fail: reject })
      return promise
    },
  }
  const reader = {
    applyReading: (reading: Reading) => void readings.push(reading),
    applied: () => 40 + readings.length,
  }
  const follower = new Follower(feed, clock, reader, (state) => void states.push(state))
  return { clock, asked, readings, states, follower }
}

t.test('each reading begins where the one before it ended', async (t) => {
  const { asked, readings, follower } = setUp()
  for (const [number, head] of [position(3), position(5)].entries()) {
    const renewed = follower.renew()
    asked[number]?.answer({ head, changes: [change('a', head.seq)] })
    await renewed
  }
  t.same(
    readings.map(({ from, head }) => [from, head]),
    [
      [null, position(3)],
      [position(3), position(5)],
    ],
  )
  t.same(asked[1]?.from, position(3))
  t.same(follower.position, position(5))
})

t.test('it counts from before the question; or from later, where the feed says so', async (t) => {
  const { clock, asked, readings, follower } = setUp()
  const first = follower.renew()
  clock.jump(400)
  asked[0]?.answer({})
  await first
  t.equal(readings[0]?.noted, 0)
  t.equal(follower.age, 400)
  const second = follower.renew()
  asked[1]?.answer({ noted: 390 })
  await second
  t.equal(readings[1]?.noted, 390)
  t.equal(follower.age, 10)
})

t.test('says what has been applied when it asks', async (t) => {
  const { asked, follower } = setUp()
  const renewed = follower.renew()
  asked[0]?.answer({})
  await renewed
  void follower.renew()
  t.same(
    asked.map(({ applied }) => applied),
    [40, 41],
  )
})

t.test('one reading serves all who wait, and its failure reaches them all', async (t) => {
  const { asked, follower } = setUp()
  const waiting = [follower.renew(), follower.renew(), follower.renew()]
  t.equal(asked.length, 1)
  asked[0]?.fail(new Error('down'))
  for (const each of waiting) await t.rejects(each, { message: 'down' })
  const again = follower.renew()
  t.equal(asked.length, 2)
  asked[1]?.answer({})
  await again
})

t.test('reads by itself, once it has begun', async (t) => {
  const { clock, asked, follower } = setUp()
  const started = follower.start()
  asked[0]?.answer({})
  await started
  await clock.pass(RENEW_EVERY - 1)
  t.equal(asked.length, 1)
  await clock.pass(1)
  t.equal(asked.length, 2)
  asked[1]?.fail(new Error('down'))
  await clock.pass(RENEW_EVERY)
  t.equal(asked.length, 3, 'also after a failure')
  await clock.pass(RENEW_EVERY)
  t.equal(asked.length, 3, 'not while one is under way')
})

t.test('does not begin where the store can not be read', async (t) => {
  const { clock, asked, follower } = setUp()
  const started = follower.start()
  asked[0]?.fail(new Error('down'))
  await t.rejects(started, { message: 'down' })
  await clock.pass(10 * RENEW_EVERY)
  t.equal(asked.length, 1)
})

t.test('stopped, it reads no more, once the reading under way is done', async (t) => {
  const { clock, asked, readings, follower } = setUp()
  const started = follower.start()
  asked[0]?.answer({})
  await started
  void follower.renew()
  let isStopped = false
  const stopped = follower.stop().then(() => {
    isStopped = true
  })
  await settled()
  t.equal(isStopped, false)
  asked[1]?.answer({})
  await stopped
  t.equal(readings.length, 2)
  await t.rejects(follower.renew(), /ending/)
  t.equal(asked.length, 2)
  t.equal(clock.timers, 0)
})

t.test('stopped while it begins, it does not go on by itself', async (t) => {
  const { clock, asked, follower } = setUp()
  const started = follower.start()
  const stopped = follower.stop()
  asked[0]?.answer({})
  await Promise.all([started, stopped])
  t.equal(clock.timers, 0)
})

t.test('says once that the store is gone, and once that it is back', async (t) => {
  const { clock, asked, states, follower } = setUp()
  const ask = async (how: 'answer' | 'fail') => {
    const renewed = follower.renew().catch(() => {})
    if (how === 'answer') asked.at(-1)?.answer({})
    else asked.at(-1)?.fail(new Error('down'))
    await renewed
  }
  await ask('answer')
  await ask('fail')
  t.same(states, ['live'], 'what was read is still fresh')
  clock.jump(2 * RENEW_EVERY + 1)
  await ask('fail')
  await ask('fail')
  await ask('answer')
  await ask('answer')
  t.same(states, ['live', 'lost', 'live'])
})

t.test('before the first reading there is nothing, infinitely old', async (t) => {
  const { follower } = setUp()
  t.equal(follower.position, null)
  t.equal(follower.age, Number.POSITIVE_INFINITY)
})
