/**
 * What decides, without a listener: the store, the memory before it, the lease on that memory, and a judge for each
 * configuration. Opened by the gateway and by `seatgate explain`, which thereby can't disagree.
 */

import { createAdminApi, openSqliteStore, type Store } from '../seats-admin/index.ts'
import { Authenticator } from './authn/authenticator.ts'
import { builtInRoutes, RESERVED_PATHS } from './built-in.ts'
import { Lease, type LeaseListener } from './coherence/lease.ts'
import type { Config } from './config/config.ts'
import { ConfigError } from './config/faults.ts'
import type { Route } from './exchange.ts'
import { Judge } from './judge.ts'
import { compileTable, type RouteTable } from './router/table.ts'
import { SeatMemory } from './seats/memory.ts'

/** One configuration, ready to judge by. */
export interface Compiled {
  readonly config: Config
  readonly table: RouteTable
  readonly judge: Judge
}

export class Engine {
  readonly store: Store
  readonly memory: SeatMemory
  readonly lease: Lease

  private constructor(store: Store, listener: LeaseListener) {
    this.store = store
    this.memory = new SeatMemory(store)
    this.lease = new Lease(store, this.memory, listener)
  }

  /** Rejects with a clear message when the store can't be opened or read. */
  static async open(config: Config, listener: LeaseListener = () => {}): Promise<Engine> {
    const store = await openSqliteStore({ path: config.store.path })
    const engine = new Engine(store, listener)
    try {
      await engine.lease.start()
      return engine
    } catch (cause) {
      await engine.close()
      throw cause
    }
  }

  /** Throws a ConfigError with the faults of the route tables taken together. */
  compile(config: Config): Compiled {
    const { table, faults } = compileTable(
      config.routes,
      config.upstreams,
      this.#builtIn(config),
      RESERVED_PATHS,
    )
    if (faults.length > 0) throw new ConfigError(faults)
    const authenticator = new Authenticator({
      tenants: config.tenants,
      defaultTenant: config.defaultTenant,
      apiKeyById: (tenant, id) => this.memory.apiKeyById(tenant, id),
      now: Date.now,
    })
    const allowsSemicolon = ({ target }: Route) =>
      target.kind === 'upstream' && config.upstreams.get(target.name)?.allowSemicolons === true
    const judge = new Judge({ table, authenticator, seats: this.memory, lease: this.lease, allowsSemicolon })
    return { config, table, judge }
  }

  async close(): Promise<void> {
    this.lease.stop()
    await this.store.close()
  }

  /** Of this configuration: a request that meets it meets its admin spaces too. */
  #builtIn(config: Config): Route[] {
    const endpoints = createAdminApi({
      store: this.store,
      now: Date.now,
      // One process decides on this store's memory: having forgotten here is having forgotten everywhere.
      announce: async ({ seq, changes }) => this.lease.committed(seq, changes),
    })
    return builtInRoutes(endpoints, (tenant) => config.tenants.get(tenant)?.adminSpace)
  }
}
