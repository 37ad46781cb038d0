/**
 * Sign-ins under way, in Redis: begun on one instance, finished on another. Unlike the cache this is their only place:
 * where Redis is away nobody can begin one, and those under way must begin anew. Hence a connection of its own, which is
 * given more time.
 */

import type { Connection } from './connection.ts'
import type { Keys } from './keys.ts'

/** Milliseconds for a command: somebody waits for a page, not for a decision. */
export const PATIENCE = 2000

export class RedisEphemeral {
  readonly #connect: () => Connection
  readonly #keys: Keys
  #connection: Promise<Connection> | null = null

  /** @param connect called when the first sign-in begins */
  constructor(connect: () => Connection, keys: Keys) {
    this.#connect = connect
    this.#keys = keys
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    const redis = await this.#ready()
    await redis.set(this.#keys.ephemeral(key), value, 'PX', ttlMs)
  }

  /** GETDEL: of any number of takers one gets it. */
  async take(key: string): Promise<string | null> {
    const redis = await this.#ready()
    const found: unknown = await redis.getdel(this.#keys.ephemeral(key))
    return typeof found === 'string' ? found : null
  }

  close(): void {
    void this.#connection?.then((redis) => redis.disconnect())
  }

  #ready(): Promise<Connection> {
    this.#connection ??= ready(this.#connect())
    return this.#connection
  }
}

/** The first one waits for the connection; later ones fail at once while it is away. */
async function ready(connection: Connection): Promise<Connection> {
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
