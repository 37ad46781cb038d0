/** Point reads of the data plane, and readings of the feed. Runs in the reader's thread. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { StoredApiKey } from '../../model/api-key.ts'
import type { Position } from '../../model/change.ts'
import type { StoredSeat } from '../../model/seat.ts'
import { feedParameters, feedQuery, feedReading } from '../feed.ts'
import {
  apiKeyReading,
  grantReading,
  namedGrantReading,
  nameReading,
  pointReads,
  narrowed,
  seatReading,
  sessionReading,
  spacesReading,
} from '../point-reads.ts'
import { sessionOrNull } from '../session-rows.ts'
import type { SessionReading, StoredSession } from '../session-store.ts'
import { FIND } from '../session-writes.ts'
import type {
  AsOf,
  FeedReading,
  GrantReading,
  NamedGrantReading,
  NameReading,
  SeatQuestion,
  SpacesReading,
} from '../store.ts'
import { sqlite } from './dialect.ts'
import { Superseded } from './ownership.ts'

const queries = pointReads(sqlite)

export class Reader {
  readonly #grantByName: StatementSync
  readonly #grantById: StatementSync
  readonly #spacesByName: StatementSync
  readonly #byName: StatementSync
  readonly #byId: StatementSync
  readonly #keyById: StatementSync
  readonly #session: StatementSync
  readonly #wholeSession: StatementSync
  readonly #changes: StatementSync
  readonly #owner: string | null

  constructor(database: DatabaseSync, owner: string | null) {
    this.#owner = owner
    this.#grantByName = database.prepare(queries.grantByName)
    this.#grantById = database.prepare(queries.grantById)
    this.#spacesByName = database.prepare(queries.spacesByName)
    this.#byName = database.prepare(queries.seatByName)
    this.#byId = database.prepare(queries.seatById)
    this.#keyById = database.prepare(queries.apiKeyById)
    this.#session = database.prepare(queries.sessionById)
    this.#wholeSession = database.prepare(FIND)
    this.#changes = database.prepare(feedQuery('c.owner,'))
  }

  grantByName(tenant: string, name: string, question: SeatQuestion): AsOf<NamedGrantReading> {
    return namedGrantReading(narrowed(this.#grantByName.get({ tenant, name: wanted(name) }), question))
  }

  grantById(tenant: string, id: string, question: SeatQuestion): AsOf<GrantReading | null> {
    return grantReading(narrowed(this.#grantById.get({ tenant, id }), question))
  }

  spacesByName(tenant: string, name: string): AsOf<SpacesReading | null> {
    return spacesReading(this.#spacesByName.get({ tenant, name: wanted(name) }))
  }

  seatByName(tenant: string, name: string): AsOf<NameReading> {
    return nameReading(this.#byName.get({ tenant, name: wanted(name) }))
  }

  seatById(tenant: string, id: string): AsOf<StoredSeat | null> {
    return seatReading(this.#byId.get({ tenant, id }))
  }

  apiKeyById(tenant: string, id: string): AsOf<StoredApiKey | null> {
    return apiKeyReading(this.#keyById.get({ tenant, id }))
  }

  readSession(tenant: string, id: string): SessionReading {
    return sessionReading(this.#session.get({ tenant, id }))
  }

  sessionById(tenant: string, id: string): StoredSession | null {
    return sessionOrNull(this.#wholeSession.get({ tenant, id }))
  }

  changesSince(position: Position | null): FeedReading {
    const rows = this.#changes.all({ ...feedParameters(position) })
    // Same snapshot: no snapshot that names this owner contains writes of another owner.
    if (this.#owner !== null && rows[0]?.owner !== this.#owner) throw new Superseded()
    return feedReading(rows, position)
  }
}

/** SQLite replaces a lone surrogate by U+FFFD, which would find the Seat of another name. */
function wanted(name: string): string {
  return name.isWellFormed() ? name : ''
}
