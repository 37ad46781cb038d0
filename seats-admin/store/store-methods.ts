/** The store's methods on a database. */

import type { ChangeReader } from '../model/change.ts'
import { adminReader } from './admin-reader.ts'
import { apiKeyWriter } from './api-key-writer.ts'
import { auditReader } from './audit-reader.ts'
import type { AuditStore } from './audit-store.ts'
import { blockWriter } from './block-writer.ts'
import { bootstrapWriter } from './bootstrap-writer.ts'
import type { Database } from './database.ts'
import { decisionReader } from './decision-reader.ts'
import { integer } from './rows.ts'
import { seatWriter } from './seat-writer.ts'
import { seatsFileWriter } from './seats-file-writer.ts'
import type { SessionStore } from './session-store.ts'
import { sessionWriter } from './session-writer.ts'
import { signInWriter } from './sign-in-writer.ts'
import type { AdminStore, SeatReader } from './store.ts'

export interface StoreMethods extends SeatReader, ChangeReader, AdminStore {
  readonly sessions: SessionStore
  readonly audit: AuditStore
  /** The time of the store in ms since the epoch. */
  clock(): Promise<number>
}

export function methodsOf(database: Database): StoreMethods {
  const { readSession, ...decisions } = decisionReader(database)
  const { endSession, ...sessions } = sessionWriter(database)
  const { dialect, reads } = database
  return {
    ...decisions,
    ...adminReader(database),
    ...seatWriter(database),
    ...seatsFileWriter(database),
    ...apiKeyWriter(database),
    ...blockWriter(database),
    ...signInWriter(database),
    ...bootstrapWriter(database),
    endSession,
    sessions: { readSession, ...sessions },
    audit: auditReader(database),
    clock: async () => integer((await reads.get(`SELECT ${dialect.clock} AS now`, {})) ?? {}, 'now'),
  }
}
