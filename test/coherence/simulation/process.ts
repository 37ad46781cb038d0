/** Machines, each with its own clock and its own links, and the processes on them, which may freeze, thaw and end. */

import type { Clock } from '../../../src/coherence/clock.ts'
import { Link } from './link.ts'
import type { Nature } from './nature.ts'
import type { Entry, Owner } from './timeline.ts'

/** How much faster or slower than true time a clock may go. */
const MOST_OFF = 0.1

export class Machine {
  readonly name: string
  readonly store: Link
  readonly redis: Link
  readonly clock: { readonly rate: number; readonly zero: number }
  /** Milliseconds by which the wall clock was set forward or back. */
  wallStep = 0

  constructor(nature: Nature, name: string) {
    const { random } = nature
    this.name = name
    this.store = new Link(nature)
    this.redis = new Link(nature)
    // The ends of the range are where it hurts most.
    const rate = 1 + (random.chance(0.4) ? random.pick([-1, 1]) : random.between(-1, 1)) * MOST_OFF
    this.clock = { rate, zero: random.between(0, 1e6) }
  }
}

export class Process implements Owner {
  readonly name: string
  readonly machine: Machine
  readonly clock: Clock
  state: Owner['state'] = 'running'
  /** How often it has been frozen. */
  freezes = 0
  readonly #nature: Nature
  #held: Entry[] = []
  readonly #whenEnded: (() => void)[] = []

  constructor(nature: Nature, machine: Machine, name: string) {
    this.#nature = nature
    this.machine = machine
    this.name = name
    this.clock = clockOf(nature, this)
  }

  freeze(): void {
    if (this.state !== 'running') return
    this.state = 'frozen'
    this.freezes++
    this.#nature.trace?.(`${this.name} freezes`)
  }

  /** What has waited runs now, in no particular order: timers are late, and sockets are looked at as they come. */
  thaw(): void {
    if (this.state !== 'frozen') return
    this.state = 'running'
    this.#nature.trace?.(`${this.name} thaws`)
    const { timeline, random } = this.#nature
    const held = this.#held
    this.#held = []
    for (const entry of held) timeline.after(random.between(0, 2), this, () => entry.run?.())
  }

  hold(entry: Entry): void {
    this.#held.push(entry)
  }

  /** By kill -9, or by itself: nothing of it runs any more. */
  end(): void {
    if (this.state === 'ended') return
    this.state = 'ended'
    this.#held = []
    this.#nature.trace?.(`${this.name} ends`)
    for (const run of this.#whenEnded) run()
  }

  whenEnded(run: () => void): void {
    this.#whenEnded.push(run)
  }
}

/** All processes of a machine have the same clock, and each its own timers. */
function clockOf({ timeline, random }: Nature, owner: Process): Clock {
  const { machine } = owner
  const { rate, zero } = machine.clock
  return {
    now: () => zero + timeline.now * rate,
    wall: () => zero + timeline.now * rate + machine.wallStep,
    after(ms, run) {
      // A timer of libuv may be a millisecond early by the finer clock.
      const entry = timeline.after((ms + random.between(ms > 0 ? -1 : 0, 2)) / rate, owner, run)
      return () => {
        entry.run = null
      }
    },
  }
}
