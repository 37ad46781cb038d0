/** Opens the configured store. */

import type { PostgresOptions } from './postgres/postgres-store.ts'
import { openSqliteStore, type SqliteOptions } from './sqlite/sqlite-store.ts'
import type { Store } from './store.ts'

export type StoreLocation =
  | ({ readonly kind: 'sqlite' } & SqliteOptions)
  | ({ readonly kind: 'postgres' } & PostgresOptions)

/** Rejects with a StoreUnavailable whose message states the cause. */
export async function openStore(options: StoreLocation): Promise<Store> {
  if (options.kind === 'sqlite') return openSqliteStore(options)
  // Loaded only when used: the client takes memory.
  const { openPostgresStore } = await import('./postgres/postgres-store.ts')
  return openPostgresStore(options)
}
