/** Types and timeouts of connections, apart from `connect.ts`, which loads ioredis. */

import type { Cluster, Redis } from './ioredis.ts'

export type RedisConnection = Redis | Cluster

/** Milliseconds until a command fails; a later reply is dropped. Bounds what a decision waits for Redis. */
export const COMMAND_TIMEOUT = 100
/** Milliseconds until a subscription fails; no decision waits for it. */
export const SUBSCRIBE_TIMEOUT = 1000

export function isReady(connection: RedisConnection): boolean {
  return connection.status === 'ready'
}
