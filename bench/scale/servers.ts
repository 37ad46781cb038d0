/** The servers of a deployment: PostgreSQL, Redis and a service, each a real one. */

import { type PostgresServer, startPostgres } from '../../test/support/servers/postgres.ts'
import { type RedisServer, startRedis } from '../../test/support/servers/redis.ts'
import { type Ending, temporaryFolder } from '../harness.ts'
import { startServer } from '../program.ts'

export interface Servers {
  readonly postgres: PostgresServer
  readonly redis: RedisServer
}

/** Durable, as in production; only the sizes are larger than those of a small test. */
const SETTINGS = ['shared_buffers = 256MB', 'max_wal_size = 4GB', 'max_connections = 500']

/** @param settings further lines for postgresql.conf */
export async function startServers({ t }: Ending, settings: readonly string[] = []): Promise<Servers> {
  const postgres = await startPostgres(t, { settings: [...SETTINGS, ...settings] })
  return { postgres, redis: await startRedis(t) }
}

/** Starts the service behind the gateways. Returns its origin. */
export async function startUpstream(ending: Ending): Promise<string> {
  return (await startServer(ending, temporaryFolder(ending, 'upstream'), 'upstream')).origin
}

/** The number of a name in `INFO`. */
export async function redisNumber(redis: RedisServer, section: string, name: string): Promise<number> {
  const text = (await redis.info(section))[name] ?? ''
  return Number(/^(?:calls=)?(\d+)/.exec(text)?.[1] ?? 0)
}
