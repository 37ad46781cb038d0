/** The only file that imports ioredis. It is loaded with `connect.ts`, if Redis is configured; others import types. */

export { AbstractConnector, Cluster, Redis, type RedisOptions } from 'ioredis'
