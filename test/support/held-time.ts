/**
 * Timers and the monotonic clock of this process, which a test controls: time passes only if the test says
 * so. Timers of `node:timers/promises` stay real, for the waiting of the test itself.
 */

import { performance } from 'node:perf_hooks'
import type { Test } from 'tap'
import { until } from './until.ts'

const real = { setTimeout, setInterval, clearTimeout, clearInterval, now: performance.now.bind(performance) }

/** The timers of the test that holds the time. */
let held: Set<HeldTimer> | null = null
/** The held time; ms that it is ahead of the real one otherwise. */
let clock = 0

function now(): number {
  return held === null ? real.now() + clock : clock
}

class HeldTimer {
  at: number
  readonly #run: () => void
  readonly #ms: number
  readonly #repeats: boolean
  /** Once the time is released. */
  #real: NodeJS.Timeout | null = null

  constructor(run: () => void, ms: number, repeats: boolean) {
    this.#run = run
    this.#ms = Math.max(1, ms)
    this.#repeats = repeats
    this.at = now() + this.#ms
    held?.add(this)
  }

  fire(): void {
    if (this.#repeats) this.at += this.#ms
    else held?.delete(this)
    this.#run()
  }

  /** The rest of its time passes in real time. */
  release(): void {
    const start = this.#repeats ? real.setInterval : real.setTimeout
    this.#real = start(this.#run, this.#repeats ? this.#ms : Math.max(1, this.at - now())).unref()
  }

  clear(): void {
    held?.delete(this)
    if (this.#real !== null) real.clearTimeout(this.#real)
  }

  refresh(): this {
    this.at = now() + this.#ms
    this.#real?.refresh()
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

type Callback = (...args: unknown[]) => void
type AnyTimer = HeldTimer | NodeJS.Timeout | undefined

const timer =
  (start: typeof setTimeout | typeof setInterval, repeats: boolean) =>
  (callback: Callback, ms = 1, ...args: unknown[]) =>
    held === null ? start(callback, ms, ...args) : new HeldTimer(() => callback(...args), ms, repeats)

function clear(of: AnyTimer): void {
  if (of instanceof HeldTimer) of.clear()
  else real.clearTimeout(of)
}

/**
 * Replaces the timers for the life of the process: a held timer may be cleared at any time, and no clock goes
 * back.
 */
function install(): void {
  if (globalThis.clearTimeout === clear) return
  Object.assign(globalThis, { clearTimeout: clear, clearInterval: clear })
  Object.assign(globalThis, {
    setTimeout: Object.assign(timer(real.setTimeout, false), real.setTimeout),
    setInterval: Object.assign(timer(real.setInterval, true), real.setInterval),
  })
  performance.now = now
}

export interface HeldTime {
  /** Runs the timers that are due by then, in their order. */
  pass(ms: number): void
}

function pass(ms: number): void {
  const end = clock + ms
  for (;;) {
    const [next] = [...(held ?? [])].sort((a, b) => a.at - b.at)
    if (next === undefined || next.at > end) break
    clock = Math.max(clock, next.at)
    next.fire()
  }
  clock = end
}

function release(): void {
  const left = held ?? []
  const ahead = clock - real.now()
  held = null
  clock = Math.max(0, ahead)
  for (const each of left) each.release()
}

/** Holds the time until the test ends. Timers that exist already are real ones. */
export function holdTime(t: Test): HeldTime {
  install()
  // Whole milliseconds, so that a deadline less the time is exact: a rounding error would be a millisecond to
  // a timer.
  clock = Math.ceil(now())
  held = new Set()
  t.teardown(release)
  return { pass }
}

/** ms */
const STEP = 50

/** Lets time pass in steps until it holds. */
export function untilStepped(time: HeldTime, holds: () => boolean): Promise<void> {
  const holdsNow = () => {
    if (holds()) return true
    time.pass(STEP)
    return false
  }
  return until(holdsNow, () => `this did not come true: ${holds}`, { pause: 2 })
}
