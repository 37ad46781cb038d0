/**
 * The cost of using one Seat in a hundred: Redis, the memory of an instance, and the store look-ups of a
 * second instance with the same Seats.
 */

import { until } from '../../test/support/until.ts'
import type { Deployment } from './deployment.ts'
import { type ScaleGateway, type Sources, sourcesBetween } from './gateway.ts'
import { type Request, send } from './requests.ts'
import { redisNumber, type Servers } from './servers.ts'

/** Few at once: this measures size, and more would delay Redis beyond its timeout. */
const CONNECTIONS = 4

export interface InUse {
  readonly seats: number
  /** Bytes that Redis used, and its number of Seats. */
  readonly redis: number
  readonly kept: number
  readonly first: Met
  /** Another instance, which uses the same Seats after the first one. */
  readonly second: Met & {
    /** Reachable bytes, after a garbage collection. */
    readonly heap: readonly [before: number, after: number]
    /** Look-ups in the store's table of Seats, as the store counts them. */
    readonly lookups: number
  }
}

interface Met {
  readonly sources: Sources
  /** Resident bytes. */
  readonly memory: readonly [before: number, after: number]
}

/** @param first has used none of the Seats yet */
export async function measureInUse(
  servers: Servers,
  deployment: Deployment,
  first: ScaleGateway,
  requests: readonly Request[],
): Promise<InUse> {
  const { redis } = servers
  const empty = await redisNumber(redis, 'memory', 'used_memory')
  const [before, lookups] = [await keysOf(servers), await lookupsOf(servers, deployment)]
  const met = await meet(first, requests)
  await settled(servers, before + requests.length)
  // Lookups that the store counts late would be attributed to the second instance.
  await until(
    async () => (await lookupsOf(servers, deployment)) >= lookups + met.sources.store,
    () => 'the store does not count its lookups',
    { pause: 500 },
  )
  const kept = (await keysOf(servers)) - before
  const taken = (await redisNumber(redis, 'memory', 'used_memory')) - empty
  const second = await measureSecond(servers, deployment, requests)
  return { seats: requests.length, redis: taken, kept, first: met, second }
}

async function measureSecond(
  servers: Servers,
  deployment: Deployment,
  requests: readonly Request[],
): Promise<InUse['second']> {
  const gateway = await deployment.gateway(true)
  const heapBefore = await gateway.heap()
  const before = await lookupsOf(servers, deployment)
  const met = await meet(gateway, requests)
  const heap = [heapBefore, await gateway.heap()] as const
  // A server process reports its counts when its connection ends, at the latest.
  await gateway.stop()
  return { ...met, heap, lookups: (await lookupsOf(servers, deployment)) - before }
}

async function meet(gateway: ScaleGateway, requests: readonly Request[]): Promise<Met> {
  const [sources, memory] = [await gateway.sources(), gateway.memory()]
  await send(gateway.url, { requests, total: requests.length, connections: CONNECTIONS })
  const now = await gateway.sources()
  return { sources: sourcesBetween(sources, now), memory: [memory, gateway.memory()] }
}

async function keysOf({ redis }: Servers): Promise<number> {
  return Number(await redis.command('DBSIZE'))
}

/** Gateways do not wait for their writes to Redis. When the counts stop changing, no more will follow. */
async function settled(servers: Servers, wanted: number): Promise<void> {
  let last = -1
  const comesToRest = async () => {
    const keys = await keysOf(servers)
    const still = keys >= wanted || keys === last
    last = keys
    return still
  }
  await until(comesToRest, () => 'Redis does not come to rest', { pause: 500 })
}

async function lookupsOf({ postgres }: Servers, { name }: Deployment): Promise<number> {
  const query = `SELECT idx_scan + seq_scan AS lookups FROM pg_stat_user_tables
    WHERE schemaname = 'seatgate' AND relname = 'seats'`
  return Number((await postgres.query(query, [], name))[0]?.['lookups'])
}
