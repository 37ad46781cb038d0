/**
 * A process that decides: the product's own memory, lease and history, put together as `src/engine.ts` does it. Its
 * requests ask them as `src/judge.ts` does; its writes are announced as `seats-admin/api/endpoint.ts` does it.
 */

import type { Coherence } from '../../../src/coherence/instance.ts'
import { LEASE, type Lease, MARGIN } from '../../../src/coherence/lease.ts'
import type { Seat, Trace } from '../../../src/exchange.ts'
import { Keys } from '../../../src/redis/keys.ts'
import { Seal } from '../../../src/redis/seal.ts'
import { SeatCache } from '../../../src/redis/seat-cache.ts'
import { SeatMemory } from '../../../src/seats/memory.ts'
import type { Process } from './process.ts'
import { RedisClient } from './redis-client.ts'
import { StoreClient } from './store-client.ts'
import { TENANT, type Thing } from './things.ts'
import type { Floor } from './witness.ts'
import type { World } from './world.ts'

/** What a request needs: a token names Seats, an API key leads to one by its id. */
export interface Question {
  readonly key: Thing | null
  readonly seat: Thing
}

/** Milliseconds for which a write may stay unanswered: the slowest clock, and two timers that are late. */
const ANSWERED_WITHIN = (LEASE + MARGIN) / 0.9 + 10

/** A proof of who wrote a value says nothing of its age, and costs a fifth of a run. */
class NoSeal extends Seal {
  override seal(_place: string, text: string): string {
    return text
  }

  override open(_place: string, sealed: string): string {
    return sealed
  }
}

const SEAL = new NoSeal([])

const NO_SESSIONS = { readSession: async () => ({ seq: 0, value: null }) }

export class Decider {
  readonly process: Process
  readonly lease: Lease
  /** Takes requests. */
  isOpen = false
  readonly #world: World
  readonly #memory: SeatMemory
  readonly #store: StoreClient
  readonly #coherence: Coherence

  constructor(world: World, process: Process, coherence: Coherence) {
    const { nature, parts } = world
    this.process = process
    this.#world = world
    this.#coherence = coherence
    this.#store = new StoreClient(nature, world.database, process)
    const history = parts.history()
    const redis = new RedisClient(nature, world.redis, process).asConnection
    const source = world.schedule.hasRedis
      ? new SeatCache(
          this.#store,
          { connection: redis, keys: new Keys(''), seal: SEAL },
          history,
          process.clock.now,
        )
      : this.#store
    this.#memory = new SeatMemory(parts.source(source), NO_SESSIONS, world.schedule.memory)
    this.lease = parts.lease(coherence, [this.#memory, history], process.clock)
    coherence.join(this.lease)
  }

  /** A request that begins now. */
  request(question: Question): void {
    if (!this.isOpen) return
    const { witness, figures } = this.#world
    const { floor } = witness
    figures.requests++
    const failed = () => {
      figures.unavailable++
    }
    if (this.lease.live()) this.#decide(question, floor).catch(failed)
    else
      this.lease
        .renewed()
        .then(() => this.#decide(question, floor), undefined)
        .catch(failed)
  }

  /** A write of this process. Without an answer of the store, it is not announced: nobody was told that it is done. */
  write(thing: Thing, deletes: boolean, further: number): void {
    if (!this.isOpen) return
    this.#store.write(thing, deletes, further).then(
      async (committed) => {
        const answered = this.#expectAnswer(`${thing.id} ${committed.seq}`)
        await this.#coherence.announce(committed)
        answered()
        this.#world.answered(this.process.name, thing, committed.seq)
      },
      () => {},
    )
  }

  /** As in the product, what memory holds is decided on at once, and the rest when it has come. */
  async #decide({ key, seat }: Question, floor: Floor): Promise<void> {
    const trace: Trace = { source: 'memory' }
    if (key === null) {
      const found = this.#memory.seatByName(TENANT, seat.name, trace)
      this.#judge(floor, seat, seqOf((found instanceof Promise ? await found : found).seat))
    } else {
      const record = this.#memory.apiKeyById(TENANT, key.id, trace)
      this.#judge(floor, key, (record instanceof Promise ? await record : record)?.expiresAt ?? null)
      const found = this.#memory.seatById(TENANT, seat.id, trace)
      this.#judge(floor, seat, seqOf(found instanceof Promise ? await found : found))
    }
    this.#world.figures[trace.source]++
  }

  #judge(floor: Floor, thing: Thing, seq: number | null): void {
    const { nature, witness } = this.#world
    nature.trace?.(`${this.process.name} decides on ${thing.id} ${seq ?? 'absent'}`)
    witness.judge(this.process.name, floor, thing, seq)
  }

  #expectAnswer(what: string): () => void {
    const { process } = this
    const { freezes } = process
    let isAnswered = false
    this.#world.nature.timeline.after(ANSWERED_WITHIN, null, () => {
      if (isAnswered || process.state !== 'running' || process.freezes !== freezes) return
      this.#world.witness.complain('late', `${process.name} has not answered ${what}`)
    })
    return () => {
      isAnswered = true
    }
  }
}

/** Each version has its number as its permission; see `things.ts`. */
function seqOf(seat: Seat | null): number | null {
  if (seat === null) return null
  const [version] = seat.permissions
  return Number(version)
}
