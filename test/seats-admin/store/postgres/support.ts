/** Databases for tests of the store. */

import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { PostgresOptions, Store } from '../../../../seats-admin/index.ts'
import { openPostgresStore } from '../../../../seats-admin/store/postgres/store.ts'
import type { PostgresServer } from '../../../support/servers/postgres.ts'

/** Opens a store that is closed with the test, with a timeout for busy machines. */
export async function open(t: Test, options: PostgresOptions): Promise<Store> {
  const store = await openPostgresStore({ timeout: 20_000, ...options })
  t.teardown(() => store.close())
  return store
}

/** The URL of a new, empty database. */
export function emptyDatabase(server: PostgresServer): Promise<string> {
  return server.createDatabase(`store-${randomUUID()}`)
}

export function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1))
}
