/**
 * A process that decides: the product's memory, lease, history and decision cache, composed as in
 * `src/runtime/decision-point.ts`. Requests use them as `src/decision/engine.ts` does, and cache callers as
 * `src/decision/authn` does; writes are announced as in `seats-admin/api/admin-endpoint.ts`.
 */

import type { Coherence } from '../../../src/coherence/instance.ts'
import { LEASE, type Lease, MARGIN } from '../../../src/coherence/lease.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { Trace } from '../../../src/model/decision.ts'
import { decideOnOneState } from '../../../src/decision/seats/decision-reads.ts'
import type { Principal, SeatClaims } from '../../../src/model/principal.ts'
import { type Seat, SeatQuestion } from '../../../src/model/decision-seat.ts'
import type { DecisionCache } from '../../../src/decision/decision-cache.ts'
import { Keys } from '../../../src/redis/keys.ts'
import { Seal } from '../../../src/redis/redis-seal.ts'
import { SeatCache } from '../../../src/redis/seat-cache.ts'
import type { SeatMemory } from '../../../src/decision/seats/memory.ts'
import type { Process } from './process.ts'
import { RedisClient } from './redis.ts'
import { StoreClient } from './store-client.ts'
import { BLOCK, SESSION, TENANT, type StoredRecord } from './records.ts'
import { type Floor, nameOf } from './checker.ts'
import type { World } from './world.ts'

/** The records that a request needs: a token names a Seat, and has a session and a user; an API key refers to a Seat by id. */
export interface Question {
  readonly key: StoredRecord | null
  readonly seat: StoredRecord
}

/** Milliseconds within which a write must be acknowledged: by the slowest clock, with two late timers. */
const ANSWERED_WITHIN = (LEASE + MARGIN) / 0.9 + 10

/** The seal authenticates the writer of a value, not its age, and would cost a fifth of a run. */
class NoSeal extends Seal {
  override seal(_place: string, text: string): string {
    return text
  }

  override open(_place: string, sealed: string): string {
    return sealed
  }
}

const SEAL = new NoSeal([])

/** All requests are about one space, with two permissions in turn. */
const QUESTIONS = [new SeatQuestion('s1', 'things:use'), new SeatQuestion('s1', 'things:see')] as const

function principalOf(claims: SeatClaims): Principal {
  const rest = { user: BLOCK.id, email: null, session: SESSION.id, validUntil: null }
  return { method: 'bearer', tenant: TENANT, claims, ...rest }
}

export class Decider {
  readonly process: Process
  readonly lease: Lease
  /** Whether it accepts requests. */
  isOpen = false
  readonly #world: World
  readonly #memory: SeatMemory
  readonly #decisions: DecisionCache
  /** Principals by token and by key. Tokens never expire here. */
  readonly #tokens = new Map<string, Principal>()
  readonly #keys = new WeakMap<StoredApiKey, Map<string, Principal>>()
  readonly #store: StoreClient
  #asked = 0
  readonly #coherence: Coherence

  constructor(world: World, process: Process, coherence: Coherence) {
    const { parts } = world
    this.process = process
    this.#world = world
    this.#coherence = coherence
    this.#store = new StoreClient(world.database, process)
    const history = parts.history()
    const redis = new RedisClient(world.redis, process).asConnection
    const source = world.schedule.hasRedis
      ? new SeatCache(
          this.#store,
          { connection: redis, keys: new Keys(''), seal: SEAL },
          history,
          process.clock.now,
        )
      : this.#store
    this.#memory = parts.memory(source, this.#store, world.schedule.memory)
    this.#decisions = parts.decisions(this.#memory.received)
    this.lease = parts.lease(coherence, [this.#memory, history], process.clock)
    coherence.join(this.lease)
  }

  request(question: Question): void {
    if (!this.isOpen) return
    const { checker, figures } = this.#world
    const { floor } = checker
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

  /** A write of this process. A write without a response of the store is not announced, as its client gets no 2xx. */
  write(record: StoredRecord, deletes: boolean, further: number): void {
    if (!this.isOpen) return
    this.#store.write(record, deletes, further).then(
      async (committed) => {
        const answered = this.#expectAnswer(`${record.id} ${committed.seq}`)
        await this.#coherence.announce(committed)
        answered()
        this.#world.answered(this.process.name, record, committed.seq)
      },
      () => {},
    )
  }

  /**
   * As in the product: synchronous when memory holds the record, else after the read. But an ended session and a block do
   * not end the request, so that it checks every record.
   */
  async #decide(question: Question, floor: Floor): Promise<void> {
    await decideOnOneState(this.#memory.received, (trace) => this.#look(question, floor, trace))
  }

  async #look({ key, seat }: Question, floor: Floor, trace: Trace): Promise<void> {
    const question = QUESTIONS[this.#asked++ % 2] ?? QUESTIONS[0]
    if (key === null) {
      const session = this.#memory.sessionById(TENANT, SESSION.id, trace)
      const current = session instanceof Promise ? await session : session
      this.#check(floor, SESSION, current?.issuedAt ?? false)
      const isBlocked = this.#memory.isBlocked(TENANT, BLOCK.id, trace)
      this.#check(floor, BLOCK, isBlocked instanceof Promise ? await isBlocked : isBlocked)
      const ask = () => {
        const found = this.#memory.seatByName(TENANT, seat.name, question, trace)
        return found instanceof Promise ? found.then(({ seat: named }) => named) : found.seat
      }
      await this.#checkSeat(this.#bearer(seat), seat, question, ask, floor)
    } else {
      const asked = this.#memory.apiKeyById(TENANT, key.id, trace)
      const record = asked instanceof Promise ? await asked : asked
      this.#check(floor, key, record?.expiresAt ?? false)
      const ask = () => this.#memory.seatById(TENANT, seat.id, question, trace)
      const holder = record === null ? principalOf({ by: 'id', seats: [] }) : this.#holder(record, seat)
      await this.#checkSeat(holder, seat, question, ask, floor)
    }
    this.#world.figures[trace.source]++
  }

  /** The cached decision has the Seat's version as its id. */
  async #checkSeat(
    caller: Principal,
    record: StoredRecord,
    { space, permission }: SeatQuestion,
    ask: () => Seat | null | Promise<Seat | null>,
    floor: Floor,
  ): Promise<void> {
    const known = this.#decisions.get(caller, space, permission)
    if (known !== null) {
      const [version] = known.seats
      return this.#check(floor, record, version?.id == null ? false : Number(version.id))
    }
    const found = ask()
    const seq = seqOf(found instanceof Promise ? await found : found)
    if (!(found instanceof Promise)) {
      const entry = { name: record.name, id: seq === false ? null : `${seq}`, verdict: 'grants' } as const
      this.#decisions.set(caller, space, permission, { code: 'allow', seats: [entry] })
    }
    this.#check(floor, record, seq)
  }

  #bearer({ name }: StoredRecord): Principal {
    let known = this.#tokens.get(name)
    if (known === undefined) {
      known = principalOf({ by: 'any-space', names: [name], issuedAt: 0 })
      this.#tokens.set(name, known)
    }
    return known
  }

  /** Here each key has all Seats; the request is about one of them. */
  #holder(record: StoredApiKey, { id }: StoredRecord): Principal {
    const holders = this.#keys.get(record) ?? new Map<string, Principal>()
    const known = holders.get(id) ?? principalOf({ by: 'id', seats: [id] })
    this.#keys.set(record, holders.set(id, known))
    return known
  }

  #check(floor: Floor, record: StoredRecord, seen: number | boolean): void {
    const { context, checker } = this.#world
    context.trace?.(`${this.process.name} decides on ${record.id} ${nameOf(seen)}`)
    checker.check(this.process.name, floor, record, seen)
  }

  #expectAnswer(what: string): () => void {
    const { process } = this
    const { freezes } = process
    let isAnswered = false
    this.#world.context.timeline.after(ANSWERED_WITHIN, null, () => {
      if (isAnswered || process.state !== 'running' || process.freezes !== freezes) return
      this.#world.checker.report('late', `${process.name} has not answered ${what}`)
    })
    return () => {
      isAnswered = true
    }
  }
}

/** The number of a version is its permission; see `records.ts`. False: there is no Seat. */
function seqOf(seat: Seat | null): number | false {
  if (seat === null) return false
  const [version] = seat.permissions
  return Number(version)
}
