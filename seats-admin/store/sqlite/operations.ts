/** The operations of each thread, by the names of the store's methods. */

import type { DatabaseSync } from 'node:sqlite'
import type { Position } from '../../model/change.ts'
import type { Scope } from '../../model/scope.ts'
import type { HandleProof, Renewal, StoredSession } from '../session-store.ts'
import type { ApiKeyInput, Page, SeatInput, SeatQuestion, Writer } from '../store.ts'
import { AdminReader } from './admin-reader.ts'
import { ApiKeyWriter } from './api-key-writer.ts'
import type { RunningCall } from './calls.ts'
import { ChangeLog } from './change-log.ts'
import { MemberWriter } from './member-writer.ts'
import { Reader } from './reader.ts'
import { SeatWriter } from './seat-writer.ts'
import { SessionWriter } from './session-writer.ts'

export type ReaderOperations = ReturnType<typeof readerOperations>
export type ListerOperations = ReturnType<typeof listerOperations>
export type WriterOperations = ReturnType<typeof writerOperations>

/** @param owner the gateway that follows the feed; null for other programs */
export function readerOperations(database: DatabaseSync, owner: string | null) {
  const reader = new Reader(database, owner)
  return {
    grantByName: (tenant: string, name: string, question: SeatQuestion) =>
      reader.grantByName(tenant, name, question),
    grantById: (tenant: string, id: string, question: SeatQuestion) => reader.grantById(tenant, id, question),
    spacesByName: (tenant: string, name: string) => reader.spacesByName(tenant, name),
    seatByName: (tenant: string, name: string) => reader.seatByName(tenant, name),
    seatById: (tenant: string, id: string) => reader.seatById(tenant, id),
    apiKeyById: (tenant: string, id: string) => reader.apiKeyById(tenant, id),
    changesSince: (position: Position | null) => reader.changesSince(position),
    readSession: (tenant: string, id: string) => reader.readSession(tenant, id),
    sessionById: (tenant: string, id: string) => reader.sessionById(tenant, id),
  }
}

export function listerOperations(database: DatabaseSync, running: RunningCall) {
  const admin = new AdminReader(database, running)
  return {
    readSeat: (tenant: string, id: string, scope: Scope) => admin.readSeat(tenant, id, scope),
    listSeats: (tenant: string, page: Page) => admin.listSeats(tenant, page),
    readApiKey: (tenant: string, id: string, scope: Scope) => admin.readApiKey(tenant, id, scope),
    listApiKeys: (tenant: string, page: Page) => admin.listApiKeys(tenant, page),
  }
}

/** Each operation runs inside a transaction. */
export function writerOperations(database: DatabaseSync, running: RunningCall) {
  const log = new ChangeLog(database)
  const seats = new SeatWriter(database, log, running)
  const keys = new ApiKeyWriter(database, log, running)
  const members = new MemberWriter(database)
  const sessions = new SessionWriter(database, log)
  return {
    createSeat: (writer: Writer, seat: SeatInput) => seats.create(writer, seat),
    updateSeat: (writer: Writer, id: string, patch: Partial<SeatInput>) => seats.update(writer, id, patch),
    deleteSeat: (writer: Writer, id: string) => seats.delete(writer, id),
    createApiKey: (writer: Writer, key: ApiKeyInput) => keys.create(writer, key),
    revokeApiKey: (writer: Writer, id: string) => keys.revoke(writer, id),
    recordMember: (tenant: string, user: string, seatIds: readonly string[]) =>
      members.record(tenant, user, seatIds),
    createSession: (session: StoredSession) => sessions.create(session),
    rotateSession: (tenant: string, id: string, proof: HandleProof, next: Uint8Array, now: number) =>
      sessions.rotate(tenant, id, proof, next, now),
    giveBackSession: (...args: Parameters<SessionWriter['giveBack']>) => sessions.giveBack(...args),
    claimRenewal: (tenant: string, id: string, now: number, until: number) =>
      sessions.claimRenewal(tenant, id, now, until),
    renewSession: (tenant: string, id: string, handle: Uint8Array | null, renewal: Renewal) =>
      sessions.renew(tenant, id, handle, renewal),
    endSession: (tenant: string, id: string, now: number) => sessions.end(tenant, id, now),
    pruneSessions: (before: number, limit: number) => sessions.prune(before, limit),
  }
}
