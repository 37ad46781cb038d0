/** Clients of the test servers that try once, wait shortly and go with the test. */

import type { ConnectionOptions } from 'node:tls'
import { Redis } from 'ioredis'
import { Client, type ClientConfig } from 'pg'
import type { Test } from 'tap'

interface RedisClientOptions {
  readonly tls?: ConnectionOptions
  readonly commandTimeout?: number
  readonly enableReadyCheck?: boolean
}

/** One connection, which is not made again; a command that is not answered fails. */
export function redisClient(t: Test, url: string, options: RedisClientOptions = {}): Redis {
  const client = new Redis(url, { retryStrategy: () => null, commandTimeout: 1500, ...options })
  // Said by the command that fails too.
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

/** Not yet connected. */
export function pgClient(t: Test, url: string, options: ClientConfig = {}): Client {
  const client = new Client({ connectionString: url, ...options })
  client.on('error', () => {})
  t.teardown(() => void client.end().catch(() => {}))
  return client
}
