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

/**
 * The tables of the store at one instance.
 *
 * @typeParam C the configuration of the gateway
 */
export interface TablesService<C> {
  readonly push: PushTables
  /** The configuration of this instance with these files; it is not activated. */
  readonly build: (files: TableFiles) => Promise<C | RefusedTables>
}
