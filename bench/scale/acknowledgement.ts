/**
 * The cost of a write in a fleet of some size: the time until every instance has acknowledged it, and the
 * messages; and the fleet's statements in the store while idle.
 */

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { SimulatedFleet } from './fleet.ts'
import { redisNumber, type Servers } from './servers.ts'
import type { Messages, Target, WriteTimes } from './simulated-instance.ts'
import { median, quantile } from '../statistics.ts'

const TENANT = 'acme'
/** Not measured: connections are opened and code is compiled at first use. */
const FIRST_WRITES = 3

export interface FleetCost {
  readonly instances: number
  /** Milliseconds from the commit until the response to the write may be sent. */
  readonly median: number
  readonly p99: number
  /** Milliseconds of the write and its commit themselves. */
  readonly commit: number
  /** Writes that were answered after a timeout, without all acknowledgements. */
  readonly waited: number
  /** Messages per write, as the instances count them. */
  readonly messages: Messages
  readonly rest: AtRest
  readonly samples: readonly WriteTimes[]
}

/** The cost without writes or requests, per second and instance. */
interface AtRest {
  /** Statements, as the store counts them. */
  readonly statements: number
  /** Messages published, as Redis counts them. */
  readonly messages: number
}

export interface FleetSetup {
  readonly instances: number
  readonly writes: number
  /** Milliseconds of observation at rest. */
  readonly rest: number
}

export async function measureFleet(servers: Servers, setup: FleetSetup): Promise<FleetCost> {
  const name = `fleet${setup.instances}`
  const places = {
    store: await servers.postgres.createDatabase(name),
    redis: `${servers.redis.url}?prefix=${name}:`,
    secret: randomBytes(32).toString('hex'),
  }
  const target = await makeSeat(places.store)
  const fleet = await SimulatedFleet.start(places, setup.instances)
  try {
    await writeAll(fleet, target, FIRST_WRITES * setup.instances)
    const rest = await atRest(servers, name, setup)
    const before = await fleet.messages()
    const samples = await writeAll(fleet, target, setup.writes)
    const messages = perWrite(before, await fleet.messages(), setup.writes)
    return { ...summary(setup.instances, samples), messages, rest }
  } finally {
    await fleet.end()
  }
}

async function makeSeat(url: string): Promise<Target> {
  const store = await openStore({ kind: 'postgres', url })
  try {
    const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
    const seat = { name: 'Viewer', spaces: ['main'], permissions: ['trainings:list'] }
    const result = await store.createSeat({ tenant: TENANT, by: 'bench', scope, now: Date.now() }, seat)
    if (isRefusal(result)) throw new Error(result.detail)
    return { tenant: TENANT, id: result.value.id }
  } finally {
    await store.close()
  }
}

/** Writes in sequence. After each write, no instance may be able to decide on the state before it. */
async function writeAll(fleet: SimulatedFleet, target: Target, count: number): Promise<WriteTimes[]> {
  const samples: WriteTimes[] = []
  for (let turn = 0; turn < count; turn++) {
    const times = await fleet.write(turn, target, [turn % 2 === 0 ? 'trainings:read' : 'trainings:list'])
    const stale = await fleet.stale(times.seq)
    if (stale > 0) throw new Error(`${stale} instances could decide on the state before an answered write`)
    samples.push(times)
  }
  return samples
}

async function atRest(servers: Servers, database: string, { instances, rest }: FleetSetup): Promise<AtRest> {
  const [before, begun] = [await countsOf(servers, database), performance.now()]
  await sleep(rest)
  const after = await countsOf(servers, database)
  const share = 1000 / (performance.now() - begun) / instances
  return {
    statements: (after.statements - before.statements) * share,
    messages: (after.messages - before.messages) * share,
  }
}

/**
 * The statements and messages so far. At rest, each statement is a transaction of its own, and the database
 * and Redis have no other users.
 */
async function countsOf({ postgres, redis }: Servers, database: string): Promise<AtRest> {
  const query = 'SELECT xact_commit + xact_rollback AS done FROM pg_stat_database WHERE datname = $1'
  const [row] = await postgres.query(query, [database])
  const messages = await redisNumber(redis, 'commandstats', 'cmdstat_publish')
  return { statements: Number(row?.['done']), messages }
}

function perWrite(before: Messages, after: Messages, writes: number): Messages {
  return {
    sent: (after.sent - before.sent) / writes,
    received: (after.received - before.received) / writes,
  }
}

function summary(instances: number, samples: readonly WriteTimes[]) {
  const times = samples.map(({ acknowledgement }) => acknowledgement)
  return {
    instances,
    median: median(times),
    p99: quantile(times, 0.99),
    commit: median(samples.map(({ commit }) => commit)),
    waited: samples.filter(({ by }) => by === 'waited').length,
    samples,
  }
}
