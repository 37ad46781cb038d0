/** The list of the gateways that decide from memory, and the feed that each of them follows. */

import type { Position } from '../../model/change.ts'
import { monotonic } from '../clock.ts'
import { feedParameters, feedQuestion, feedReading } from '../feed.ts'
import { integer, type Row, text } from '../rows.ts'
import type { Instance } from '../../model/instance.ts'
import { type Registry, StoreUnavailable } from '../store.ts'
import type { Connection } from './connection.ts'
import { legible } from './dialect.ts'
import type { Lanes } from './lanes.ts'
import { prepared, sql } from './sql.ts'

/** Milliseconds after the loss of a connection for which nobody is taken off the list. Longer than any beat is watched. */
const SETTLING = 10_000

/** It may come again, after a first one whose answer was lost; then the beat goes on. */
const REGISTER = sql(
  `INSERT INTO instances (id, name, beat, applied, seen_at) VALUES (:id, :name, 0, 0, clock_timestamp())
   ON CONFLICT (id) DO UPDATE SET name = excluded.name, seen_at = excluded.seen_at`,
)

/**
 * What was applied counts only in the history that it was read in: after a failover that lost commits, or a restored
 * backup, the same numbers are other changes. A beat that was given up by its sender and comes after a later one says
 * nothing new.
 */
const FOLLOW = prepared(
  `WITH beat AS (UPDATE instances SET beat = :beat,
     applied = CASE WHEN :seq = 0 OR (SELECT p.mark FROM changes p WHERE p.seq = :seq) = :mark THEN :applied ELSE 0 END,
     seen_at = clock_timestamp()
     WHERE id = :id AND beat < :beat RETURNING 1)
   ${feedQuestion('(SELECT count(*) FROM beat) AS registered,')}`,
)

const INSTANCES = sql(
  `SELECT id, name, beat, applied, round(extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint AS age
   FROM instances ORDER BY id`,
)

const FORGET = sql('DELETE FROM instances WHERE id = :id AND beat = :beat')
const LEAVE = sql('DELETE FROM instances WHERE id = :id')

export class PostgresRegistry implements Registry {
  readonly #lanes: Lanes
  /** The feed's connection that was there before anybody watched a beat. */
  #first: Connection | null = null
  #watched = false

  constructor(lanes: Lanes) {
    this.#lanes = lanes
  }

  async register(id: string, name: string): Promise<void> {
    const values = { id, name: legible(name) }
    this.#lanes.prepareToFollow()
    await this.#lanes.askUnwatched(this.#lanes.administration, (connection) =>
      connection.ask(REGISTER, values),
    )
  }

  /**
   * Its commit is not waited for on the disk: a crash of the server may undo the newest beats. As the instance counts
   * them up itself and repeats none, the next one is another all the same; and {@link forget} knows of the crash.
   */
  async follow(id: string, beat: number, position: Position | null, applied: number) {
    const values = { id, beat, applied, mark: position?.mark ?? 0, ...feedParameters(position) }
    const rows = await this.#lanes.follow((connection) => {
      if (!this.#watched) this.#first = connection
      return connection.ask(FOLLOW, values)
    })
    return { ...feedReading(rows, position), registered: rows[0]?.registered === 1 }
  }

  async instances(): Promise<readonly Instance[]> {
    this.#watched = true
    const rows = await this.#ask((connection) => connection.ask(INSTANCES, {}))
    return rows.map(instance)
  }

  /**
   * By the feed's connection: if that has been open for as long as the beat was watched, the server has not crashed in
   * between, and no beat was undone.
   */
  async forget(id: string, beat: number): Promise<void> {
    await this.#lanes.follow(async (connection) => {
      if (connection !== this.#first && monotonic() - connection.opened < SETTLING) {
        throw new StoreUnavailable('the connection was lost a short while ago: beats may have been missed')
      }
      await connection.ask(FORGET, { id, beat })
    })
  }

  async leave(id: string): Promise<void> {
    await this.#ask((connection) => connection.ask(LEAVE, { id }))
  }

  #ask(work: (connection: Connection) => Promise<Row[]>): Promise<Row[]> {
    return this.#lanes.askUnwatched(this.#lanes.administration, work)
  }
}

function instance(row: Row): Instance {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    beat: integer(row, 'beat'),
    applied: integer(row, 'applied'),
    age: integer(row, 'age'),
  }
}
