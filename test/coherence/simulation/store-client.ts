/**
 * A process's client of the store. A statement has three events, with a delay before each: it starts and takes its
 * snapshot; it takes effect; its response arrives. Any of them may be late or missing, and a statement may take effect
 * after its client timed out. `seats-admin/store/store.ts` documents what each statement does under READ COMMITTED.
 */

import type { AsOf, GrantReading, Named } from '../../../seats-admin/model/readings.ts'
import type { Committed, Position } from '../../../seats-admin/model/change.ts'
import type { ListedInstance } from '../../../src/coherence/feeds.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { UserBlock, BlocksReading, UserBlockReading } from '../../../seats-admin/model/block.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import type { Database, FeedState, InstanceRow } from './database.ts'
import { delay, type Context } from './context.ts'
import type { Process } from './process.ts'
import { BLOCK, type StoredRecord, recordNamed, recordOf, type Version } from './records.ts'

/** Timeouts in milliseconds, as in the real store. */
const TIMEOUT = 2000
const FOLLOW_TIMEOUT = 500

interface Statement<V> {
  /** Takes the snapshot. */
  start(): V
  /** Applies the effect, and gives the response. */
  readonly effect?: (seen: V) => V
}

export class StoreClient {
  readonly #context: Context
  readonly #database: Database
  readonly #process: Process

  constructor(context: Context, database: Database, process: Process) {
    this.#context = context
    this.#database = database
    this.#process = process
  }

  grantByName(_tenant: string, name: string): Promise<AsOf<Named<GrantReading>>> {
    return this.#read(recordNamed(name), ({ seat }) => ({ seat, givenUpAt: null }))
  }

  grantById(_tenant: string, id: string): Promise<AsOf<GrantReading | null>> {
    return this.#read(recordOf(id), ({ seat }) => seat)
  }

  spacesByName(_tenant: string, name: string): Promise<AsOf<GrantReading | null>> {
    return this.#read(recordNamed(name), ({ seat }) => seat)
  }

  seatById(tenant: string, id: string): Promise<AsOf<GrantReading | null>> {
    return this.grantById(tenant, id)
  }

  apiKeyById(_tenant: string, id: string): Promise<AsOf<StoredApiKey | null>> {
    return this.#read(recordOf(id), ({ key }) => key)
  }

  readSession(_tenant: string, id: string): Promise<AsOf<SessionRecord | null>> {
    return this.#read(recordOf(id), ({ session }) => session)
  }

  blocks(_tenant: string): Promise<AsOf<BlocksReading>> {
    const isMany = this.#database.hasManyBlocks
    return this.#read(BLOCK, (version) => ({ now: 0, blocks: isMany ? null : activeBlocks(version) }))
  }

  userBlock(_tenant: string, user: string): Promise<AsOf<UserBlockReading>> {
    return this.#read(recordOf(user), (version) => ({ now: 0, block: activeBlocks(version)[0] ?? null }))
  }

  changesSince(position: Position | null): Promise<FeedState> {
    return this.#ask({ start: () => this.#database.feedSince(position) }, FOLLOW_TIMEOUT)
  }

  /** Writers take turns by the lock on the counter row, so snapshot and effect are one event. */
  write(record: StoredRecord, deletes: boolean, further: number): Promise<Committed> {
    const commit = () => {
      const committed = this.#database.commit(record, deletes, further)
      this.#context.trace?.(`${this.#process.name} has committed ${record.id} as ${committed.seq}`)
      return committed
    }
    return this.#ask({ start: commit }, TIMEOUT)
  }

  async register(id: string, _name: string): Promise<void> {
    await this.#ask({ start: () => this.#database.register(id) }, TIMEOUT)
  }

  /** An UPDATE and a SELECT in one statement, with one snapshot; a row that was deleted meanwhile is not updated. */
  async follow(id: string, beat: number, position: Position | null, applied: number, _shown?: unknown) {
    const start = () => {
      const row = this.#rowOf(id, (found) => found.beat < beat)
      return { ...this.#database.feedSince(position), row, registered: row !== null }
    }
    const effect = (seen: ReturnType<typeof start>) => {
      const { row } = seen
      if (row === null || !row.onList || row.beat >= beat) return { ...seen, registered: false }
      row.beat = beat
      row.applied = applied
      return seen
    }
    const { head, changes, registered } = await this.#ask({ start, effect }, FOLLOW_TIMEOUT)
    return { head, changes, registered }
  }

  instances(): Promise<readonly ListedInstance[]> {
    return this.#ask({ start: () => this.#database.list() }, TIMEOUT)
  }

  /** @param beat null: any, which the real store doesn't offer */
  async forget(id: string, beat: number | null): Promise<void> {
    const holds = (row: InstanceRow) => beat === null || row.beat === beat
    const effect = (row: InstanceRow | null) => {
      if (row === null || !row.onList || !holds(row)) return null
      this.#database.remove(row)
      this.#context.trace?.(`${this.#process.name} has taken ${id} off the list`)
      return row
    }
    await this.#ask({ start: () => this.#rowOf(id, holds), effect }, TIMEOUT)
  }

  async leave(id: string): Promise<void> {
    await this.#ask({ start: () => this.#database.remove(this.#database.rows.get(id)) }, TIMEOUT)
  }

  #read<V>(record: StoredRecord, value: (version: Version) => V): Promise<AsOf<V>> {
    const start = () => ({ ...this.#database.head, value: value(this.#database.current(record)) })
    return this.#ask({ start }, TIMEOUT)
  }

  #rowOf(id: string, holds: (row: InstanceRow) => boolean): InstanceRow | null {
    const row = this.#database.rows.get(id)
    return row !== undefined && holds(row) ? row : null
  }

  #ask<V>(statement: Statement<V>, timeout: number): Promise<V> {
    const { promise, resolve, reject } = Promise.withResolvers<V>()
    const process = this.#process
    const fail = () => reject(new Error('the store did not respond'))
    const giveUp = process.clock.after(timeout, fail)
    this.#run(statement, (settle) => {
      process.machine.store.carry(delay(this.#context), process, () => {
        giveUp()
        settle(resolve, reject)
      })
    })
    return promise
  }

  /** @param answer sends the response, which settles the promise */
  #run<V>(statement: Statement<V>, answer: (settle: Settle<V>) => void): void {
    const { timeline, random, conditions } = this.#context
    this.#process.machine.store.carry(delay(this.#context), null, () => {
      if (random.chance(conditions.refused)) return answer(refuse)
      const seen = statement.start()
      const end = (said: V) => {
        if (!random.chance(conditions.unanswered)) answer((resolve) => resolve(said))
      }
      const { effect } = statement
      if (effect === undefined) return end(seen)
      timeline.after(delay(this.#context), null, () => end(effect(seen)))
    })
  }
}

function activeBlocks({ blocked }: Version): UserBlock[] {
  return blocked ? [{ user: BLOCK.id, until: null }] : []
}

type Settle<V> = (resolve: (value: V) => void, reject: (cause: Error) => void) => void

function refuse(_resolve: unknown, reject: (cause: Error) => void): void {
  reject(new Error('the store refuses'))
}
