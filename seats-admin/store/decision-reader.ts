/** Point reads of the data plane, and readings of the change feed. */

import type { ChangeReader } from '../model/change.ts'
import type { SeatQuestion } from '../model/readings.ts'
import { blockReads, blocksReading, subDigest, userBlockReading } from './block-queries.ts'
import type { Database } from './database.ts'
import type { Values } from './statements.ts'
import { feedParameters, feedQuery, feedReading } from './feed.ts'
import {
  apiKeyOrNull,
  asOf,
  grantOrNull,
  namedGrant,
  namedSeat,
  narrowed,
  pointReads,
  quoted,
  recordOrNull,
  seatOrNull,
  spacesOrNull,
} from './point-reads.ts'
import type { Row } from './rows.ts'
import type { SessionStore } from './session-store.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { SeatReader } from './store.ts'

export function decisionReader({
  reads,
  dialect,
}: Database): SeatReader & ChangeReader & Pick<SessionStore, 'readSession'> {
  const queries = { ...pointReads(dialect), ...blockReads(dialect), changes: feedQuery() }
  return {
    grantByName: (tenant, name, question) =>
      grant(queries.grantByName, byName(tenant, name), question, namedGrant),
    grantById: (tenant, id, question) => grant(queries.grantById, byId(tenant, id), question, grantOrNull),
    spacesByName: (tenant, name) => read(queries.spacesByName, byName(tenant, name), spacesOrNull),
    seatByName: (tenant, name) => read(queries.seatByName, byName(tenant, name), namedSeat),
    seatById: (tenant, id) => read(queries.seatById, byId(tenant, id), seatOrNull),
    apiKeyById: (tenant, id) => read(queries.apiKeyById, byId(tenant, id), apiKeyOrNull),
    blocks: (tenant) => read(queries.blocks, { tenant }, blocksReading),
    userBlock: (tenant, user) =>
      read(queries.userBlock, { tenant, sub_digest: subDigest(user) }, userBlockReading),
    readSession: (tenant, id) => read(queries.sessionById, byId(tenant, id), recordOrNull),
    changesSince: async (position) =>
      feedReading(await reads.all(queries.changes, feedParameters(position)), position),
  }

  async function read<V>(statement: string, values: Values, toValue: (row: Row) => V) {
    return asOf(await reads.get(statement, values), toValue)
  }

  /** Of a large Seat only what the question asks: the database restricts it, or the row is restricted here. */
  async function grant<V>(
    statement: string,
    values: Values,
    question: SeatQuestion,
    toValue: (row: Row) => V,
  ) {
    if (dialect.narrowsInSql) return read(statement, { ...values, ...quoted(question) }, toValue)
    return asOf(narrowed(await reads.get(statement, values), question), toValue)
  }
}

function byName(tenant: string, name: string) {
  return { tenant, name: storableOrEmpty(name) }
}

function byId(tenant: string, id: string) {
  return { tenant, id: storableOrEmpty(id) }
}
