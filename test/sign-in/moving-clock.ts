/** The wall clock of this process, ahead of the machine's by as much as a test says: what is due in an hour is due at once. */

import type { Test } from 'tap'

export interface MovingClock {
  /** ms */
  pass(ms: number): void
}

/** Call it before what reads the clock starts. */
export function moveClock(t: Test): MovingClock {
  const Real = Date
  let ahead = 0
  class Moved extends Real {
    constructor(...parts: [] | [number]) {
      if (parts.length === 0) super(Real.now() + ahead)
      else super(...parts)
    }

    static override now(): number {
      return Real.now() + ahead
    }
  }
  globalThis.Date = Moved as DateConstructor
  t.teardown(() => {
    globalThis.Date = Real
  })
  return { pass: (ms) => void (ahead += ms) }
}
