/** Opens a store by what the configuration says. Called through `seats-admin/index.ts`. */

import { openPostgresStore, type PostgresOptions } from './postgres/store.ts'
import { openSqliteStore, type SqliteOptions } from './sqlite/store.ts'
import type { Store } from './store.ts'

export type StoreLocation =
  ({ readonly kind: 'sqlite' } & SqliteOptions) | ({ readonly kind: 'postgres' } & PostgresOptions)

/** Rejects with a StoreUnavailable whose message says what is wrong. */
export function openStore(options: StoreLocation): Promise<Store> {
  return options.kind === 'sqlite' ? openSqliteStore(options) : openPostgresStore(options)
}
