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

/** Milliseconds that only a fault exceeds. Both limits begin before the connection exists. */
const PATIENCE = 30_000

/** One connection, which is not repeated and is closed with the test. A command without an answer fails. */
export function redisClient(t: Test, url: string, options: RedisClientOptions = {}): Redis {
  const patient = { connectTimeout: PATIENCE, commandTimeout: PATIENCE }
  const client = new Redis(url, { retryStrategy: () => null, ...patient, ...options })
  // The command that fails reports it too.
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

/** A client that is not connected yet, and is closed with the test. */
export function pgClient(t: Test, url: string, options: ClientConfig = {}): Client {
  const client = new Client({ connectionString: url, ...options })
  client.on('error', () => {})
  t.teardown(() => void client.end().catch(() => {}))
  return client
}

/** Executes one statement on a connection of its own. */
export async function queryOnce(
  config: ClientConfig,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client(config)
  // The rejection reports it too.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text, values)).rows
  } finally {
    await client.end().catch(() => {})
  }
}
