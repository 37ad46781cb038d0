/** Many deadlines on one timer: each expires after its time, never before. */

import { performance } from 'node:perf_hooks'
import t from 'tap'
import { Deadlines, type Timed } from '../../src/proxy/deadlines.ts'

/** Resolves `called` with its lateness in ms; a negative value is too early. */
class Waiter implements Timed {
  deadline = 0
  index = -1
  #expected: number
  readonly called: Promise<number>
  times = 0
  readonly #deadlines: Deadlines
  #call = (_late: number) => {}

  constructor(deadlines: Deadlines, inMs: number) {
    this.#deadlines = deadlines
    this.called = new Promise((resolve) => {
      this.#call = resolve
    })
    this.#expected = performance.now() + inMs
    deadlines.add(this, this.#expected)
  }

  move(inMs: number): void {
    this.#expected = performance.now() + inMs
    this.#deadlines.move(this, this.#expected)
  }

  expired(now: number): void {
    this.times++
    this.#deadlines.remove(this)
    this.#call(now - this.#expected)
  }
}

/** The timers do not keep the process alive. */
const held = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(held))

t.test('each expires at its time, in any order of adding and moving', async (t) => {
  const deadlines = new Deadlines()
  const order: string[] = []
  const waiters = Object.entries({ c: 90, a: 30, d: 120, b: 60 }).map(([name, inMs]) => {
    const waiter = new Waiter(deadlines, inMs)
    void waiter.called.then(() => order.push(name))
    return waiter
  })
  const earlier = new Waiter(deadlines, 100_000)
  const later = new Waiter(deadlines, 1)
  const removed = new Waiter(deadlines, 20)
  earlier.move(10)
  later.move(150)
  deadlines.remove(removed)
  deadlines.remove(removed)
  removed.move(1)
  for (const late of await Promise.all([...waiters, earlier, later].map(({ called }) => called)))
    t.ok(late >= 0)
  // In one check if the process was stopped, and then in any order.
  t.same(order.toSorted(), ['a', 'b', 'c', 'd'])
  t.equal(removed.times, 0)
  t.ok(waiters.every(({ times }) => times === 1))
})

t.test('an expired entry may remove another, or wait again', async (t) => {
  const deadlines = new Deadlines()
  let victim = null as Waiter | null
  let calls = 0
  await new Promise<void>((resolve) => {
    const due: Timed = {
      deadline: 0,
      index: -1,
      expired: (now) => {
        calls++
        if (victim !== null) deadlines.remove(victim)
        if (calls < 3) return deadlines.move(due, now + 15)
        deadlines.remove(due)
        resolve()
      },
    }
    deadlines.add(due, performance.now() + 19)
    victim = new Waiter(deadlines, 20)
    // Both are late by then, and in one check.
    const until = performance.now() + 40
    while (performance.now() < until);
  })
  t.equal(calls, 3)
  t.equal(victim?.times, 0)
})

t.test('many at once', async (t) => {
  const deadlines = new Deadlines()
  const waiters = Array.from({ length: 2000 }, (_, i) => new Waiter(deadlines, i % 50))
  await Promise.all(waiters.map(({ called }) => called))
  t.ok(waiters.every(({ times, index }) => times === 1 && index === -1))
})

t.test('an entry that another one moves in the same check is not expired', async (t) => {
  const deadlines = new Deadlines()
  let moved = null as Waiter | null
  const mover: Timed = {
    deadline: 0,
    index: -1,
    expired: () => {
      deadlines.remove(mover)
      moved?.move(40)
    },
  }
  deadlines.add(mover, performance.now() + 1)
  moved = new Waiter(deadlines, 1)
  const from = performance.now()
  while (performance.now() < from + 5);
  t.ok((await moved.called) >= 0)
  t.ok(performance.now() - from >= 40)
})

t.test('an entry that throws does not affect the others', async (t) => {
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
  await waiter.called
  t.equal(waiter.times, 1)
})

t.test('a deadline beyond the limit of timers takes several timers', async (t) => {
  const deadlines = new Deadlines()
  const warned: Error[] = []
  const warn = (warning: Error) => void warned.push(warning)
  process.on('warning', warn)
  t.teardown(() => process.off('warning', warn))
  const waiter = new Waiter(deadlines, 40 * 86_400_000)
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.same(warned, [])
  t.equal(waiter.times, 0)
})
