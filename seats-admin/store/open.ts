/** Opens a store by what the configuration says. Called through `seats-admin/index.ts`. */

import type { PostgresOptions } from './postgres/store.ts'
import { openSqliteStore, type SqliteOptions } from './sqlite/store.ts'
import type { Store } from './store.ts'

export type StoreLocation =
  ({ readonly kind: 'sqlite' } & SqliteOptions) | ({ readonly kind: 'postgres' } & PostgresOptions)

/** Rejects with a StoreUnavailable whose message says what is wrong. */
export async function openStore(options: StoreLocation): Promise<Store> {
  if (options.kind === 'sqlite') return openSqliteStore(options)
  // A gateway on a file pays nothing for a client it doesn't use.
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore(options)
}
