/** The only file that imports ioredis. `connect.ts` loads it if Redis is configured. */

export { AbstractConnector, Cluster, Redis, type RedisOptions } from 'ioredis'
