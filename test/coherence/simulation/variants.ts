/**
 * Variants of the protocol, each broken in one way. The simulation must find a stale decision in each; only then does its
 * result for the real protocol mean anything.
 */

import type { Bus, BusReceiver } from '../../../src/coherence/bus.ts'
import type { ChangeKind, NumberedChange, Position } from '../../../seats-admin/model/change.ts'
import type { ChangeListener, Reading } from '../../../src/coherence/feed-reading.ts'
import type { Clock } from '../../../src/coherence/clock.ts'
import type { InstanceList } from '../../../src/coherence/feeds.ts'
import { History } from '../../../src/coherence/history.ts'
import { type Decider, Instance, type InstanceOptions } from '../../../src/coherence/instance.ts'
import { LEASE, Lease, MARGIN, type Renewer } from '../../../src/coherence/lease.ts'
import { RemoteDecider } from '../../../src/coherence/worker-link.ts'
import { DecisionCache } from '../../../src/decision/decision-cache.ts'
import { type DirectSource, type SeatChange, SeatMemory } from '../../../src/decision/seats/memory.ts'
import { type Parts, REAL_PARTS } from './parts.ts'
import type { StoreClient } from './store-client.ts'

export interface Variant {
  readonly name: string
  readonly parts: Parts
}

/** @param parts the parts that replace those of {@link REAL_PARTS} */
function variant(name: string, parts: Partial<Parts>): Variant {
  return { name, parts: { ...REAL_PARTS, ...parts } }
}

/** Acknowledges a write before the other deciders have applied it. */
class AcknowledgesAtOnce extends Instance {
  override async announce(...committed: Parameters<Instance['announce']>): Promise<void> {
    void super.announce(...committed)
  }
}

class NeverExpires extends Lease {
  #had = false

  override live(): boolean {
    this.#had ||= super.live()
    return this.#had
  }
}

/** Counts the lease from when the response of the store arrived. */
class CountsFromResponse extends Lease {
  readonly #clock: Clock

  constructor(renewer: Renewer, listeners: readonly ChangeListener[], clock: Clock) {
    super(renewer, listeners, clock)
    this.#clock = clock
  }

  override applyReading(reading: Reading): void {
    const isGood = reading.noted > Number.NEGATIVE_INFINITY
    const [noted, notedWall] = [this.#clock.now(), this.#clock.wall()]
    super.applyReading(isGood ? { ...reading, noted, notedWall } : reading)
  }
}

/** Accepts every value of the shared cache. */
class AcceptsAllValues extends History {
  override isCurrent(): boolean {
    return true
  }
}

/** Drops what was announced at a reading without changes. */
class DropsAnnouncements extends History {
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

/** Memory that no change of one kind reaches. */
function withoutChangesOf(kind: ChangeKind): Parts['memory'] {
  return (...options) =>
    new (class extends SeatMemory {
      override applyAnnouncement(changes: readonly SeatChange[]): void {
        super.applyAnnouncement(changes.filter((change) => change.kind !== kind))
      }
    })(...options)
}

/** Takes an announcement as applied once it is sent to the worker. */
class ConfirmsForWorker extends RemoteDecider {
  override async applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> {
    void super.applyAnnouncement(changes)
  }
}

/** An instance with another clock. */
function withClock(parts: InstanceOptions, overrides: Partial<Clock>): InstanceOptions {
  return { ...parts, clock: { ...parts.clock, ...overrides } }
}

/** Gives a decider a lease by any reading, also by one that began before it joined. */
class LeaseFromBeforeJoin extends Instance {
  readonly #state: { isJoining: boolean }

  constructor(parts: InstanceOptions) {
    const state = { isJoining: false }
    const now = () => (state.isJoining ? Number.NEGATIVE_INFINITY : parts.clock.now())
    super(withClock(parts, { now }))
    this.#state = state
  }

  override join(decider: Decider): void {
    this.#state.isJoining = true
    super.join(decider)
    this.#state.isJoining = false
  }
}

/** Does not wait for the margin: too short for clocks that differ by a tenth. */
function withoutMargin(parts: InstanceOptions): Instance {
  const after: Clock['after'] = (ms, run) => parts.clock.after(ms === LEASE + MARGIN ? LEASE : ms, run)
  return new Instance(withClock(parts, { after }))
}

/** Removes the instances that are missing after the wait, however late it has read the list. */
function removesAtOnce(parts: InstanceOptions): Instance {
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

/** Acknowledges an announcement after any reading, whether or not it shows the change. */
function acknowledgesAnyReading(parts: InstanceOptions): Instance {
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
  const wrappedBus = { up: true, open, announce, acknowledge, close: () => bus.close() }
  const instance = new Instance({ ...parts, bus: wrappedBus })
  return instance
}

function listed(change: (store: StoreClient) => Partial<InstanceList>): Parts['list'] {
  return (store) => {
    const list = REAL_PARTS.list(store)
    const { register, follow, instances, forget, leave } = { ...bound(list), ...change(store) }
    return { register, follow, instances, forget, leave }
  }
}

function boundDirect(store: DirectSource): DirectSource {
  return {
    readSession: (...asked) => store.readSession(...asked),
    blocks: (...asked) => store.blocks(...asked),
    userBlock: (...asked) => store.userBlock(...asked),
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
  variant('no wait for acknowledgements', { instance: (parts) => new AcknowledgesAtOnce(parts) }),
  variant('a lease never expires', { lease: (...args) => new NeverExpires(...args) }),
  variant('a lease counts from the end of the reading', {
    lease: (...args) => new CountsFromResponse(...args),
  }),
  variant('every value of the shared cache counts', { history: () => new AcceptsAllValues() }),
  variant('a reading without changes drops what was announced', { history: () => new DropsAnnouncements() }),
  variant('memory keeps an answer from before the change', {
    source: (source) => ({
      grantByName: async (...asked) => ({ ...(await source.grantByName(...asked)), seq: Infinity }),
      grantById: async (...asked) => ({ ...(await source.grantById(...asked)), seq: Infinity }),
      spacesByName: async (...asked) => ({ ...(await source.spacesByName(...asked)), seq: Infinity }),
      seatById: async (...asked) => ({ ...(await source.seatById(...asked)), seq: Infinity }),
      apiKeyById: async (...asked) => ({ ...(await source.apiKeyById(...asked)), seq: Infinity }),
    }),
  }),
  variant('memory keeps a session from before its end', {
    direct: (store) => ({
      ...boundDirect(store),
      readSession: async (...asked) => ({ ...(await store.readSession(...asked)), seq: Infinity }),
    }),
  }),
  variant('memory keeps a list of blocks from before the block', {
    direct: (store) => ({
      ...boundDirect(store),
      blocks: async (...asked) => ({ ...(await store.blocks(...asked)), seq: Infinity }),
    }),
  }),
  variant('memory keeps the answer about a user from before the block', {
    direct: (store) => ({
      ...boundDirect(store),
      userBlock: async (...asked) => ({ ...(await store.userBlock(...asked)), seq: Infinity }),
    }),
  }),
  variant('the end of a session does not reach memory', { memory: withoutChangesOf('session') }),
  variant('a block does not reach memory', { memory: withoutChangesOf('block') }),
  variant('a cached decision outlives its inputs', { decisions: () => new DecisionCache({ generation: 0 }) }),
  variant('an unlisted instance has a lease', {
    list: listed((store) => ({
      follow: async (...args) => ({ ...(await store.follow(...args)), registered: true }),
    })),
  }),
  variant('a reading from before the registration gives a lease', {
    list: listed((store) => ({
      register: async () => {},
      follow: async (id, ...args) => {
        const found = await store.follow(id, ...args)
        if (!found.registered) await store.register(id, id)
        return { ...found, registered: true }
      },
    })),
  }),
  variant('an instance is removed whatever its beat', {
    list: listed((store) => ({ forget: (id) => store.forget(id, null) })),
  }),
  variant('an instance is removed at once', {
    list: listed((store) => ({
      instances: async () => {
        const found = await store.instances()
        for (const { id, beat } of found) void store.forget(id, beat).catch(() => {})
        return found
      },
    })),
  }),
  variant('a worker has a lease from before it joined', {
    instance: (parts) => new LeaseFromBeforeJoin(parts),
  }),
  variant('an announcement to a worker counts as applied when sent', {
    remoteDecider: (...args) => new ConfirmsForWorker(...args),
  }),
  variant('a beat reports changes that workers have not applied', {
    list: listed((store) => ({
      follow: (id, beat, position) => store.follow(id, beat, position, position?.seq ?? 0),
    })),
  }),
  variant('a reading from before an announcement acknowledges it', { instance: acknowledgesAnyReading }),
  variant('no margin', { instance: withoutMargin }),
]

/** Needs several faults at exact times: found once in 200,000 schedules. */
export const RARE_VARIANTS: readonly Variant[] = [
  variant('an instance is removed too early', { instance: removesAtOnce }),
]

/** @param name null: the real protocol */
export function partsOf(name: string | null): Parts {
  if (name === null) return REAL_PARTS
  const found = [...VARIANTS, ...RARE_VARIANTS].find((each) => each.name === name)
  if (found === undefined) throw new Error(`no variant "${name}"`)
  return found.parts
}
