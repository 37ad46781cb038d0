/**
 * One process's way to the store. A statement has three moments, each some time after the one before: it starts, which
 * is when its snapshot is taken; it takes effect; its answer arrives. Any of them may come late or never, and what the
 * asker has given up may take effect all the same. What each statement does, under READ COMMITTED, is documented in
 * `seats-admin/store/store.ts`.
 */

import type { Committed, Position } from '../../../seats-admin/model/change.ts'
import type { ListedInstance } from '../../../src/coherence/feeds.ts'
import type { NamedRow, Read } from '../../../src/redis/seat-codec.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { SeatRow } from '../../../src/decision/seats/memory.ts'
import type { Database, FeedState, InstanceRow } from './database.ts'
import { delay, type Nature } from './nature.ts'
import type { Process } from './process.ts'
import { type Thing, thingNamed, thingOf, type Version } from './things.ts'

/** Milliseconds after which an asker gives up, as in the real store. */
const TIMEOUT = 2000
const FOLLOW_TIMEOUT = 500

interface Statement<V> {
  /** In the snapshot. */
  start(): V
  /** What it does, and what it says of it. */
  readonly effect?: (seen: V) => V
}

export class StoreClient {
  readonly #nature: Nature
  readonly #database: Database
  readonly #process: Process

  constructor(nature: Nature, database: Database, process: Process) {
    this.#nature = nature
    this.#database = database
    this.#process = process
  }

  grantByName(_tenant: string, name: string): Promise<Read<NamedRow>> {
    return this.#read(thingNamed(name), ({ seat }) => ({ seat, givenUpAt: null }))
  }

  grantById(_tenant: string, id: string): Promise<Read<SeatRow | null>> {
    return this.#read(thingOf(id), ({ seat }) => seat)
  }

  spacesByName(_tenant: string, name: string): Promise<Read<SeatRow | null>> {
    return this.#read(thingNamed(name), ({ seat }) => seat)
  }

  seatById(tenant: string, id: string): Promise<Read<SeatRow | null>> {
    return this.grantById(tenant, id)
  }

  apiKeyById(_tenant: string, id: string): Promise<Read<StoredApiKey | null>> {
    return this.#read(thingOf(id), ({ key }) => key)
  }

  changesSince(position: Position | null): Promise<FeedState> {
    return this.#ask({ start: () => this.#database.feedSince(position) }, FOLLOW_TIMEOUT)
  }

  /** The lock on the counter row makes them take turns: what it sees, it sees when it has its turn. */
  write(thing: Thing, deletes: boolean, further: number): Promise<Committed> {
    const commit = () => {
      const committed = this.#database.commit(thing, deletes, further)
      this.#nature.trace?.(`${this.#process.name} has committed ${thing.id} as ${committed.seq}`)
      return committed
    }
    return this.#ask({ start: commit }, TIMEOUT)
  }

  async register(id: string, _name: string): Promise<void> {
    await this.#ask({ start: () => this.#database.register(id) }, TIMEOUT)
  }

  /** An UPDATE and a SELECT in one statement, of one snapshot; a row that was deleted meanwhile is not updated. */
  async follow(id: string, beat: number, position: Position | null, applied: number) {
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

  /** @param beat null: whatever it is, which the real store doesn't offer */
  async forget(id: string, beat: number | null): Promise<void> {
    const holds = (row: InstanceRow) => beat === null || row.beat === beat
    const effect = (row: InstanceRow | null) => {
      if (row === null || !row.onList || !holds(row)) return null
      this.#database.remove(row)
      this.#nature.trace?.(`${this.#process.name} has taken ${id} off the list`)
      return row
    }
    await this.#ask({ start: () => this.#rowOf(id, holds), effect }, TIMEOUT)
  }

  async leave(id: string): Promise<void> {
    await this.#ask({ start: () => this.#database.remove(this.#database.rows.get(id)) }, TIMEOUT)
  }

  #read<V>(thing: Thing, value: (version: Version) => V): Promise<Read<V>> {
    const start = () => ({ ...this.#database.head, value: value(this.#database.current(thing)) })
    return this.#ask({ start }, TIMEOUT)
  }

  #rowOf(id: string, holds: (row: InstanceRow) => boolean): InstanceRow | null {
    const row = this.#database.rows.get(id)
    return row !== undefined && holds(row) ? row : null
  }

  #ask<V>(statement: Statement<V>, timeout: number): Promise<V> {
    const { promise, resolve, reject } = Promise.withResolvers<V>()
    const process = this.#process
    const fail = () => reject(new Error('the store did not answer'))
    const giveUp = process.clock.after(timeout, fail)
    this.#run(statement, (settle) => {
      process.machine.store.carry(delay(this.#nature), process, () => {
        giveUp()
        settle(resolve, reject)
      })
    })
    return promise
  }

  /** @param answer sends back what settles the question */
  #run<V>(statement: Statement<V>, answer: (settle: Settle<V>) => void): void {
    const { timeline, random, weather } = this.#nature
    this.#process.machine.store.carry(delay(this.#nature), null, () => {
      if (random.chance(weather.refused)) return answer(refuse)
      const seen = statement.start()
      const end = (said: V) => {
        if (!random.chance(weather.unanswered)) answer((resolve) => resolve(said))
      }
      const { effect } = statement
      if (effect === undefined) return end(seen)
      timeline.after(delay(this.#nature), null, () => end(effect(seen)))
    })
  }
}

type Settle<V> = (resolve: (value: V) => void, reject: (cause: Error) => void) => void

function refuse(_resolve: unknown, reject: (cause: Error) => void): void {
  reject(new Error('the store refuses'))
}
