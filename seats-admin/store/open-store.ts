/** Opens the configured store. */

import type { LateStore, PostgresOptions } from './postgres/postgres-store.ts'
import { inspectSqliteStore } from './sqlite/sqlite-file-check.ts'
import { openSqliteStore, type SqliteOptions } from './sqlite/sqlite-store.ts'
import type { Store, StoreInspection } from './store.ts'

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

/** The store of a gateway that starts while the store is away; null: a file is never away. */
export async function lateStore(options: StoreLocation): Promise<LateStore | null> {
  if (options.kind === 'sqlite') return null
  const { latePostgresStore } = await import('./postgres/postgres-store.ts')
  return latePostgresStore(options)
}

/**
 * Rejects with a StoreUnavailable where a start would.
 *
 * @param timeout ms for each answer of a server, or for the lock of another program
 */
export async function inspectStore(location: StoreLocation, timeout: number): Promise<StoreInspection> {
  if (location.kind === 'sqlite') return inspectSqliteStore(location.path, timeout)
  const { inspectPostgresStore } = await import('./postgres/postgres-store.ts')
  return inspectPostgresStore(location.url, timeout)
}
