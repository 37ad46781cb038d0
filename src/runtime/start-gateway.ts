/**
 * The start of a gateway, from a configuration to listening. Each step of {@link startGateway} opens one
 * thing; a fault in any step closes what is open. A gateway is one instance of a fleet: this process, with
 * the data plane in it or in workers.
 */

import {
  hideGateway,
  lockStore,
  type ActiveTables,
  type Store,
  type StoreLock,
  StoreUnavailable,
} from '../../seats-admin/index.ts'
import { systemClock } from '../coherence/clock.ts'
import type { Config, StoreConfig } from '../config/config.ts'
import type { Listener } from '../http/server/listen.ts'
import { FleetMetrics } from '../telemetry/fleet-metrics.ts'
import type { Log } from '../telemetry/logger.ts'
import { ActiveConfig } from './active-config.ts'
import { type DataPlanes, openInProcess } from './data-planes.ts'
import type { Composition, ConfigFiles } from './extensions.ts'
import { FleetNode } from './fleet-node.ts'
import { addInstanceGauges } from './gauges.ts'
import { Gateway } from './gateway.ts'
import { InstanceTables } from './instance-tables.ts'
import { KeyUseWriter } from './key-use-writer.ts'
import { onceOpen, openedStore } from './opened-store.ts'
import { openOps, type OpsSource } from './ops.ts'
import { openRedis } from './redis-parts.ts'
import { Startup } from './store-retries.ts'
import { TablesCache } from './tables-cache.ts'
import { explainListening } from './surroundings/listener-fault.ts'
import { explainStore } from './surroundings/store-fault.ts'

/**
 * Opens the store, compiles the tables and listens. Waits up to `startup_timeout` for a store that is slow or
 * away; the operators' listener responds before that. Rejects, with nothing left open, when a step fails:
 * with a SurroundingsFault for a store or an address that can't be used, and with a ConfigError for faulty
 * tables.
 */
export async function startGateway(config: Config, log: Log, composition: Composition): Promise<Gateway> {
  const { store: location } = config
  const { files } = composition
  const opened = new Opened()
  const startup = new Startup(config, log)
  const metrics = new FleetMetrics()
  const active = new ActiveConfig(config, metrics)
  const reloads = composition.extensions.observeReloads(log, metrics)
  let gateway: Gateway | null = null
  try {
    // 1. The lock on an embedded store, which admits one gateway at a time.
    const lock = await explainStore(config, () => lockOf(location))
    opened.add(() => unlock(location, lock))
    // A killed gateway has left what it showed.
    if (location.kind === 'sqlite') await hideGateway(location.path)

    // 2. The operators' listener: from now on, /readyz says what the start waits for.
    const ops = await listenForOperators(config, {
      readiness: () => gateway?.readiness ?? waiting(startup),
      metrics: async () => ({
        type: metrics.registry.contentType,
        text: await (gateway?.metrics(metrics.registry) ?? metrics.registry.metrics()),
      }),
      hosts: () => active.config.opsHosts,
    })
    opened.add(() => ops.close(0))

    // 3. The store, and Redis, which connects in the background.
    const owned = lock === null ? location : { ...location, owner: { lock: lock.id, takes: true } }
    const kept = await keptTables(config, log)
    // Workers begin with a store that responds.
    const mayBeAway = kept !== null && kept.tables !== null && config.workers === 1
    const { store, open } = await openedStore(owned, startup, mayBeAway)
    opened.add(() => store.close())
    const redis = await openRedis(config, log)
    opened.add(() => redis.close())

    // 4. The tables, if they are in the store.
    const tables =
      kept === null ? null : await openTables(kept, open !== null, { store, files, startup, log })
    if (tables !== null) active.begin(tables.config)

    // 5. The node of the fleet, which follows the changes of the store from step 7 on.
    const node = new FleetNode({
      active,
      store,
      lock,
      redis,
      log,
      metrics,
      files,
      tables: tables?.atInstance ?? null,
    })
    opened.add(() => node.close())
    addInstanceGauges(metrics, active, node, () => gateway?.workers ?? 0)

    // 6. The data planes, with their compiled tables. The last uses of API keys are written after they close.
    const dataPlanes = await openDataPlanes(active.config, node, log, composition)
    const keyUses = new KeyUseWriter({ store, take: () => dataPlanes.takeKeyUses(), log })
    opened.add(() => keyUses.close())
    opened.add((drain) => dataPlanes.close(drain))

    // 7. The first reading of the change feed, with which the lease begins, and another one of files that
    // have changed since the start.
    const close = (drain: number) => opened.close(drain)
    const starting = new Gateway({
      active,
      node,
      dataPlanes,
      reloads,
      tables: tables?.atInstance ?? null,
      ops: ops.address,
      close,
    })
    files?.attach(starting)
    if (open === null) await node.start(startup)
    else
      void onceOpen(
        () => open().then(() => node.start(AT_ONCE)),
        () => opened.closing,
        log,
      )

    // 8. The listeners of clients.
    const addresses = await dataPlanes.listen()
    starting.listens(addresses)
    return (gateway = starting)
  } catch (cause) {
    await opened.close(0)
    throw cause
  }
}

/** What a start has opened. It is closed in the reverse order. */
class Opened {
  readonly #closings: ((drain: number) => unknown)[] = []
  /** Whether it is being closed, or is. */
  closing = false

  /** @param close takes the ms that requests in flight have */
  add(close: (drain: number) => unknown): void {
    this.#closings.push(close)
  }

  async close(drain: number): Promise<void> {
    this.closing = true
    for (const close of this.#closings.reverse()) await close(drain)
  }
}

/** The readiness of a gateway that does not listen to clients yet. */
function waiting({ waitingFor }: Startup) {
  return { ready: false, parts: { waiting_for: waitingFor ?? 'the listener' } }
}

/** A store in a file has no list of instances, so it admits one gateway at a time. */
function lockOf(store: StoreConfig): StoreLock | null {
  if (store.kind !== 'sqlite') return null
  const lock = lockStore(store.path)
  if (lock === null)
    throw new StoreUnavailable(`another gateway runs on the store ${store.path}, which takes one at a time`, {
      code: 'GATEWAY',
    })
  return lock
}

async function unlock(store: StoreConfig, lock: StoreLock | null): Promise<void> {
  if (store.kind === 'sqlite') await hideGateway(store.path)
  lock?.release()
}

function listenForOperators({ ops, sources }: Config, source: OpsSource): Promise<Listener> {
  return explainListening(ops, sources.ops, () => openOps(ops, source))
}

/** One attempt. */
const AT_ONCE: Pick<Startup, 'retry'> = { retry: (attempt) => attempt() }

interface KeptTables {
  readonly tenant: string
  readonly cache: TablesCache
  /** The tables that the gateway had when it ended; null: they are not known. */
  readonly tables: ActiveTables | null
}

/** Null: the tables are in files. */
async function keptTables({ tables }: Config, log: Log): Promise<KeptTables | null> {
  if (tables.from === 'files') return null
  const cache = new TablesCache(tables.cache, tables.tenant, log)
  return { tenant: tables.tenant, cache, tables: await cache.read() }
}

interface OpeningTables {
  readonly store: Store
  readonly files: ConfigFiles | null
  readonly startup: Startup
  readonly log: Log
}

/** The tables to begin with. Later versions arrive with the feed. @param isAway the store does not respond */
async function openTables(
  { tenant, cache, tables }: KeptTables,
  isAway: boolean,
  { store, files, startup, log }: OpeningTables,
) {
  if (files === null) throw new Error('tables of the store are built with the files of a configuration')
  const { withTables } = files
  const read = async () => (await startup.retry(() => store.activeTables(tenant))).value
  const active = isAway && tables !== null ? tables : await read()
  const config = await withTables(active)
  cache.write(active)
  if (active.version === 0)
    log.logger.info({ tenant }, 'the store has no route tables yet: seatgate tables push brings them there')
  return {
    config,
    atInstance: new InstanceTables({ store, tenant, cache, log, clock: systemClock }, active, withTables),
  }
}

/** Loads the code for workers only if there are workers. */
async function openDataPlanes(
  config: Config,
  node: FleetNode,
  log: Log,
  composition: Composition,
): Promise<DataPlanes> {
  if (config.workers === 1) return openInProcess(config, node, log, composition)
  const { WorkerDataPlanes } = await import('./worker-data-planes.ts')
  return new WorkerDataPlanes(config, node, log, composition)
}
