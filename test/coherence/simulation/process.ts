/** Machines, each with a clock and links of its own, and their processes, which can freeze, thaw and end. */

import type { Clock } from '../../../src/coherence/clock.ts'
import type { Context } from './context.ts'
import type { Entry, Owner } from './timeline.ts'

/** Maximum relative error of a clock's rate. */
const MAX_RATE_ERROR = 0.1

/** To the store or to Redis. A message in flight on a cut link is lost, or arrives after the link is restored. */
class Link {
  readonly #context: Context
  #cut = false
  #waiting: { readonly owner: Owner | null; readonly run: () => void }[] = []

  constructor(context: Context) {
    this.#context = context
  }

  get isCut(): boolean {
    return this.#cut
  }

  cut(): void {
    this.#cut = true
  }

  restore(): void {
    this.#cut = false
    const { timeline, random } = this.#context
    const waiting = this.#waiting
    this.#waiting = []
    for (const { owner, run } of waiting) timeline.after(random.between(0, 20), owner, run)
  }

  /** @param owner the receiving process */
  carry(delay: number, owner: Owner | null, run: () => void): void {
    this.#context.timeline.after(delay, owner, () => {
      if (!this.#cut) run()
      else if (this.#context.random.chance(0.5)) this.#waiting.push({ owner, run })
    })
  }
}

export class Machine {
  readonly name: string
  readonly store: Link
  readonly redis: Link
  readonly clock: { readonly rate: number; readonly zero: number }
  /** Milliseconds by which the wall clock was set forward or back. */
  wallStep = 0

  constructor(context: Context, name: string) {
    const { random } = context
    this.name = name
    this.store = new Link(context)
    this.redis = new Link(context)
    // The ends of the range find the most faults.
    const rate = 1 + (random.chance(0.4) ? random.pick([-1, 1]) : random.between(-1, 1)) * MAX_RATE_ERROR
    this.clock = { rate, zero: random.between(0, 1e6) }
  }
}

export class Process implements Owner {
  readonly context: Context
  readonly name: string
  readonly machine: Machine
  readonly clock: Clock
  state: Owner['state'] = 'running'
  /** Number of freezes. */
  freezes = 0
  #held: Entry[] = []
  readonly #whenEnded: (() => void)[] = []

  constructor(context: Context, machine: Machine, name: string) {
    this.context = context
    this.machine = machine
    this.name = name
    this.clock = clockOf(context, this)
  }

  freeze(): void {
    if (this.state !== 'running') return
    this.state = 'frozen'
    this.freezes++
    this.context.trace?.(`${this.name} freezes`)
  }

  /** Held events run now, in random order: timers are late, and sockets are read in any order. */
  thaw(): void {
    if (this.state !== 'frozen') return
    this.state = 'running'
    this.context.trace?.(`${this.name} thaws`)
    const { timeline, random } = this.context
    const held = this.#held
    this.#held = []
    for (const entry of held) timeline.after(random.between(0, 2), this, () => entry.run?.())
  }

  hold(entry: Entry): void {
    this.#held.push(entry)
  }

  /** By kill -9, or by itself: no event of it runs any more. */
  end(): void {
    if (this.state === 'ended') return
    this.state = 'ended'
    this.#held = []
    this.context.trace?.(`${this.name} ends`)
    for (const run of this.#whenEnded) run()
  }

  whenEnded(run: () => void): void {
    this.#whenEnded.push(run)
  }
}

/** All processes of a machine share the clock; each has its own timers. */
function clockOf({ timeline, random }: Context, owner: Process): Clock {
  const { machine } = owner
  const { rate, zero } = machine.clock
  return {
    now: () => zero + timeline.now * rate,
    wall: () => timeline.now * rate + machine.wallStep,
    after(ms, run) {
      // A timer of libuv may be a millisecond early by the finer clock.
      const entry = timeline.after((ms + random.between(ms > 0 ? -1 : 0, 2)) / rate, owner, run)
      return () => {
        entry.run = null
      }
    },
  }
}
