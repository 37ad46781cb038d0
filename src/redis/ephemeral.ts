/**
 * Used sign-ins, in Redis: what was finished on one instance is finished on all. A sign-in under way is in the browser's
 * cookie, not here. Where Redis can't be asked, no sign-in begins or ends. The connection is one of its own, which is
 * given more time.
 *
 * The epoch is a random text under one key. When Redis loses its keys it loses the epoch too, and the sign-ins that were
 * begun before count no longer: none of them is finished twice.
 */

import { randomBytes } from 'node:crypto'
import type { RedisConnection } from './connection.ts'
import type { Keys } from './keys.ts'

/** Milliseconds for a command: a browser waits for a page, not for a decision. */
export const PATIENCE = 2000

const EPOCH = /^[A-Za-z0-9_-]{8}$/

export class RedisEphemeral {
  readonly #connect: () => RedisConnection
  readonly #keys: Keys
  #connection: Promise<RedisConnection> | null = null
  /** Calls at the same time share one question. */
  #asked: Promise<string> | null = null

  /** @param connect called when the first sign-in begins */
  constructor(connect: () => RedisConnection, keys: Keys) {
    this.#connect = connect
    this.#keys = keys
  }

  epoch(): Promise<string> {
    this.#asked ??= this.#askEpoch().finally(() => (this.#asked = null))
    return this.#asked
  }

  async use(tenant: string, epoch: string, id: string, ttlMs: number): Promise<boolean> {
    const redis = await this.#ready()
    const noted: unknown = await redis.set(this.#keys.usedSignIn(tenant, id), '1', 'PX', ttlMs, 'NX')
    if (noted === null) return false
    if (noted !== 'OK') throw new Error('Redis answers SET with another kind of reply')
    // Asked after the id was noted: an earlier note of the same id, which Redis has lost since, took the epoch with it.
    return (await redis.get(this.#keys.signInEpoch)) === epoch
  }

  close(): void {
    void this.#connection?.then((redis) => redis.disconnect())
  }

  async #askEpoch(): Promise<string> {
    const redis = await this.#ready()
    const key = this.#keys.signInEpoch
    let epoch: unknown = await redis.get(key)
    if (epoch === null) {
      await redis.set(key, randomBytes(6).toString('base64url'), 'NX')
      epoch = await redis.get(key)
    }
    if (typeof epoch === 'string' && EPOCH.test(epoch)) return epoch
    throw new Error('the epoch of sign-ins in Redis is none')
  }

  #ready(): Promise<RedisConnection> {
    this.#connection ??= ready(this.#connect())
    return this.#connection
  }
}

/** The first one waits for the connection; later ones fail at once while it is away. */
async function ready(connection: RedisConnection): Promise<RedisConnection> {
  if (connection.status === 'ready') return connection
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, PATIENCE)
    connection.once('ready', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  return connection
}
