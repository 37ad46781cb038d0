/** The writes of the store. Each runs inside a transaction. */

import type { DatabaseSync } from 'node:sqlite'
import { apiKeyWrites } from './api-key-writer.ts'
import { auditRetention } from './audit-reader.ts'
import { blockWrites } from './block-writer.ts'
import { bootstrapWrites } from './bootstrap-writer.ts'
import type { RunningCall } from './calls.ts'
import { ChangeLog } from './change-log.ts'
import { seatWrites } from './seat-writer.ts'
import { seatsFileWrites } from './seats-file-writer.ts'
import { sessionWrites } from './session-writer.ts'
import { signInWrites } from './sign-in-writer.ts'

export type WriterOperations = ReturnType<typeof writerOperations>

export function writerOperations(database: DatabaseSync, running: RunningCall) {
  const log = new ChangeLog(database)
  return {
    ...seatWrites(database, log, running),
    ...seatsFileWrites(database, log, running),
    ...apiKeyWrites(database, log, running),
    ...blockWrites(database, log),
    ...signInWrites(database),
    ...bootstrapWrites(database, log),
    ...auditRetention(database),
    ...sessionWrites(database, log),
  }
}
