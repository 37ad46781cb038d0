/**
 * What decides, without a listener: the store, the memory before it, the lease on that memory, and a judge for each
 * configuration. Opened by the gateway and by `seatgate explain`, which thereby can't disagree.
 */

import type { Store } from '../seats-admin/index.ts'
import { createAdminApi } from '../seats-admin/index.ts'
import { Authenticator } from './authn/authenticator.ts'
import { builtInRoutes, RESERVED_PATHS } from './built-in.ts'
import { systemClock } from './coherence/clock.ts'
import { History } from './coherence/history.ts'
import { type Coherence, Instance } from './coherence/instance.ts'
import { Lease } from './coherence/lease.ts'
import type { Config } from './config/config.ts'
import { ConfigError } from './config/faults.ts'
import type { Route } from './exchange.ts'
import { Judge } from './judge.ts'
import type { Connection } from './redis/connection.ts'
import { Keys } from './redis/keys.ts'
import { SeatCache } from './redis/seat-cache.ts'
import { compileTable, type RouteTable } from './router/table.ts'
import { SeatMemory } from './seats/memory.ts'

/** One configuration, ready to judge by. */
export interface Compiled {
  readonly config: Config
  readonly table: RouteTable
  readonly judge: Judge
}

/** The cache that a fleet shares. */
export interface SharedCache {
  readonly connection: Connection
  readonly prefix: string
}

export class Engine {
  readonly store: Store
  readonly memory: SeatMemory
  readonly lease: Lease
  readonly history = new History()
  readonly #coherence: Coherence

  /** Has no lease before the coherence has read the feed, and ends with it. */
  constructor(store: Store, coherence: Coherence, cache: SharedCache | null) {
    this.store = store
    this.#coherence = coherence
    this.memory = new SeatMemory(cache === null ? store : this.#cached(store, cache))
    this.lease = new Lease(coherence, [this.memory, this.history], systemClock)
    coherence.join(this.lease)
  }

  /**
   * For a command that decides once, on the state as it is now: no instance of the fleet, as nobody must wait until it
   * has forgotten what it remembers for a moment. Rejects when the store can't be read.
   */
  static async forOneLook(store: Store): Promise<Engine> {
    const listener = { feed: () => {}, answered: () => {}, acknowledged: () => {} }
    const parts = { id: '', name: '', source: store, list: null, bus: null, clock: systemClock, listener }
    const engine = new Engine(store, new Instance(parts), null)
    await engine.lease.renewed()
    return engine
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
      apiKeyById: (tenant, id, trace) => this.memory.apiKeyById(tenant, id, trace),
      now: Date.now,
    })
    const allowsSemicolon = ({ target }: Route) =>
      target.kind === 'upstream' && config.upstreams.get(target.name)?.allowSemicolons === true
    const judge = new Judge({ table, authenticator, seats: this.memory, lease: this.lease, allowsSemicolon })
    return { config, table, judge }
  }

  #cached(store: Store, { connection, prefix }: SharedCache): SeatCache {
    return new SeatCache(store, connection, new Keys(prefix), this.history, systemClock.now)
  }

  /** Of this configuration: a request that meets it meets its admin spaces too. */
  #builtIn(config: Config): Route[] {
    const endpoints = createAdminApi({
      store: this.store,
      now: Date.now,
      announce: (committed) => this.#coherence.announce(committed),
    })
    return builtInRoutes(endpoints, (tenant) => config.tenants.get(tenant)?.adminSpace)
  }
}
