/** Ejection and return of a target, with given times. */

import t from 'tap'
import { OutlierEjection } from '../../src/proxy/outlier-ejection.ts'
import type { Blame } from '../../src/proxy/upstream-events.ts'

const cause = new Error('refused')
const ejection = { failures: 3, backoff: 1000, maxBackoff: 30_000, testInterval: 100 }
const health = { path: '/healthz', interval: 5000, timeout: 1000, healthy: 2, unhealthy: 3 }

function subject(checked = false) {
  const events: string[] = []
  const backoffs: number[] = []
  const made = new OutlierEjection(ejection, checked ? health : null, {
    ejected: (blame, _, backoff) => {
      events.push(`ejected: ${blame}`)
      backoffs.push(backoff)
    },
    unhealthy: () => events.push('unhealthy'),
    returned: () => events.push('returned'),
  })
  const fail = (times: number, now = 0, blame: Blame = 'unreachable', last = false) => {
    for (let i = 0; i < times; i++) {
      const epoch = made.begin(now)
      made.failed(epoch, blame, new Error('refused'), last, now)
      made.end(epoch)
    }
  }
  return { made, events, backoffs, fail }
}

t.test('ejected after consecutive failures, not before', async (t) => {
  const { made, events, fail } = subject()
  fail(2)
  t.equal(made.available, true)
  fail(1)
  t.match(made, { available: false, state: 'ejected', cause })
  t.same(events, ['ejected: unreachable'])
})

t.test('a response resets the count', async (t) => {
  const { made, fail } = subject()
  fail(2)
  made.responseStarted(made.begin(0), 0)
  fail(2)
  t.equal(made.available, true)
})

t.test('a connection alone does not', async (t) => {
  const { made, fail } = subject()
  fail(2, 0, 'reset')
  made.connected(made.begin(0), 0)
  fail(1, 0, 'reset')
  t.equal(made.available, false)
})

t.test('results of attempts from before an ejection are ignored', async (t) => {
  const { made, events, fail } = subject()
  const slow = made.begin(0)
  const slower = made.begin(0)
  fail(3)
  made.failed(slow, 'unreachable', cause, false, 0)
  made.responseStarted(slower, 0)
  t.equal(made.available, false)
  t.same(events, ['ejected: unreachable'])
  made.connected(made.begin(2000), 2000)
  for (let i = 0; i < 5; i++) made.failed(slow, 'unreachable', new Error('refused'), false, 2000)
  t.equal(made.available, true, 'nor after its return')
})

t.test('one probe at a time, and not before the ejection time is over', async (t) => {
  const { made, backoffs, fail } = subject()
  fail(3)
  const [backoff = 0] = backoffs
  t.ok(backoff >= 750 && backoff <= 1250, 'close to the configured time')
  t.equal(made.probeDue(backoff - 1, true), false)
  t.equal(made.probeDue(backoff, true), true)
  const test = made.begin(backoff)
  t.equal(made.probeDue(backoff, true), false, 'the other waits for the first')
  made.end(test)
  t.equal(made.probeDue(backoff, true), true, 'the probe ended without a result')
})

t.test('a connection restores an unreachable target', async (t) => {
  const { made, events, fail } = subject()
  fail(3)
  made.connected(made.begin(2000), 2000)
  t.equal(made.available, true)
  t.same(events, ['ejected: unreachable', 'returned'])
})

t.test('after resets only a response restores it', async (t) => {
  const { made, events, fail } = subject()
  fail(3, 0, 'reset')
  const test = made.begin(2000)
  made.connected(test, 2000)
  t.equal(made.available, false)
  made.responseStarted(test, 2000)
  t.equal(made.available, true)
  t.same(events, ['ejected: reset', 'returned'])
})

t.test(
  'where connections end early, a request that cannot be repeated probes it only if nothing else did for long',
  async (t) => {
    const { made, backoffs, fail } = subject()
    fail(3, 0, 'reset')
    const backoff = backoffs[0] ?? 0
    t.equal(made.probeDue(backoff, true), true)
    t.equal(made.probeDue(backoff, false), false)
    t.equal(made.probeDue(backoff + 1000, false), true)
    const other = subject()
    other.fail(3)
    t.equal(other.made.probeDue(other.backoffs[0] ?? 0, false), true, 'no connection: nothing is sent')
  },
)

t.test('each failed probe doubles the time, up to a limit; it is reported once', async (t) => {
  const { made, events, fail } = subject()
  fail(3)
  let now = 0
  const waits: number[] = []
  for (let i = 0; i < 8; i++) {
    const from = now
    while (!made.probeDue(now, true)) now += 10
    waits.push(now - from)
    fail(1, now)
  }
  for (const [i, wait] of waits.entries()) {
    const middle = Math.min(1000 * 2 ** i, 30_000)
    t.ok(wait >= middle * 0.75 && wait <= middle * 1.25 + 10, `about ${middle}: ${wait}`)
  }
  t.same(events, ['ejected: unreachable'])
})

t.test('an early probe does not change the time', async (t) => {
  const { made, backoffs, fail } = subject()
  fail(3)
  for (let now = 0; now < 700; now += 100) fail(1, now)
  t.equal(made.probeDue(backoffs[0] ?? 0, true), true)
})

t.test('ejected again soon after its return: a longer time', async (t) => {
  const { made, backoffs, fail } = subject()
  for (const now of [0, 5000, 10_000, 100_000]) {
    fail(3, now)
    made.responseStarted(made.begin(now + 1), now + 1)
  }
  const middles = [1000, 2000, 4000, 1000]
  for (const [i, backoff] of backoffs.entries()) {
    const middle = middles[i] ?? 0
    t.ok(backoff >= middle * 0.75 && backoff <= middle * 1.25, `about ${middle}: ${backoff}`)
  }
})

t.test('failures of one connection count once', async (t) => {
  const { made, fail } = subject()
  const failed = (error: Error) => {
    const epoch = made.begin(0)
    made.failed(epoch, 'reset', error, false, 0)
    made.end(epoch)
  }
  const [one, other] = [new Error('reset'), new Error('reset')]
  for (const each of [one, one, one, one, other, other]) failed(each)
  t.equal(made.available, true, 'two connections')
  fail(1)
  t.equal(made.available, false, 'three')
})

t.test('resets, which a request may have caused, never eject the last target', async (t) => {
  const { made, fail } = subject()
  fail(50, 0, 'reset', true)
  t.equal(made.available, true)
  fail(1, 0, 'unreachable', true)
  t.equal(made.available, false, 'a request cannot stop a server from listening')
})

t.test('failed checks make it unavailable, passed ones restore it', async (t) => {
  const { made, events } = subject(true)
  for (const bad of [cause, cause, null, cause, cause]) made.checked(bad, 0)
  t.equal(made.available, true)
  made.checked(cause, 0)
  t.match(made, { available: false, state: 'unhealthy', cause })
  made.checked(null, 0)
  made.checked(cause, 0)
  made.checked(null, 0)
  t.equal(made.available, false)
  made.checked(null, 0)
  t.match(made, { available: true, state: 'in' })
  t.same(events, ['unhealthy', 'returned'])
})

t.test('no request probes an unhealthy target', async (t) => {
  const { made, fail } = subject(true)
  fail(3)
  for (let i = 0; i < 3; i++) made.checked(cause, 0)
  t.equal(made.probeable, false)
  t.equal(made.probeDue(Infinity, true), false)
})

t.test('a request in flight at that time does not restore it', async (t) => {
  const { made, fail } = subject(true)
  fail(3)
  for (let i = 0; i < 3; i++) made.checked(cause, 0)
  made.responseStarted(made.begin(0), 0)
  t.match(made, { available: false, state: 'unhealthy' })
  made.checked(null, 0)
  made.checked(null, 0)
  t.equal(made.available, true)
})

t.test('passed checks restore an ejected target, counted from its ejection', async (t) => {
  const { made, fail } = subject(true)
  for (let i = 0; i < 10; i++) made.checked(null, 0)
  fail(3)
  made.checked(null, 0)
  t.equal(made.available, false)
  made.checked(null, 0)
  t.equal(made.available, true)
})

t.test('once another one has returned, this one may be probed at once', async (t) => {
  const { made, fail } = subject()
  fail(3)
  made.probeNow()
  t.equal(made.probeDue(0, true), true)
})
