/**
 * An instance of a fleet without a listener: the real protocol on real connections, with a lease over a
 * memory that only records the newest change.
 */

import { randomUUID } from 'node:crypto'
import { openStore, type Store, StoreUnavailable } from '../../seats-admin/index.ts'
import { committedOf } from '../../seats-admin/model/change.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import type { NumberedChange, Position } from '../../seats-admin/model/change.ts'
import type { ChangeListener } from '../../src/coherence/feed-reading.ts'
import { systemClock } from '../../src/coherence/clock.ts'
import { type WriteResult, Instance } from '../../src/coherence/instance.ts'
import { Lease } from '../../src/coherence/lease.ts'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { redisUrl } from '../../src/config/redis-settings.ts'
import { RedisBus } from '../../src/redis/redis-bus.ts'
import { connectRedis, connectSubscriber } from '../../src/redis/connect.ts'
import { Keys } from '../../src/redis/keys.ts'
import { Seal } from '../../src/redis/redis-seal.ts'
import { until } from '../../test/support/until.ts'
import { CountingBus } from './counting-bus.ts'

/** Attempts at the first reading. */
const MOST_TRIES = 20

export interface Places {
  readonly store: string
  readonly redis: string
  /** The secret that seals messages: text, the same for all instances. */
  readonly secret: string
}

/** Messages of one instance or of several. */
export interface Messages {
  readonly sent: number
  /** Messages of other instances. */
  readonly received: number
}

/** Times of a write, in milliseconds. */
export interface WriteTimes {
  /** The number of its last change. */
  readonly seq: number
  /** The time from the call to the end of its commit. */
  readonly commit: number
  /** The time from the commit until its response may be sent. */
  readonly acknowledgement: number
  readonly by: WriteResult['by']
}

/** The subject of writes: a Seat of this tenant. */
export interface Target {
  readonly tenant: string
  readonly id: string
}

export class SimulatedInstance {
  readonly #store: Store
  readonly #bus: CountingBus
  readonly #instance: Instance
  readonly #memory = new RecordingMemory()
  readonly #lease: Lease
  readonly #disconnect: () => void
  #by: WriteResult['by'] = 'waited'

  private constructor(store: Store, places: Places) {
    const config = redisUrl(places.redis, '/')
    if (config instanceof InvalidValue) throw new Error(config.message)
    const publisher = connectRedis(config, () => {})
    const subscriber = connectSubscriber(config, publisher, () => {})
    this.#disconnect = () => [publisher, subscriber].forEach((each) => each.disconnect())
    this.#store = store
    const seal = new Seal([Buffer.from(places.secret)])
    this.#bus = new CountingBus(new RedisBus(publisher, subscriber, new Keys(config.prefix), seal))
    const answered = ({ by }: WriteResult) => {
      this.#by = by
    }
    this.#instance = new Instance({
      id: randomUUID(),
      name: 'simulated',
      source: store,
      list: store.registry,
      bus: this.#bus,
      clock: systemClock,
      listener: { feed: () => {}, answered, acknowledged: () => {} },
    })
    this.#lease = new Lease(this.#instance, [this.#memory], systemClock)
    this.#instance.join(this.#lease)
  }

  /** Resolves once it may decide from memory, and is connected to the others. */
  static async start(places: Places): Promise<SimulatedInstance> {
    const store = await openStore({ kind: 'postgres', url: places.store })
    const simulated = new SimulatedInstance(store, places)
    await simulated.#follow()
    await until(
      () => simulated.#bus.up,
      () => 'Redis does not answer',
    )
    return simulated
  }

  get messages(): Messages {
    const { sent, received } = this.#bus
    return { sent, received }
  }

  /** Whether it could decide on a state from before this change. */
  isStale(seq: number): boolean {
    return this.#lease.live() && this.#memory.newest < seq
  }

  /** Changes the Seat's permissions, like an endpoint of the Admin API. */
  async write({ tenant, id }: Target, permissions: readonly string[]): Promise<WriteTimes> {
    const begun = performance.now()
    const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
    const writer = { tenant, by: 'bench', scope, now: Date.now() }
    const result = await this.#store.updateSeat(writer, id, { permissions })
    if (isRefusal(result)) throw new Error(result.detail)
    const committed = performance.now()
    await this.#instance.announce(committedOf(result))
    const acknowledgement = performance.now() - committed
    return { seq: result.seq, commit: committed - begun, acknowledgement, by: this.#by }
  }

  async close(): Promise<void> {
    await this.#instance.close()
    this.#disconnect()
    await this.#store.close()
  }

  /** Starts to follow the feed. On a busy machine, the first reading may come too late to count. */
  async #follow(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#instance.start()
      } catch (cause) {
        if (tries === MOST_TRIES || !(cause instanceof StoreUnavailable)) throw cause
      }
    }
  }
}

/** A memory that holds only the number of the newest change. */
class RecordingMemory implements ChangeListener {
  newest = 0

  applyAnnouncement(changes: readonly NumberedChange[]): void {
    for (const { seq } of changes) this.newest = Math.max(this.newest, seq)
  }

  applyReading(_changes: readonly NumberedChange[] | null, { seq }: Position): void {
    this.newest = Math.max(this.newest, seq)
  }
}
