/** A connection as the rest of this room sees it. Apart from `connect.ts`, so that who has no Redis never loads a client. */

import type { Cluster, Redis } from 'ioredis'

export type RedisConnection = Redis | Cluster
/** For subscriptions: one server, of a cluster too. */
export type Subscriber = Redis

/** Milliseconds for a command, after which its answer is dropped. A decision waits for no longer than this. */
export const COMMAND_TIMEOUT = 100
/** The same for a subscription, for which no decision waits. */
export const SUBSCRIBE_TIMEOUT = 1000

export function isReady(connection: RedisConnection): boolean {
  return connection.status === 'ready'
}
