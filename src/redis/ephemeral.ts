/**
 * Ids of completed sign-ins, in Redis, so that no instance of a fleet completes one twice. The state of a pending sign-in
 * is in the browser's cookie. While Redis is unavailable no sign-in begins or completes. This connection has a longer
 * timeout than the cache's.
 *
 * The epoch is a random text under one key. When Redis loses its keys it loses the epoch too, and the sign-ins that began
 * under the old epoch are refused, so none of them completes twice.
 */

import { randomBytes } from 'node:crypto'
import type { RedisConnection } from './connection.ts'
import type { Keys } from './keys.ts'

/** Milliseconds until a command fails. Only sign-ins wait for it. */
export const SIGN_IN_TIMEOUT = 2000

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
    const redis = await this.#ready()
    const stored: unknown = await redis.set(this.#keys.usedSignIn(tenant, id), '1', 'PX', ttlMs, 'NX')
    if (stored === null) return false
    if (stored !== 'OK') throw new Error('unexpected reply to SET from Redis')
    // Read after the id was stored: if Redis lost an earlier record of the same id, it lost the epoch with it.
    return (await redis.get(this.#keys.signInEpoch)) === epoch
  }

  close(): void {
    void this.#connection?.then((redis) => redis.disconnect())
  }

  async #readEpoch(): Promise<string> {
    const redis = await this.#ready()
    const key = this.#keys.signInEpoch
    let epoch: unknown = await redis.get(key)
    if (epoch === null) {
      await redis.set(key, randomBytes(6).toString('base64url'), 'NX')
      epoch = await redis.get(key)
    }
    if (typeof epoch === 'string' && EPOCH.test(epoch)) return epoch
    throw new Error('invalid sign-in epoch in Redis')
  }

  #ready(): Promise<RedisConnection> {
    this.#connection ??= ready(this.#connect())
    return this.#connection
  }
}

/** Only the first call waits for the connection; later commands fail at once while it is down. */
async function ready(connection: RedisConnection): Promise<RedisConnection> {
  if (connection.status === 'ready') return connection
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, SIGN_IN_TIMEOUT)
    connection.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  return connection
}
