/**
 * What it costs to use one Seat in a hundred: Redis, the memory of an instance, and what a second instance that meets
 * the same Seats asks the store for.
 */

import { until } from '../../test/support/servers/wait.ts'
import type { Deployment } from './deployment.ts'
import { type ScaleGateway, type Sources, sourcesBetween } from './gateway.ts'
import { type Request, send } from './requests.ts'
import { redisNumber, type Servers } from './servers.ts'

/** Few at once: what is measured is size, and a crowd would have Redis answer too late. */
const CONNECTIONS = 4

export interface InUse {
  readonly seats: number
  /** Bytes that Redis took, and the Seats that it then kept. */
  readonly redis: number
  readonly kept: number
  readonly first: Met
  /** Another instance, which meets the same Seats after the first one. */
  readonly second: Met & {
    /** Bytes reachable, after a garbage collection. */
    readonly heap: readonly [before: number, after: number]
    /** Lookups in the store's table of Seats, by the store's own count. */
    readonly lookups: number
  }
}

interface Met {
  readonly sources: Sources
  /** Bytes resident. */
  readonly memory: readonly [before: number, after: number]
}

/** @param first has met none of the Seats yet */
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
  // Counted late, they would be taken for the second one's.
  await until(
    async () => (await lookupsOf(servers, deployment)) >= lookups + met.sources.store,
    () => 'the store does not count its lookups',
    500,
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
  const gateway = await deployment.gateway()
  const heapBefore = await gateway.heap()
  const before = await lookupsOf(servers, deployment)
  const met = await meet(gateway, requests)
  const heap = [heapBefore, await gateway.heap()] as const
  // A server's process hands in what it has counted when its connection ends, at the latest.
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

/** What a gateway writes to Redis nobody waits for. If it could not write all, there is no more to come. */
async function settled(servers: Servers, wanted: number): Promise<void> {
  let last = -1
  const comesToRest = async () => {
    const keys = await keysOf(servers)
    const still = keys >= wanted || keys === last
    last = keys
    return still
  }
  await until(comesToRest, () => 'Redis does not come to rest', 500)
}

async function lookupsOf({ postgres }: Servers, { name }: Deployment): Promise<number> {
  const question = `SELECT idx_scan + seq_scan AS lookups FROM pg_stat_user_tables
    WHERE schemaname = 'seatgate' AND relname = 'seats'`
  return Number((await postgres.query(question, [], name))[0]?.['lookups'])
}
