/** Clients of the test servers that try once. */

import type { ConnectionOptions } from 'node:tls'
import { Redis } from 'ioredis'
import { Client, type ClientConfig } from 'pg'
import type { Test } from 'tap'

interface RedisClientOptions {
  readonly tls?: ConnectionOptions
  readonly commandTimeout?: number
  readonly enableReadyCheck?: boolean
}

/** ms, which only a fault exceeds: both begin before the connection is there. */
const PATIENCE = 30_000

/** One connection, which is not made again, and goes with the test; a command that is not answered fails. */
export function redisClient(t: Test, url: string, options: RedisClientOptions = {}): Redis {
  const patient = { connectTimeout: PATIENCE, commandTimeout: PATIENCE }
  const client = new Redis(url, { retryStrategy: () => null, ...patient, ...options })
  // Said by the command that fails too.
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

/** Not yet connected; goes with the test. */
export function pgClient(t: Test, url: string, options: ClientConfig = {}): Client {
  const client = new Client({ connectionString: url, ...options })
  client.on('error', () => {})
  t.teardown(() => void client.end().catch(() => {}))
  return client
}

/** One statement, on a connection of its own. */
export async function queryOnce(
  config: ClientConfig,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client(config)
  // Said by the rejection too.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text, values)).rows
  } finally {
    await client.end().catch(() => {})
  }
}
