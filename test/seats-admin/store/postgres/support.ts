/** Databases for tests of the store. */

import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import type { Test } from 'tap'
import type { PostgresOptions, Store } from '../../../../seats-admin/index.ts'
import { openPostgresStore } from '../../../../seats-admin/store/postgres/postgres-store.ts'
import type { PostgresServer } from '../../../support/servers/postgres.ts'

/** Opens a store that is closed with the test, with a timeout for busy machines. */
export async function open(t: Test, options: PostgresOptions): Promise<Store> {
  const store = await openPostgresStore({ timeout: 60_000, ...options })
  t.teardown(() => store.close())
  return store
}

/** The URL of a new, empty database. */
export function emptyDatabase(server: PostgresServer): Promise<string> {
  return server.createDatabase(`store-${randomUUID()}`)
}

/** A store on a new, empty database. */
export async function openEmpty(t: Test, server: PostgresServer): Promise<Store> {
  return open(t, { url: await emptyDatabase(server) })
}

/** A client of the database, whose statements find the tables of the store. It ends with the test. */
export async function connected(t: Test, url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('SET search_path = seatgate')
  return client
}

/** A new database with `count` stores, for tests that use it in turn. */
export function databases(server: PostgresServer, count = 1) {
  return async (t: Test) => {
    const url = await emptyDatabase(server)
    const stores = await Promise.all(Array.from({ length: count }, () => open(t, { url })))
    const client = await connected(t, url)
    const { rows } = await client.query(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'seatgate' AND tablename NOT IN ('counter', 'schema_version')`,
    )
    const emptying = rows.map(({ tablename }) => `DELETE FROM ${tablename}`).join(';')
    return { stores, emptying, run: async (script: string) => void (await client.query(script)) }
  }
}

export function databaseOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1))
}
