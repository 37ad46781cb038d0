/** Point reads of the data plane, and readings of the change feed. */

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
  quoted,
  seatReading,
  sessionReading,
  spacesReading,
} from '../point-reads.ts'
import type { SessionReading } from '../session-store.ts'
import type {
  AsOf,
  FeedReading,
  GrantReading,
  NamedGrantReading,
  NameReading,
  SeatQuestion,
  SpacesReading,
} from '../store.ts'
import type { Connection } from './connection.ts'
import { postgres, storableOrEmpty } from './dialect.ts'
import { prepared } from './sql.ts'

const queries = pointReads(postgres)
const GRANT_BY_NAME = prepared(queries.grantByName)
const GRANT_BY_ID = prepared(queries.grantById)
const SPACES_BY_NAME = prepared(queries.spacesByName)
const SEAT_BY_NAME = prepared(queries.seatByName)
const SEAT_BY_ID = prepared(queries.seatById)
const API_KEY_BY_ID = prepared(queries.apiKeyById)
const SESSION_BY_ID = prepared(queries.sessionById)
const CHANGES = prepared(feedQuery())

export async function grantByName(
  connection: Connection,
  tenant: string,
  name: string,
  question: SeatQuestion,
): Promise<AsOf<NamedGrantReading>> {
  const rows = await connection.query(GRANT_BY_NAME, {
    tenant,
    name: storableOrEmpty(name),
    ...quoted(question),
  })
  return namedGrantReading(rows[0])
}

export async function grantById(
  connection: Connection,
  tenant: string,
  id: string,
  question: SeatQuestion,
): Promise<AsOf<GrantReading | null>> {
  const rows = await connection.query(GRANT_BY_ID, { tenant, id: storableOrEmpty(id), ...quoted(question) })
  return grantReading(rows[0])
}

export async function spacesByName(
  connection: Connection,
  tenant: string,
  name: string,
): Promise<AsOf<SpacesReading | null>> {
  return spacesReading((await connection.query(SPACES_BY_NAME, { tenant, name: storableOrEmpty(name) }))[0])
}

export async function seatByName(
  connection: Connection,
  tenant: string,
  name: string,
): Promise<AsOf<NameReading>> {
  return nameReading((await connection.query(SEAT_BY_NAME, { tenant, name: storableOrEmpty(name) }))[0])
}

export async function seatById(
  connection: Connection,
  tenant: string,
  id: string,
): Promise<AsOf<StoredSeat | null>> {
  return seatReading((await connection.query(SEAT_BY_ID, { tenant, id: storableOrEmpty(id) }))[0])
}

export async function apiKeyById(
  connection: Connection,
  tenant: string,
  id: string,
): Promise<AsOf<StoredApiKey | null>> {
  return apiKeyReading((await connection.query(API_KEY_BY_ID, { tenant, id: storableOrEmpty(id) }))[0])
}

export async function readSession(
  connection: Connection,
  tenant: string,
  id: string,
): Promise<SessionReading> {
  return sessionReading((await connection.query(SESSION_BY_ID, { tenant, id: storableOrEmpty(id) }))[0])
}

export async function changesSince(connection: Connection, position: Position | null): Promise<FeedReading> {
  return feedReading(await connection.query(CHANGES, { ...feedParameters(position) }), position)
}
