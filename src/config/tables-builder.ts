/** What an instance does with route tables that are to be pushed. */

import type { RefusedTables } from '../../seats-admin/model/pushed-tables.ts'
import type { TableFiles } from '../../seats-admin/model/tables-version.ts'
import type { Config } from './config.ts'

export interface TablesBuilder {
  /** The configuration of this instance with these files; it is not activated. */
  readonly build: (files: TableFiles) => Promise<Config | RefusedTables>
}
