import t from 'tap'
import type { Position } from '../../seats-admin/model/change.ts'
import type { Reading } from '../../src/coherence/feed-reading.ts'
import { type FeedAnswer, Follower, RENEW_EVERY } from '../../src/coherence/follower.ts'
import { LEASE } from '../../src/coherence/lease.ts'
import { change, ManualClock, position, settled } from './support.ts'

/** A feed whose responses the test gives one by one. */
function setUp() {
  const clock = new ManualClock()
  const reads: {
    readonly from: Position | null
    readonly noted: number
    readonly applied: number
    readonly answer: (answer: Partial<FeedAnswer>) => void
    readonly fail: (cause: Error) => void
  }[] = []
  const readings: Reading[] = []
  let resumes = async () => {}
  const states: string[] = []
  const feed = {
    read: (from: Position | null, noted: number, applied: number) => {
      const { promise, resolve, reject } = Promise.withResolvers<FeedAnswer>()
      const usual = { noted, head: position(reads.length), changes: [] }
      reads.push({ from, noted, applied, answer: (answer) => resolve({ ...usual, ...answer }), fail: reject })
      return promise
    },
  }
  const reader = {
    applyReading: (reading: Reading) => void readings.push(reading),
    applied: () => 40 + readings.length,
    resumes: () => resumes(),
  }
  const follower = new Follower(feed, clock, reader, (state) => void states.push(state))
  const onResume = (call: () => Promise<void>) => {
    resumes = call
  }
  return { clock, reads, readings, states, follower, onResume }
}

t.test('each reading begins where the one before ended', async (t) => {
  const { reads, readings, follower } = setUp()
  for (const [number, head] of [position(3), position(5)].entries()) {
    const renewed = follower.renew()
    reads[number]?.answer({ head, changes: [change('a', head.seq)] })
    await renewed
  }
  t.same(
    readings.map(({ from, head }) => [from, head]),
    [
      [null, position(3)],
      [position(3), position(5)],
    ],
  )
  t.same(reads[1]?.from, position(3))
  t.same(follower.position, position(5))
})

t.test('a reading counts from before the read, or from a later time that the feed reports', async (t) => {
  const { clock, reads, readings, follower } = setUp()
  const wall = clock.wall()
  const first = follower.renew()
  clock.jump(400)
  clock.stepWall(3_600_000)
  reads[0]?.answer({})
  await first
  t.match(readings[0], { noted: 0, notedWall: wall }, 'on both clocks, as the machine may have slept')
  t.equal(follower.age, 400)
  const second = follower.renew()
  reads[1]?.answer({ noted: 390 })
  await second
  t.equal(readings[1]?.noted, 390)
  t.equal(follower.age, 10)
})

t.test('sends what has been applied with each read', async (t) => {
  const { reads, follower } = setUp()
  const renewed = follower.renew()
  reads[0]?.answer({})
  await renewed
  void follower.renew()
  t.same(
    reads.map(({ applied }) => applied),
    [40, 41],
  )
})

t.test('one reading serves all waiting callers, and its failure reaches all of them', async (t) => {
  const { reads, follower } = setUp()
  const waiting = [follower.renew(), follower.renew(), follower.renew()]
  t.equal(reads.length, 1)
  reads[0]?.fail(new Error('down'))
  for (const each of waiting) await t.rejects(each, { message: 'down' })
  const again = follower.renew()
  t.equal(reads.length, 2)
  reads[1]?.answer({})
  await again
})

t.test('reads periodically once started', async (t) => {
  const { clock, reads, follower } = setUp()
  const started = follower.start()
  reads[0]?.answer({})
  await started
  await clock.pass(RENEW_EVERY - 1)
  t.equal(reads.length, 1)
  await clock.pass(1)
  t.equal(reads.length, 2)
  reads[1]?.fail(new Error('down'))
  await clock.pass(RENEW_EVERY)
  t.equal(reads.length, 3, 'after a failure too')
  await clock.pass(RENEW_EVERY)
  t.equal(reads.length, 3, 'not while a reading is in flight')
})

t.test('does not start when the store can not be read', async (t) => {
  const { clock, reads, follower } = setUp()
  const started = follower.start()
  reads[0]?.fail(new Error('down'))
  await t.rejects(started, { message: 'down' })
  await clock.pass(10 * RENEW_EVERY)
  t.equal(reads.length, 1)
})

t.test('when stopped, it waits for the reading in flight and reads no more', async (t) => {
  const { clock, reads, readings, follower } = setUp()
  const started = follower.start()
  reads[0]?.answer({})
  await started
  void follower.renew()
  let isStopped = false
  const stopped = follower.stop().then(() => {
    isStopped = true
  })
  await settled()
  t.equal(isStopped, false)
  reads[1]?.answer({})
  await stopped
  t.equal(readings.length, 2)
  await t.rejects(follower.renew(), /ending/)
  t.equal(reads.length, 2)
  t.equal(clock.timers, 0)
})

t.test('when stopped during the start, it does not read periodically', async (t) => {
  const { clock, reads, follower } = setUp()
  const started = follower.start()
  const stopped = follower.stop()
  reads[0]?.answer({})
  await Promise.all([started, stopped])
  t.equal(clock.timers, 0)
})

t.test('reports the loss of the store once, and its return once', async (t) => {
  const { clock, reads, states, follower } = setUp()
  const ask = async (how: 'answer' | 'fail') => {
    const renewed = follower.renew().catch(() => {})
    if (how === 'answer') reads.at(-1)?.answer({})
    else reads.at(-1)?.fail(new Error('down'))
    await renewed
  }
  await ask('answer')
  await ask('fail')
  t.same(states, ['live'], 'the last reading is still fresh')
  clock.jump(2 * RENEW_EVERY + 1)
  await ask('fail')
  await ask('fail')
  await ask('answer')
  await ask('answer')
  t.same(states, ['live', 'lost', 'live'])
})

t.test('before the first reading there is no position, and the age is infinite', async (t) => {
  const { follower } = setUp()
  t.equal(follower.position, null)
  t.equal(follower.age, Number.POSITIVE_INFINITY)
})

t.test('an earlier or another store is reported once, and many changes are not', async (t) => {
  const { reads, states, follower } = setUp()
  const read = async (head: Position, changes: null | [] = null) => {
    const renewed = follower.renew()
    reads.at(-1)?.answer({ head, changes })
    await renewed
    return states.splice(0)
  }
  t.same(await read(position(5), []), ['live'])
  t.same(await read(position(9000)), [], 'more changes than a reading has')
  t.same(await read(position(5)), ['restored'])
  t.same(await read({ ...position(5), mark: 99 }), ['restored'])
  t.same(await read({ ...position(5), mark: 99 }), [])
})

t.test(
  'a reading that follows no live lease counts once what is not in the feed is read again',
  async (t) => {
    const { clock, reads, readings, follower, onResume } = setUp()
    let calls = 0
    let resume = () => {}
    onResume(() => {
      calls++
      return new Promise((resolve) => (resume = resolve))
    })
    const read = async () => {
      const renewed = follower.renew()
      reads.at(-1)?.answer({})
      await settled()
      return renewed
    }
    const first = read()
    await settled()
    t.same([calls, readings.length], [1, 0], 'the first one')
    resume()
    await first
    t.equal(readings.length, 1)
    clock.jump(LEASE - 1)
    await read()
    t.same([calls, readings.length], [1, 2], 'the lease was live')
    const late = follower.renew()
    clock.jump(LEASE)
    reads.at(-1)?.answer({})
    await settled()
    t.same([calls, readings.length], [2, 2], 'the lease has ended while the store was asked')
    resume()
    await late
    t.equal(readings.length, 3)
    clock.jump(LEASE)
    void read()
    await settled()
    t.equal(calls, 3, 'the lease has ended before')
    resume()
    await settled()
    clock.stepWall(LEASE)
    void read()
    await settled()
    t.same([calls, readings.length], [4, 4], 'the machine has slept')
  },
)
