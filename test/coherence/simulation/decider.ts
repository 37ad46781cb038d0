/**
 * A process that decides: the product's own memory, lease, history and outcomes, put together as `src/runtime/decision-point.ts` does it.
 * Its requests ask them as `src/decision/engine.ts` does, and remember callers as `src/decision/authn` does; its writes are announced as
 * `seats-admin/api/endpoint.ts` does it.
 */

import type { Coherence } from '../../../src/coherence/instance.ts'
import { LEASE, type Lease, MARGIN } from '../../../src/coherence/lease.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { Trace } from '../../../src/model/decision.ts'
import type { Principal, SeatClaims } from '../../../src/model/principal.ts'
import { type Seat, SeatQuestion } from '../../../src/model/seat.ts'
import type { DecisionCache } from '../../../src/decision/decision-cache.ts'
import { Keys } from '../../../src/redis/keys.ts'
import { Seal } from '../../../src/redis/seal.ts'
import { SeatCache } from '../../../src/redis/seat-cache.ts'
import { SeatMemory } from '../../../src/decision/seats/memory.ts'
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

/** All requests are about one space, and ask for one permission or the other in turn. */
const QUESTIONS = [new SeatQuestion('s1', 'things:use'), new SeatQuestion('s1', 'things:see')] as const

function principalOf(claims: SeatClaims): Principal {
  const nobody = { user: 'someone', email: null, session: null, validUntil: null }
  return { method: 'bearer', tenant: TENANT, claims, ...nobody }
}

const NO_SESSIONS = { readSession: async () => ({ seq: 0, value: null }) }

export class Decider {
  readonly process: Process
  readonly lease: Lease
  /** Takes requests. */
  isOpen = false
  readonly #world: World
  readonly #memory: SeatMemory
  readonly #outcomes: DecisionCache
  /** Whose tokens and keys were met. Tokens never end here. */
  readonly #tokens = new Map<string, Principal>()
  readonly #keys = new WeakMap<StoredApiKey, Map<string, Principal>>()
  readonly #store: StoreClient
  #asked = 0
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
    this.#outcomes = parts.outcomes(this.#memory)
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
    const question = QUESTIONS[this.#asked++ % 2] ?? QUESTIONS[0]
    if (key === null) {
      const ask = () => {
        const found = this.#memory.seatByName(TENANT, seat.name, question, trace)
        return found instanceof Promise ? found.then(({ seat: named }) => named) : found.seat
      }
      await this.#judgeSeat(this.#bearer(seat), seat, question, ask, floor)
    } else {
      const asked = this.#memory.apiKeyById(TENANT, key.id, trace)
      const record = asked instanceof Promise ? await asked : asked
      this.#engine(floor, key, record?.expiresAt ?? null)
      const ask = () => this.#memory.seatById(TENANT, seat.id, question, trace)
      const holder = record === null ? principalOf({ by: 'id', seats: [] }) : this.#holder(record, seat)
      await this.#judgeSeat(holder, seat, question, ask, floor)
    }
    this.#world.figures[trace.source]++
  }

  /** The outcome has the Seat's version for its id. */
  async #judgeSeat(
    caller: Principal,
    thing: Thing,
    { space, permission }: SeatQuestion,
    ask: () => Seat | null | Promise<Seat | null>,
    floor: Floor,
  ): Promise<void> {
    const known = this.#outcomes.get(caller, space, permission)
    if (known !== null) {
      const [version] = known.seats
      return this.#engine(floor, thing, version?.id == null ? null : Number(version.id))
    }
    const found = ask()
    const seq = seqOf(found instanceof Promise ? await found : found)
    if (!(found instanceof Promise)) {
      const entry = { name: thing.name, id: seq === null ? null : `${seq}`, verdict: 'grants' } as const
      this.#outcomes.set(caller, space, permission, { code: 'allow', seats: [entry] })
    }
    this.#engine(floor, thing, seq)
  }

  #bearer({ name }: Thing): Principal {
    let known = this.#tokens.get(name)
    if (known === undefined) {
      known = principalOf({ by: 'any-space', names: [name], issuedAt: 0 })
      this.#tokens.set(name, known)
    }
    return known
  }

  /** Keys have all Seats here, one of which is asked about. */
  #holder(record: StoredApiKey, { id }: Thing): Principal {
    const holders = this.#keys.get(record) ?? new Map<string, Principal>()
    const known = holders.get(id) ?? principalOf({ by: 'id', seats: [id] })
    this.#keys.set(record, holders.set(id, known))
    return known
  }

  #engine(floor: Floor, thing: Thing, seq: number | null): void {
    const { nature, witness } = this.#world
    nature.trace?.(`${this.process.name} decides on ${thing.id} ${seq ?? 'absent'}`)
    witness.engine(this.process.name, floor, thing, seq)
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
