/** What a push of route tables needs of the gateway. */

import type { PushedTables, RefusedTables } from '../model/pushed-tables.ts'
import type { AdminRefusal } from '../model/refusal.ts'
import type { TableFiles } from '../model/tables-version.ts'
import type { Writer } from '../store/store.ts'

/**
 * Makes files the active version, once each live instance is ready for it. Rejects when the store is
 * unavailable: the files may be active then.
 */
export type PushTables = (
  writer: Writer,
  files: TableFiles,
) => Promise<PushedTables | RefusedTables | AdminRefusal>
