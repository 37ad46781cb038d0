/** What a start would find in the configured store: nothing is created, migrated or owned. */

import { inspectSqliteStore } from './sqlite/inspect-sqlite.ts'
import type { StoreInspection } from './store.ts'

type InspectedLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/**
 * Rejects with a StoreUnavailable where a start would.
 *
 * @param timeout ms for each answer of a server, or for the lock of another program
 */
export async function inspectStore(location: InspectedLocation, timeout: number): Promise<StoreInspection> {
  if (location.kind === 'sqlite') return inspectSqliteStore(location.path, timeout)
  const { inspectPostgresStore } = await import('./postgres/inspect-postgres.ts')
  return inspectPostgresStore(location.url, timeout)
}
