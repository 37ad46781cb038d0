/** Many deadlines on one timer: each expires after its time, never before. */

import { performance } from 'node:perf_hooks'
import t from 'tap'
import { Deadlines, type Timed } from '../../src/lib/deadlines.ts'
import { holdTime } from '../support/held-time.ts'

/** More than the time from a deadline to the check that finds it. */
const LATE = 50

class Waiter implements Timed {
  deadline = 0
  index = -1
  times = 0
  /** Monotonic ms. */
  due: number
  /** ms after its time; a negative value is too early. */
  late: number | null = null
  readonly #deadlines: Deadlines
  readonly #then: () => void

  constructor(deadlines: Deadlines, inMs: number, then = () => {}) {
    this.#deadlines = deadlines
    this.#then = then
    this.due = performance.now() + inMs
    deadlines.add(this, this.due)
  }

  move(inMs: number): void {
    this.due = performance.now() + inMs
    this.#deadlines.move(this, this.due)
  }

  expired(now: number): void {
    this.times++
    this.late = now - this.due
    this.#deadlines.remove(this)
    this.#then()
  }
}

/** Neither early nor much later. */
function isInTime({ late, times }: Waiter): boolean {
  return times === 1 && late !== null && late >= 0 && late <= LATE
}

t.test('each expires at its time, in any order of adding and moving', async (t) => {
  const time = holdTime(t)
  const deadlines = new Deadlines()
  const order: string[] = []
  const waiters = Object.entries({ c: 900, a: 300, d: 1200, b: 600 }).map(
    ([name, inMs]) => new Waiter(deadlines, inMs, () => order.push(name)),
  )
  const earlier = new Waiter(deadlines, 100_000)
  const later = new Waiter(deadlines, 1)
  const removed = new Waiter(deadlines, 200)
  earlier.move(100)
  later.move(1500)
  deadlines.remove(removed)
  deadlines.remove(removed)
  removed.move(1)
  time.pass(99)
  t.equal(earlier.times, 0)
  time.pass(1500 + LATE)
  t.ok([...waiters, earlier, later].every(isInTime))
  t.same(order, ['a', 'b', 'c', 'd'])
  t.equal(removed.times, 0)
})

t.test('an expired entry may remove another, or wait again', async (t) => {
  const time = holdTime(t)
  const deadlines = new Deadlines()
  let calls = 0
  const due: Timed = {
    deadline: 0,
    index: -1,
    expired: (now) => {
      calls++
      deadlines.remove(victim)
      if (calls < 3) deadlines.move(due, now + 15)
      else deadlines.remove(due)
    },
  }
  deadlines.add(due, performance.now() + 19)
  // Both are late in one check.
  const victim = new Waiter(deadlines, 19)
  time.pass(200)
  t.equal(calls, 3)
  t.equal(victim.times, 0)
})

t.test('many at once', async (t) => {
  const time = holdTime(t)
  const deadlines = new Deadlines()
  const waiters = Array.from({ length: 2000 }, (_, i) => new Waiter(deadlines, i % 50))
  time.pass(50 + LATE)
  t.ok(waiters.every((waiter) => isInTime(waiter) && waiter.index === -1))
})

t.test('an entry that another one moves in the same check is not expired', async (t) => {
  const time = holdTime(t)
  const deadlines = new Deadlines()
  const mover: Timed = {
    deadline: 0,
    index: -1,
    expired: () => {
      deadlines.remove(mover)
      moved.move(40)
    },
  }
  deadlines.add(mover, performance.now() + 1)
  const moved = new Waiter(deadlines, 1)
  time.pass(39)
  t.equal(moved.times, 0)
  time.pass(3 + LATE)
  t.ok(isInTime(moved))
})

t.test('an entry that throws does not affect the others', async (t) => {
  const time = holdTime(t)
  const deadlines = new Deadlines()
  const broken: Timed = {
    deadline: 0,
    index: -1,
    expired: () => {
      throw new Error('broken')
    },
  }
  deadlines.add(broken, performance.now())
  const waiter = new Waiter(deadlines, 0)
  t.throws(() => deadlines.check(), { message: 'broken' })
  t.equal(waiter.times, 0)
  time.pass(LATE)
  t.equal(waiter.times, 1)
})

t.test('a deadline beyond the limit of timers takes several timers', async (t) => {
  const warned: Error[] = []
  const warn = (warning: Error) => void warned.push(warning)
  process.on('warning', warn)
  t.teardown(() => process.off('warning', warn))
  const far = new Waiter(new Deadlines(), 40 * 86_400_000)
  // A timer that is too long would fire first, after a warning.
  await new Promise((resolve) => setTimeout(resolve, 2))
  t.same(warned, [])
  t.equal(far.times, 0)
  const time = holdTime(t)
  const waiter = new Waiter(new Deadlines(), 40 * 86_400_000)
  time.pass(40 * 86_400_000 - 1)
  t.equal(waiter.times, 0)
  time.pass(1 + LATE)
  t.equal(waiter.times, 1)
})
