/** Point reads for the data plane, and the feed. */

import type { StoredApiKey } from '../../model/api-key.ts'
import type { Position } from '../../model/change.ts'
import type { StoredSeat } from '../../model/seat.ts'
import { feedParameters, feedQuestion, feedReading } from '../feed.ts'
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
import { postgres, wanted } from './dialect.ts'
import { prepared } from './sql.ts'

const questions = pointReads(postgres)
const GRANT_BY_NAME = prepared(questions.grantByName)
const GRANT_BY_ID = prepared(questions.grantById)
const SPACES_BY_NAME = prepared(questions.spacesByName)
const SEAT_BY_NAME = prepared(questions.seatByName)
const SEAT_BY_ID = prepared(questions.seatById)
const API_KEY_BY_ID = prepared(questions.apiKeyById)
const SESSION_BY_ID = prepared(questions.sessionById)
const CHANGES = prepared(feedQuestion())

export async function grantByName(
  connection: Connection,
  tenant: string,
  name: string,
  question: SeatQuestion,
): Promise<AsOf<NamedGrantReading>> {
  const rows = await connection.ask(GRANT_BY_NAME, { tenant, name: wanted(name), ...quoted(question) })
  return namedGrantReading(rows[0])
}

export async function grantById(
  connection: Connection,
  tenant: string,
  id: string,
  question: SeatQuestion,
): Promise<AsOf<GrantReading | null>> {
  const rows = await connection.ask(GRANT_BY_ID, { tenant, id: wanted(id), ...quoted(question) })
  return grantReading(rows[0])
}

export async function spacesByName(
  connection: Connection,
  tenant: string,
  name: string,
): Promise<AsOf<SpacesReading | null>> {
  return spacesReading((await connection.ask(SPACES_BY_NAME, { tenant, name: wanted(name) }))[0])
}

export async function seatByName(
  connection: Connection,
  tenant: string,
  name: string,
): Promise<AsOf<NameReading>> {
  return nameReading((await connection.ask(SEAT_BY_NAME, { tenant, name: wanted(name) }))[0])
}

export async function seatById(
  connection: Connection,
  tenant: string,
  id: string,
): Promise<AsOf<StoredSeat | null>> {
  return seatReading((await connection.ask(SEAT_BY_ID, { tenant, id: wanted(id) }))[0])
}

export async function apiKeyById(
  connection: Connection,
  tenant: string,
  id: string,
): Promise<AsOf<StoredApiKey | null>> {
  return apiKeyReading((await connection.ask(API_KEY_BY_ID, { tenant, id: wanted(id) }))[0])
}

export async function readSession(
  connection: Connection,
  tenant: string,
  id: string,
): Promise<SessionReading> {
  return sessionReading((await connection.ask(SESSION_BY_ID, { tenant, id: wanted(id) }))[0])
}

export async function changesSince(connection: Connection, position: Position | null): Promise<FeedReading> {
  return feedReading(await connection.ask(CHANGES, { ...feedParameters(position) }), position)
}
