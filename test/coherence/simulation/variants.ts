/**
 * The protocol broken on purpose, one way each. The simulation must find a stale decision in every one of them: that is
 * what its silence about the real protocol is worth.
 */

import type { Bus, BusReceiver } from '../../../src/coherence/bus.ts'
import type { NumberedChange, Position } from '../../../seats-admin/model/change.ts'
import type { ChangeListener, Reading } from '../../../src/coherence/feed-reading.ts'
import type { Clock } from '../../../src/coherence/clock.ts'
import type { InstanceList } from '../../../src/coherence/feeds.ts'
import { History } from '../../../src/coherence/history.ts'
import { type Decider, Instance, type InstanceOptions } from '../../../src/coherence/instance.ts'
import { LEASE, Lease, MARGIN, type Renewer } from '../../../src/coherence/lease.ts'
import { RemoteDecider } from '../../../src/coherence/worker-link.ts'
import { DecisionCache } from '../../../src/decision/decision-cache.ts'
import { type Parts, REAL_PARTS } from './parts.ts'
import type { StoreClient } from './store-client.ts'

export interface Variant {
  readonly name: string
  readonly parts: Parts
}

/** @param names as in {@link REAL_PARTS}, what replaces them */
function variant(name: string, parts: Partial<Parts>): Variant {
  return { name, parts: { ...REAL_PARTS, ...parts } }
}

/** Answers before anybody has been told. */
class Hasty extends Instance {
  override async announce(...committed: Parameters<Instance['announce']>): Promise<void> {
    void super.announce(...committed)
  }
}

/** Once a lease, always a lease. */
class Everlasting extends Lease {
  #had = false

  override live(): boolean {
    this.#had ||= super.live()
    return this.#had
  }
}

/** Counts the lease from when the store's answer came. */
class Generous extends Lease {
  readonly #clock: Clock

  constructor(renewer: Renewer, hearers: readonly ChangeListener[], clock: Clock) {
    super(renewer, hearers, clock)
    this.#clock = clock
  }

  override applyReading(reading: Reading): void {
    const isGood = reading.noted > Number.NEGATIVE_INFINITY
    super.applyReading(isGood ? { ...reading, noted: this.#clock.now() } : reading)
  }
}

/** Believes whatever the cache holds. */
class Credulous extends History {
  override isCurrent(): boolean {
    return true
  }
}

/** Forgets what messages have told it when it begins anew. */
class Forgetful extends History {
  #history = new History()

  override get head(): Position | null {
    return this.#history.head
  }

  override retained(): NumberedChange[] {
    return this.#history.retained()
  }

  override applyAnnouncement(changes: readonly NumberedChange[]): void {
    this.#history.applyAnnouncement(changes)
  }

  override applyReading(changes: readonly NumberedChange[] | null, head: Position): void {
    if (changes === null) this.#history = new History()
    this.#history.applyReading(changes, head)
  }

  override isCurrent(...asked: Parameters<History['isCurrent']>): boolean {
    return this.#history.isCurrent(...asked)
  }
}

/** Takes for told who has only been sent it. */
class Trusting extends RemoteDecider {
  override async applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> {
    void super.applyAnnouncement(changes)
  }
}

/** An instance whose clock can be lied to. */
function withClock(parts: InstanceOptions, lies: Partial<Clock>): InstanceOptions {
  return { ...parts, clock: { ...parts.clock, ...lies } }
}

/** Any reading gives a decider a lease, also one that began before it joined. */
class Welcoming extends Instance {
  readonly #lie: { isTold: boolean }

  constructor(parts: InstanceOptions) {
    const lie = { isTold: false }
    const now = () => (lie.isTold ? Number.NEGATIVE_INFINITY : parts.clock.now())
    super(withClock(parts, { now }))
    this.#lie = lie
  }

  override join(decider: Decider): void {
    this.#lie.isTold = true
    super.join(decider)
    this.#lie.isTold = false
  }
}

/** Does without the margin: clocks that differ by a tenth are too much for it. */
function withoutMargin(parts: InstanceOptions): Instance {
  const after: Clock['after'] = (ms, run) => parts.clock.after(ms === LEASE + MARGIN ? LEASE : ms, run)
  return new Instance(withClock(parts, { after }))
}

/** Takes off the list whoever is missing when it has waited, however late it has read the list. */
function unforgiving(parts: InstanceOptions): Instance {
  let forgets = false
  const answered: InstanceOptions['listener']['answered'] = (how) => {
    parts.listener.answered(how)
    forgets = how.by === 'waited'
    queueMicrotask(() => {
      forgets = false
    })
  }
  const after: Clock['after'] = (ms, run) => parts.clock.after(forgets ? 0 : ms, run)
  return new Instance({ ...withClock(parts, { after }), listener: { ...parts.listener, answered } })
}

/** Takes any reading for one that shows what was announced. */
function inattentive(parts: InstanceOptions): Instance {
  const { id, bus } = parts
  if (bus === null) return new Instance(parts)
  const open: Bus['open'] = (_, receiver) => {
    const announced: BusReceiver['announced'] = (announcement) => {
      if (announcement.changes !== null) return receiver.announced(announcement)
      const { from, number } = announcement
      const acknowledge = () => bus.acknowledge({ to: from, from: id, number })
      instance.renew().then(acknowledge, () => {})
    }
    bus.open(id, { announced, acknowledged: (acknowledgement) => receiver.acknowledged(acknowledgement) })
  }
  const announce: Bus['announce'] = (announcement) => bus.announce(announcement)
  const acknowledge: Bus['acknowledge'] = (acknowledgement) => bus.acknowledge(acknowledgement)
  const deaf = { up: true, open, announce, acknowledge, close: () => bus.close() }
  const instance = new Instance({ ...parts, bus: deaf })
  return instance
}

function listed(change: (store: StoreClient) => Partial<InstanceList>): Parts['list'] {
  return (store) => {
    const list = REAL_PARTS.list(store)
    const { register, follow, instances, forget, leave } = { ...bound(list), ...change(store) }
    return { register, follow, instances, forget, leave }
  }
}

function bound(list: InstanceList): InstanceList {
  return {
    register: (id, name) => list.register(id, name),
    follow: (id, beat, position, applied) => list.follow(id, beat, position, applied),
    instances: () => list.instances(),
    forget: (id, beat) => list.forget(id, beat),
    leave: (id) => list.leave(id),
  }
}

export const VARIANTS: readonly Variant[] = [
  variant('nobody is waited for', { instance: (parts) => new Hasty(parts) }),
  variant('a lease never ends', { lease: (...args) => new Everlasting(...args) }),
  variant('a lease counts from the end of the reading', { lease: (...args) => new Generous(...args) }),
  variant('whatever the cache holds is believed', { history: () => new Credulous() }),
  variant('a new beginning forgets what messages told', { history: () => new Forgetful() }),
  variant('memory keeps an answer from before the change', {
    source: (source) => ({
      grantByName: async (...asked) => ({ ...(await source.grantByName(...asked)), seq: Infinity }),
      grantById: async (...asked) => ({ ...(await source.grantById(...asked)), seq: Infinity }),
      spacesByName: async (...asked) => ({ ...(await source.spacesByName(...asked)), seq: Infinity }),
      seatById: async (...asked) => ({ ...(await source.seatById(...asked)), seq: Infinity }),
      apiKeyById: async (...asked) => ({ ...(await source.apiKeyById(...asked)), seq: Infinity }),
    }),
  }),
  variant('an outcome outlives what it rests on', { outcomes: () => new DecisionCache({ generation: 0 }) }),
  variant('who is not on the list has a lease', {
    list: listed((store) => ({
      follow: async (...args) => ({ ...(await store.follow(...args)), registered: true }),
    })),
  }),
  variant('a reading from before registering gives a lease', {
    list: listed((store) => ({
      register: async () => {},
      follow: async (id, ...args) => {
        const found = await store.follow(id, ...args)
        if (!found.registered) await store.register(id, id)
        return { ...found, registered: true }
      },
    })),
  }),
  variant('forgotten whatever its beat', {
    list: listed((store) => ({ forget: (id) => store.forget(id, null) })),
  }),
  variant('forgotten at once', {
    list: listed((store) => ({
      instances: async () => {
        const found = await store.instances()
        for (const { id, beat } of found) void store.forget(id, beat).catch(() => {})
        return found
      },
    })),
  }),
  variant('a worker has a lease from before it joined', { instance: (parts) => new Welcoming(parts) }),
  variant('a worker is told without being asked', { remoteDecider: (...args) => new Trusting(...args) }),
  variant('a beat speaks for workers that have not heard', {
    list: listed((store) => ({
      follow: (id, beat, position) => store.follow(id, beat, position, position?.seq ?? 0),
    })),
  }),
  variant('a reading from before an announcement acknowledges it', { instance: inattentive }),
  variant('no margin', { instance: withoutMargin }),
]

/** Takes more than one thing to go wrong at just the wrong moments: found once in 200,000 schedules. */
export const RARE_VARIANTS: readonly Variant[] = [variant('forgotten too early', { instance: unforgiving })]

/** @param name null: of the protocol as it is */
export function partsOf(name: string | null): Parts {
  if (name === null) return REAL_PARTS
  const found = [...VARIANTS, ...RARE_VARIANTS].find((each) => each.name === name)
  if (found === undefined) throw new Error(`no variant "${name}"`)
  return found.parts
}
