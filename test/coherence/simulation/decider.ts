/**
 * A process that decides: the product's engine, memory, lease, history and re-evaluation, composed as in
 * `src/runtime/decision-point.ts` and `src/runtime/data-plane.ts`. Writes are announced as in
 * `seats-admin/api/admin-endpoint.ts`.
 */

import type { CurrentTables } from '../../../src/coherence/current-tables.ts'
import type { ChangeListener } from '../../../src/coherence/feed-reading.ts'
import type { Changes } from '../../../src/pipeline/pending-changes.ts'
import type { Coherence } from '../../../src/coherence/coherence.ts'
import { LEASE, type Lease, MARGIN } from '../../../src/coherence/lease.ts'
import { CUT_WITHIN } from '../../../src/coherence/cut-reports.ts'
import type { ReachedInstance } from '../../../seats-admin/model/revocation.ts'
import type { Committed } from '../../../seats-admin/model/change.ts'
import type { Evaluation } from '../../../src/model/decision.ts'
import type { DecisionEngine } from '../../../src/decision/engine.ts'
import { NO_EXCEPTIONS } from '../../../src/decision/router/pattern.ts'
import { Keys } from '../../../src/redis/keys.ts'
import { Seal } from '../../../src/redis/redis-seal.ts'
import { SeatCache } from '../../../src/redis/seat-cache.ts'
import type { SeatMemory } from '../../../src/decision/seats/memory.ts'
import { Authentication } from './authentication.ts'
import type { Floor } from './checker.ts'
import type { Revocation, Write } from './database.ts'
import type { Process } from './process.ts'
import { Moment, type Question, seenBy, TABLES } from './questions.ts'
import { PERMISSIONS, TENANT } from './records.ts'
import { permissionIn, type SimulatedConfig } from './tables.ts'
import { RedisClient } from './redis.ts'
import { StoreClient } from './store-client.ts'
import { Streams } from './streams.ts'
import type { World } from './world.ts'

/** Milliseconds within which a write must be acknowledged: by the slowest clock, with two late timers. */
const ANSWERED_WITHIN = (LEASE + MARGIN) / 0.9 + 10
/** The same for a revocation, in a worker whose primary is frozen. */
const REVOKED_WITHIN = (CUT_WITHIN + 2 * MARGIN) / 0.9 + 10

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

export class Decider {
  readonly process: Process
  readonly lease: Lease
  readonly streams: Streams
  /** Whether it accepts requests. */
  isOpen = false
  readonly #world: World
  readonly #memory: SeatMemory
  readonly #store: StoreClient
  readonly #coherence: Coherence
  /** Null: the tables are in files. */
  readonly tables: CurrentTables | null
  /** How often a reading of the feed has begun a lease. */
  lapses = 0
  /** The active configuration: a table and an engine of its own. */
  #table = 0
  /** The hash of the tables of the store. */
  #hash: string | null = null
  #engine: DecisionEngine

  /** @param config null: the tables are in files */
  constructor(world: World, process: Process, coherence: Coherence, config: SimulatedConfig | null = null) {
    const { parts, schedule } = world
    this.process = process
    this.#world = world
    this.#coherence = coherence
    this.#store = new StoreClient(world.database, process)
    const { clock } = process
    const history = parts.history()
    const shared = {
      connection: new RedisClient(world.redis, process).asConnection,
      keys: new Keys(''),
      seal: SEAL,
    }
    const source = schedule.hasRedis ? new SeatCache(this.#store, shared, history, clock.now) : this.#store
    const { model } = world.context
    const reads = <S extends object>(of: S) => model?.source(process, of) ?? of
    const received = parts.received((seq) => this.lease.readUpTo(seq))
    const { now, wall } = clock
    this.#memory = parts.memory(reads(source), reads(this.#store), schedule.memory, { now, wall, received })
    const changes = parts.changes()
    const listeners: ChangeListener[] = [this.#memory, history, changes]
    const lease = parts.lease(coherence, listeners, clock)
    this.lease = model?.lease(process, lease) ?? lease
    this.tables = config && this.#currentTables(config, changes)
    if (this.tables !== null) listeners.push(this.tables)
    this.#take(config)
    this.#engine = this.#newEngine()
    this.streams = new Streams(world, this, changes)
    coherence.join({
      applyReading: (reading) => {
        if (!this.lease.live()) this.lapses++
        return this.lease.applyReading(reading)
      },
      applyAnnouncement: (announced) => this.lease.applyAnnouncement(announced),
      cutBy: (mark) => parts.cutBy(changes, mark),
    })
  }

  /** That requests need now. */
  get permission(): string {
    return PERMISSIONS[this.#table] ?? ''
  }

  /** A request reads the floor as it begins. */
  request(question: Question): void {
    if (this.isOpen) this.streams.begin(question)
  }

  /** Decides by the active configuration, and checks the decision. @param isNew whether it comes from a client */
  evaluate(question: Question, isNew: boolean): Evaluation | Promise<Evaluation> {
    const { floor } = this.#world.checker
    const begun = this.#world.context.timeline.now
    const evaluation = this.#evaluate(question, isNew)
    if (evaluation instanceof Promise)
      return evaluation.then((found) => this.#checked(floor, begun, question, found))
    return this.#checked(floor, begun, question, evaluation)
  }

  /** As the pipeline. */
  #evaluate({ request }: Question, isNew: boolean): Evaluation | Promise<Evaluation> {
    const { tables } = this
    if (tables === null) return this.#engine.evaluate(request)
    const evaluate = () => this.#world.parts.evaluateCurrent(() => this.#engine, tables, request)
    return isNew && !tables.areCurrent() ? tables.check().then(evaluate) : evaluate()
  }

  #currentTables({ tableSet }: SimulatedConfig, changes: Changes): CurrentTables {
    const start = { tenant: TENANT, ...tableSet }
    const activated = (mark: number) => changes.addTables(mark)
    return this.#world.parts.currentTables(start, this.lease, this.#coherence, activated, this.process.clock)
  }

  /** A configuration with tables of the store is activated. */
  activate(config: SimulatedConfig): void {
    this.#take(config)
    this.#engine = this.#newEngine()
    this.#world.context.trace?.(`${this.process.name} has activated ${config.hash}`)
    this.tables?.activate(config.tableSet)
    this.streams.reloaded()
  }

  #take(config: SimulatedConfig | null): void {
    if (config === null) return
    this.#table = PERMISSIONS.findIndex((each) => each === permissionIn(config.files))
    this.#hash = config.hash
  }

  /** Another table is activated; decisions in flight end by the one before. */
  reload(): void {
    if (!this.isOpen) return
    this.#table = (this.#table + 1) % TABLES.length
    this.#engine = this.#newEngine()
    this.streams.reloaded()
    this.#world.figures.reloads++
  }

  /** A write of this process. A write without a response of the store is not announced, as its client gets no 2xx. */
  write(write: Write): void {
    if (!this.isOpen) return
    this.#store.write(write).then(
      (committed) => this.#announce(committed, () => this.#coherence.announce(committed)),
      () => {},
    )
  }

  /** As {@link write}. */
  revoke(revocation: Revocation): void {
    if (!this.isOpen) return
    this.#store.revoke(revocation).then(
      (committed) => void this.#revoke(committed),
      () => {},
    )
  }

  /** A session is created, which the client then has. */
  signIn(): void {
    if (!this.isOpen) return
    this.#store.signIn().then(
      (created) => {
        if (created !== null) this.#world.signedIn(created)
      },
      () => {},
    )
  }

  async #revoke(committed: Committed): Promise<void> {
    let reached: readonly ReachedInstance[] = []
    const revoke = async () => {
      reached = await this.#coherence.revoke(committed)
    }
    await this.#announce(committed, revoke, REVOKED_WITHIN)
    this.#world.revoked(this.process.name, committed, reached)
  }

  #newEngine(): DecisionEngine {
    const { parts, context } = this.#world
    const [table] = [TABLES[this.#table] ?? TABLES[0]]
    if (table === undefined) throw new Error('no table')
    const announceRenewal = parts.announceRenewal(this.#coherence)
    const authenticator = new Authentication({
      process: this.process,
      parts,
      memory: this.#memory,
      store: this.#store,
      nextTag: () => this.#world.nextTag(),
      announce: async (committed) => {
        await this.#announce(committed, () => announceRenewal(committed))
        this.#world.figures.renewals++
        context.trace?.(`${this.process.name} has mapped the Seats of the session again`)
      },
    })
    const [seats, restrictions] = [this.#memory, this.#memory]
    const config = this.#hash === null ? {} : { config: this.#hash }
    const limits = { fewSeats: 0, targetBytes: 8192, exceptions: () => NO_EXCEPTIONS, ...config }
    return parts.engine({ table, authenticator, seats, restrictions, lease: this.lease, ...limits })
  }

  /** What has been since then, by the clocks of this process. @param begun true time */
  momentSince(begun: number): Moment {
    const { database, context } = this.#world
    const isStoreRight = database.clockStep === 0
    const isWallRight = this.process.machine.wallStep === 0
    const { slowestGrants } = this.#store
    return new Moment([begun, context.timeline.now], isStoreRight, isWallRight, slowestGrants)
  }

  #checked(floor: Floor, begun: number, question: Question, evaluation: Evaluation): Evaluation {
    const { decision, refusal } = evaluation
    // A 5xx is no decision.
    if ((refusal?.status ?? 0) >= 500) return evaluation
    this.#world.figures[decision.source ?? 'memory']++
    this.#world.context.model?.decide(this.process, question, seenBy(question, decision))
    this.#world.checker.check(this.process.name, floor, question, decision, this.momentSince(begun))
    return evaluation
  }

  async #announce(
    committed: Committed,
    announce: () => Promise<void>,
    within = ANSWERED_WITHIN,
  ): Promise<void> {
    const answered = this.#expectAnswer(`${committed.seq}`, within)
    this.#world.context.model?.announce(this.process, committed.seq)
    await announce()
    answered()
    this.#world.context.model?.answer(this.process, committed.seq)
    this.#world.answered(this.process.name, committed.seq)
  }

  #expectAnswer(what: string, within: number): () => void {
    const { process } = this
    const { freezes } = process
    let isAnswered = false
    this.#world.context.timeline.after(within, null, () => {
      if (isAnswered || process.state !== 'running' || process.freezes !== freezes) return
      this.#world.checker.report('late', `${process.name} has not answered ${what}`)
    })
    return () => {
      isAnswered = true
    }
  }
}
