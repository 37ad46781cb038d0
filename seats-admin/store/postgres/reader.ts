/** Point reads of the data plane, and readings of the change feed. */

import type { ChangeReader } from '../../model/change.ts'
import { blockReads, blocksReading, subDigest, userBlockReading } from '../blocks.ts'
import { feedParameters, feedQuery, feedReading } from '../feed.ts'
import {
  apiKeyOrNull,
  asOf,
  grantOrNull,
  namedGrant,
  namedSeat,
  pointReads,
  quoted,
  recordOrNull,
  seatOrNull,
  spacesOrNull,
} from '../point-reads.ts'
import type { Row } from '../rows.ts'
import type { SessionStore } from '../session-store.ts'
import { storableOrEmpty } from '../storable-text.ts'
import type { SeatReader } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { postgres } from './dialect.ts'
import { prepared, type Sql, type Values } from './sql.ts'

const queries = pointReads(postgres)
const GRANT_BY_NAME = prepared(queries.grantByName)
const GRANT_BY_ID = prepared(queries.grantById)
const SPACES_BY_NAME = prepared(queries.spacesByName)
const SEAT_BY_NAME = prepared(queries.seatByName)
const SEAT_BY_ID = prepared(queries.seatById)
const API_KEY_BY_ID = prepared(queries.apiKeyById)
const blockQueries = blockReads(postgres)
const BLOCKS = prepared(blockQueries.blocks)
const USER_BLOCK = prepared(blockQueries.userBlock)
const SESSION_BY_ID = prepared(queries.sessionById)
const CHANGES = prepared(feedQuery())

export function readerOf(
  pools: ConnectionPools,
): SeatReader & ChangeReader & Pick<SessionStore, 'readSession'> {
  const { reads } = pools
  const byName = (tenant: string, name: string) => ({ tenant, name: storableOrEmpty(name) })
  const byId = (tenant: string, id: string) => ({ tenant, id: storableOrEmpty(id) })
  const read = async <V>(question: Sql, values: Values, valueOf: (row: Row) => V) =>
    asOf((await pools.query(reads, question, values))[0], valueOf)
  return {
    grantByName: (tenant, name, question) =>
      read(GRANT_BY_NAME, { ...byName(tenant, name), ...quoted(question) }, namedGrant),
    grantById: (tenant, id, question) =>
      read(GRANT_BY_ID, { ...byId(tenant, id), ...quoted(question) }, grantOrNull),
    spacesByName: (tenant, name) => read(SPACES_BY_NAME, byName(tenant, name), spacesOrNull),
    seatByName: (tenant, name) => read(SEAT_BY_NAME, byName(tenant, name), namedSeat),
    seatById: (tenant, id) => read(SEAT_BY_ID, byId(tenant, id), seatOrNull),
    apiKeyById: (tenant, id) => read(API_KEY_BY_ID, byId(tenant, id), apiKeyOrNull),
    blocks: (tenant) => read(BLOCKS, { tenant }, blocksReading),
    userBlock: (tenant, user) => read(USER_BLOCK, { tenant, sub_digest: subDigest(user) }, userBlockReading),
    readSession: (tenant, id) => read(SESSION_BY_ID, byId(tenant, id), recordOrNull),
    changesSince: async (position) =>
      feedReading(await pools.query(reads, CHANGES, feedParameters(position)), position),
  }
}
