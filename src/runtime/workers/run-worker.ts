/**
 * A worker: decides and forwards on a shared port. It receives configuration and changes from the primary,
 * and exits without it.
 */

import {
  openStore,
  type Owner,
  type PushTables,
  type RefusedTables,
  type StoreLocation,
  type TablesService,
} from '../../../seats-admin/index.ts'
import { systemClock } from '../../coherence/clock.ts'
import type { InstanceIdentity } from '../../coherence/feeds.ts'
import { RemoteInstance } from '../../coherence/worker-link.ts'
import { type Config, firstSecrets, type RedisConfig } from '../../config/config.ts'
import { unpack } from '../../config/worker-copy.ts'
import { DataPlane } from '../data-plane.ts'
import { DecisionPoint, tablesInStore } from '../decision-point.ts'
import type { Extensions } from '../extensions.ts'
import { remoteEphemeral } from '../../oidc/sign-in/completed-sign-ins.ts'
import { Keys } from '../../redis/keys.ts'
import { Seal } from '../../redis/redis-seal.ts'
import type { SharedCache } from '../../redis/seat-cache.ts'
import { openLender, remoteLender } from '../lender.ts'
import { Startup } from '../store-retries.ts'
import { logUnhandledRejections, openLog } from '../../telemetry/logger.ts'
import { Channel } from './channel.ts'
import { WorkerActivity } from './worker-activity.ts'
import { tuneGarbageCollection } from '../garbage-collection.ts'

/** The process is a worker from now on. */
export function runWorker(extensions: Extensions): void {
  // A terminal's Ctrl-C and some supervisors signal the whole process group: the primary says when to end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  // Without the primary, the worker receives no changes, and its output is not read.
  process.on('disconnect', () => process.exit(1))
  const channel = new Channel({
    send: (message) => void (process.connected && process.send?.(message, undefined, undefined, () => {})),
    onMessage: (receive) => process.on('message', receive),
  })
  channel.serve('begin', () => begin(channel, extensions))
  channel.serve('alive', () => true)
}

/** The primary's response to `config`. */
interface WorkerStart {
  readonly version: number
  readonly config: unknown
  readonly owner: Owner | null
  /** The instance of the primary. */
  readonly instance: Pick<InstanceIdentity, 'id' | 'name'>
  /** The number of live instances of the fleet. */
  readonly instances: number
}

/** Opens what a data plane needs, in the order of a gateway's start, and listens. */
async function begin(channel: Channel, extensions: Extensions) {
  const {
    version,
    config: packed,
    owner,
    instance,
    instances: first,
  } = (await channel.call('config')) as WorkerStart
  const config: Config = unpack(packed)
  const log = await openLog({ pretty: false })
  logUnhandledRejections(log.logger)
  const startup = new Startup(config, log)
  const store = await startup.retry(() => openStore(storeOf(config, owner)))
  store.health.listen((state) => channel.notify('store', state))
  const cache = config.redis === null ? null : await openCache(config.redis, firstSecrets(config))
  const ports = { ephemeral: remoteEphemeral(channel), log: log.logger }
  const coherence = new RemoteInstance(channel, systemClock, instance)
  const decisionPoint = new DecisionPoint({
    store,
    coherence,
    cache,
    ports,
    memory: config.memory,
    tables: tablesInStore(config),
    tablesService: config.tables.from === 'files' ? null : remoteTables(channel),
    endpoints: extensions.endpoints,
    fleet: coherence.fleet,
    fleetSecrets: coherence.fleetSecrets,
    gathered: (own) => new WorkerActivity(own, channel),
  })
  await decisionPoint.lease.renewed()
  let instances = first
  channel.serve('instances', (number) => {
    instances = Number(number)
  })
  const lender = (await openLender(cache, log)) ?? remoteLender(channel, () => instances)
  const limits = { now: systemClock.now, lender, processes: () => instances * config.workers }
  const dataPlane = await DataPlane.open(decisionPoint, config, { log, limits, extensions })
  const activate = (config: Config, activateDataPlane: () => void) => {
    activateDataPlane()
    cache?.seal.setSecrets(firstSecrets(config))
  }
  const { promise: listens, resolve: isListening } = Promise.withResolvers<unknown>()
  serveReloads(channel, dataPlane, activate, listens)
  channel.serve('metrics', () => dataPlane.metrics.registry.getMetricsAsJSON())
  channel.serve('key-uses', () => decisionPoint.keyUses.take())
  channel.serve('end', async (drain) => {
    await dataPlane.close(Number(drain))
    cache?.connection.disconnect()
    await store.close()
    await log.close()
    return decisionPoint.keyUses.take()
  })
  // The primary may have reloaded since. Once it says that it has not, each reload is for this worker too.
  for (let current = version; ;) {
    const newer = (await channel.call('joins', current)) as Pick<WorkerStart, 'version' | 'config'> | null
    if (newer === null) break
    const newConfig = unpack(newer.config)
    activate(newConfig, await dataPlane.prepare(newConfig))
    current = newer.version
  }
  const listening = dataPlane.listen(true)
  isListening(listening.catch(() => {}))
  const addresses = await listening
  tuneGarbageCollection()
  return { addresses }
}

/** Pushes by the primary, which prepares tables for all workers. */
function remoteTables(channel: Channel): TablesService<Config> {
  return {
    push: async (writer, files) =>
      (await channel.call('push-tables', [writer, files])) as Awaited<ReturnType<PushTables>>,
    build: async (files) => {
      const built = (await channel.call('build-tables', files)) as object
      return 'faults' in built ? (built as RefusedTables) : unpack(built)
    },
  }
}

/** A configuration to prepare. */
export interface Preparation {
  /** Increases with each preparation. */
  readonly id: number
  readonly config: unknown
}

/** The most configurations that are ready: a candidate of the store, and a main file that has changed since. */
const MAX_PREPARED = 2

/**
 * Serves reloads in two phases: all workers prepare a configuration, then all activate it.
 *
 * @param listens resolves once the listeners are open, which take the configuration that is active then
 */
function serveReloads(
  channel: Channel,
  dataPlane: DataPlane,
  activate: (config: Config, activateDataPlane: () => void) => void,
  listens: Promise<unknown>,
): void {
  const prepared = new Map<number, () => void>()
  channel.serve('prepare', async (data) => {
    await listens
    const { id, config: packed } = data as Preparation
    const config = unpack(packed)
    const activateDataPlane = await dataPlane.prepare(config)
    prepared.set(id, () => activate(config, activateDataPlane))
    const [oldest] = prepared.keys()
    if (prepared.size > MAX_PREPARED && oldest !== undefined) prepared.delete(oldest)
  })
  channel.serve('commit', (id) => {
    const activatePrepared = prepared.get(id as number)
    if (activatePrepared === undefined) throw new Error('the configuration is not prepared any more')
    for (const each of prepared.keys()) if (each <= (id as number)) prepared.delete(each)
    activatePrepared()
  })
}

/** Connects in the background. The primary logs failures. */
async function openCache(config: RedisConfig, secrets: readonly Uint8Array[]): Promise<SharedCache> {
  const { connectRedis } = await import('../../redis/connect.ts')
  return {
    connection: connectRedis(config, () => {}),
    keys: new Keys(config.prefix),
    seal: new Seal(secrets),
  }
}

/** Connections to the store, which the workers of a gateway share. */
const STORE_CONNECTIONS = 4

function storeOf({ store, workers }: Config, owner: Owner | null): StoreLocation {
  if (store.kind === 'sqlite') return owner === null ? store : { ...store, owner }
  return { ...store, pool: Math.max(1, Math.ceil(STORE_CONNECTIONS / workers)) }
}
