/** The wall clock of this process, ahead of the machine's by as much as a test says: what is due in an hour is due at once. */

import type { Test } from 'tap'

/** Moves `Date.now()`, on which sign-in relies, and not `new Date()`. Call it before what reads the clock starts. */
export function moveClock(t: Test): { pass(ms: number): void } {
  const { now } = Date
  let ahead = 0
  Date.now = () => now() + ahead
  t.teardown(() => {
    Date.now = now
  })
  return { pass: (ms) => void (ahead += ms) }
}
