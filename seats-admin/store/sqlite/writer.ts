/** The writes of the store. Each runs inside a transaction. */

import type { DatabaseSync } from 'node:sqlite'
import { apiKeyWrites } from './api-key-writer.ts'
import type { RunningCall } from './calls.ts'
import { ChangeLog } from './change-log.ts'
import { memberWrites } from './member-writer.ts'
import { seatWrites } from './seat-writer.ts'
import { sessionWrites } from './session-writer.ts'

export type WriterOperations = ReturnType<typeof writerOperations>

export function writerOperations(database: DatabaseSync, running: RunningCall) {
  const log = new ChangeLog(database)
  return {
    ...seatWrites(database, log, running),
    ...apiKeyWrites(database, log, running),
    ...memberWrites(database),
    ...sessionWrites(database, log),
  }
}
