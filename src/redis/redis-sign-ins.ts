/**
 * Ids of completed sign-ins, in Redis, so that no instance of a fleet completes one twice. The state of a
 * pending sign-in is in the browser's cookie. While Redis is unavailable no sign-in begins or completes. This
 * connection has a longer timeout than the cache's.
 *
 * The epoch is a random text under one key. When Redis loses its keys it loses the epoch too, and the
 * sign-ins that began under the old epoch are refused, so none of them completes twice.
 */

import { randomBytes } from 'node:crypto'
import type { RedisConnection } from './redis-connection.ts'
import type { Keys } from './keys.ts'
import { isRedisRefusal } from './redis-errors.ts'

/** Milliseconds until a command fails. Only sign-ins wait for it. */
export const SIGN_IN_TIMEOUT = 2000

/** Milliseconds for a connection that Redis' refusal has closed. */
const RENEWAL_TIMEOUT = 1000

const EPOCH = /^[A-Za-z0-9_-]{8}$/

export class RedisEphemeral {
  readonly #connect: () => RedisConnection
  readonly #keys: Keys
  #connection: Promise<RedisConnection> | null = null
  /** Concurrent calls share one lookup. */
  #epoch: Promise<string> | null = null

  /** @param connect called at the first sign-in */
  constructor(connect: () => RedisConnection, keys: Keys) {
    this.#connect = connect
    this.#keys = keys
  }

  epoch(): Promise<string> {
    this.#epoch ??= this.#readEpoch().finally(() => (this.#epoch = null))
    return this.#epoch
  }

  async use(tenant: string, epoch: string, id: string, ttlMs: number): Promise<boolean> {
    const key = this.#keys.usedSignIn(tenant, id)
    const [redis, stored] = await this.#onceMore(
      async (redis) => [redis, await redis.set(key, '1', 'PX', ttlMs, 'NX')] as const,
    )
    if (stored === null) return false
    if (stored !== 'OK') throw new Error('unexpected reply to SET from Redis')
    // Read after the id was stored: if Redis lost an earlier record of the id, it lost the epoch too.
    return (await redis.get(this.#keys.signInEpoch)) === epoch
  }

  close(): void {
    void this.#connection?.then((redis) => redis.disconnect())
  }

  async #readEpoch(): Promise<string> {
    const key = this.#keys.signInEpoch
    const epoch: unknown = await this.#onceMore(async (redis) => {
      const text = await redis.get(key)
      if (text !== null) return text
      await redis.set(key, randomBytes(6).toString('base64url'), 'NX')
      return redis.get(key)
    })
    if (typeof epoch === 'string' && EPOCH.test(epoch)) return epoch
    throw new Error('invalid sign-in epoch in Redis')
  }

  /**
   * Redis has refused: the connection is made again, and the address may lead to another server by now. What
   * was refused was not executed, so that it is safe to ask once more.
   */
  async #onceMore<R>(ask: (redis: RedisConnection) => Promise<R>): Promise<R> {
    this.#connection ??= ready(this.#connect())
    const redis = await this.#connection
    try {
      return await ask(redis)
    } catch (cause) {
      if (!isRedisRefusal(cause) || redis.isCluster) throw cause
      await nextReady(redis, RENEWAL_TIMEOUT)
      return await ask(redis)
    }
  }
}

/** Only the first call waits for the connection; later commands fail at once while it is down. */
async function ready(connection: RedisConnection): Promise<RedisConnection> {
  if (connection.status !== 'ready') await nextReady(connection, SIGN_IN_TIMEOUT)
  return connection
}

/** @param timeout ms after which it resolves in any case */
async function nextReady(connection: RedisConnection, timeout: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeout)
  connection.once('ready', resolve)
  await promise
  clearTimeout(timer)
  connection.off('ready', resolve)
}
