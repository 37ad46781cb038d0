/** Point reads of the data plane, and readings of the feed. Run in the reader's thread. */

import type { DatabaseSync } from 'node:sqlite'
import type { ChangeReader } from '../../model/change.ts'
import { auditHead, headQuery } from '../audit-queries.ts'
import type { AuditStore } from '../audit-store.ts'
import { blockReads, blocksReading, subDigest, userBlockReading } from '../blocks.ts'
import { feedParameters, feedQuery, feedReading } from '../feed.ts'
import {
  apiKeyOrNull,
  asOf,
  grantOrNull,
  namedGrant,
  namedSeat,
  narrowed,
  pointReads,
  recordOrNull,
  seatOrNull,
  spacesOrNull,
} from '../point-reads.ts'
import { logoutQueries, sinceValues } from '../session-logouts.ts'
import { sessionOrNull } from '../session-rows.ts'
import type { SessionStore } from '../session-store.ts'
import { sessionQueries } from '../session-writes.ts'
import type { SeatReader } from '../store.ts'
import type { Synchronous } from './calls.ts'
import { prepareAll } from './connection.ts'
import { sqlite } from './dialect.ts'
import { Superseded } from './ownership.ts'

export type ReaderOperations = Synchronous<
  SeatReader & ChangeReader & Pick<SessionStore, 'readSession' | 'sessionById' | 'loggedOutSince'>
> & { readonly auditHead: Synchronous<AuditStore>['head'] }

const QUERIES = {
  ...pointReads(sqlite),
  ...blockReads(sqlite),
  session: sessionQueries.find,
  loggedOut: logoutQueries.since,
  changes: feedQuery('c.owner,'),
  auditHead: headQuery,
}

/** @param owner the gateway that follows the feed; null for other programs */
export function readerOperations(database: DatabaseSync, owner: string | null): ReaderOperations {
  const statements = prepareAll(database, QUERIES)
  return {
    grantByName(tenant, name, question) {
      const row = statements.grantByName.get({ tenant, name: wanted(name) })
      return asOf(narrowed(row, question), namedGrant)
    },
    grantById: (tenant, id, question) =>
      asOf(narrowed(statements.grantById.get({ tenant, id }), question), grantOrNull),
    spacesByName: (tenant, name) =>
      asOf(statements.spacesByName.get({ tenant, name: wanted(name) }), spacesOrNull),
    seatByName: (tenant, name) => asOf(statements.seatByName.get({ tenant, name: wanted(name) }), namedSeat),
    seatById: (tenant, id) => asOf(statements.seatById.get({ tenant, id }), seatOrNull),
    apiKeyById: (tenant, id) => asOf(statements.apiKeyById.get({ tenant, id }), apiKeyOrNull),
    blocks: (tenant) => asOf(statements.blocks.get({ tenant }), blocksReading),
    userBlock: (tenant, user) =>
      asOf(statements.userBlock.get({ tenant, sub_digest: subDigest(user) }), userBlockReading),
    readSession: (tenant, id) => asOf(statements.sessionById.get({ tenant, id }), recordOrNull),
    sessionById: (tenant, id) => sessionOrNull(statements.session.get({ tenant, id })),
    loggedOutSince: (tenant, logout, or) =>
      statements.loggedOut.get(sinceValues(tenant, logout, or)) !== undefined,
    auditHead: (tenant) => auditHead(statements.auditHead.get({ tenant })),
    changesSince(position) {
      const rows = statements.changes.all({ ...feedParameters(position) })
      // Same snapshot: no snapshot that names this owner contains writes of another owner.
      if (owner !== null && rows[0]?.owner !== owner) throw new Superseded()
      return feedReading(rows, position)
    },
  }
}

/** SQLite replaces a lone surrogate by U+FFFD, which would find the Seat of another name. */
function wanted(name: string): string {
  return name.isWellFormed() ? name : ''
}
