/**
 * The decision point of a process: the store, its memory, the lease on that memory, and a decision engine for each
 * configuration. It has no listener.
 */

import type { Store } from '../../seats-admin/index.ts'
import { createAdminApi } from '../../seats-admin/index.ts'
import { Authenticator } from '../decision/authn/authenticator.ts'
import { builtInRoutes, signInRoutes } from '../pipeline/built-in-routes.ts'
import { systemClock } from '../coherence/clock.ts'
import { History } from '../coherence/history.ts'
import { type Coherence, Instance } from '../coherence/instance.ts'
import { Lease } from '../coherence/lease.ts'
import type { Config, MemoryBounds } from '../config/config.ts'
import { ConfigError } from '../config/faults.ts'
import { CacheLookups } from '../model/cache-lookups.ts'
import type { Route } from '../model/route.ts'
import { DecisionEngine } from '../decision/engine.ts'
import { SeatCache, type SharedCache } from '../redis/seat-cache.ts'
import { Changes } from '../pipeline/pending-changes.ts'
import { compileTable, type RouteTable } from '../decision/router/table.ts'
import { SeatMemory } from '../decision/seats/memory.ts'
import type { SignIn, SignInOptions, SignInPorts } from './sign-in.ts'

/** One configuration with its compiled table and engine. */
export interface CompiledConfig {
  readonly config: Config
  readonly table: RouteTable
  readonly engine: DecisionEngine
  /** Null where no tenant has an identity provider. */
  readonly signIn: SignIn | null
}

export interface DecisionPointOptions {
  readonly store: Store
  readonly coherence: Coherence
  readonly cache: SharedCache | null
  readonly ports: SignInPorts
  readonly memory: MemoryBounds
}

export class DecisionPoint {
  readonly store: Store
  readonly memory: SeatMemory
  readonly lease: Lease
  readonly lookups = new CacheLookups()
  readonly history = new History()
  /** Input of the re-evaluation of open exchanges. */
  readonly changes = new Changes()
  readonly #coherence: Coherence
  readonly #ports: SignInPorts

  /** The lease begins with the first reading of the feed. */
  constructor({ store, coherence, cache, ports, memory }: DecisionPointOptions) {
    this.store = store
    this.#coherence = coherence
    this.#ports = ports
    this.memory = new SeatMemory(
      cache === null ? store : new SeatCache(store, cache, this.history, systemClock.now, this.lookups.redis),
      store.sessions,
      memory.seats,
      this.lookups,
    )
    this.lease = new Lease(coherence, [this.memory, this.history, this.changes], systemClock)
    coherence.join(this.lease)
  }

  /**
   * For a command that makes one decision on the current state. It joins no fleet, so that writers need not wait for
   * its acknowledgement. Rejects when the store can't be read.
   */
  static async forOneDecision(
    store: Store,
    ports: SignInPorts,
    memory: MemoryBounds,
  ): Promise<DecisionPoint> {
    const listener = { feed: () => {}, answered: () => {}, acknowledged: () => {} }
    const parts = { id: '', name: '', source: store, list: null, bus: null, clock: systemClock, listener }
    const coherence = new Instance(parts)
    const decisionPoint = new DecisionPoint({ store, coherence, cache: null, ports, memory })
    await decisionPoint.lease.renewed()
    return decisionPoint
  }

  /** Rejects with a ConfigError that lists the faults of all route tables. */
  async compile(config: Config): Promise<CompiledConfig> {
    const signIn = await this.#signIn(config)
    const { table, faults } = compileTable(config.routes, config.upstreams, this.#builtIn(config, signIn))
    if (faults.length > 0) throw new ConfigError(faults)
    const authenticator = new Authenticator({
      tenants: config.tenants,
      defaultTenant: config.defaultTenant,
      apiKeyById: (tenant, id, trace) => this.memory.apiKeyById(tenant, id, trace),
      sessions: signIn?.cookies ?? null,
      otherIssuer: signIn?.providerToken ?? null,
      now: Date.now,
      memory: config.memory,
      lookups: this.lookups,
    })
    const upstreamOf = ({ target }: Route) =>
      target.kind === 'upstream' ? config.upstreams.get(target.name) : undefined
    const engine = new DecisionEngine({
      table,
      authenticator,
      seats: this.memory,
      lease: this.lease,
      lookups: this.lookups,
      targetBytes: config.limits.targetBytes,
      allowsSemicolon: (route) => upstreamOf(route)?.allowSemicolons === true,
      allowsEncodedSlash: (route) => upstreamOf(route)?.allowEncodedSlashes === true,
    })
    return { config, table, engine, signIn }
  }

  /** OpenID Connect is loaded only where a tenant has a provider. */
  async #signIn(config: Config): Promise<SignIn | null> {
    if ([...config.tenants.values()].every(({ oidc }) => oidc === null)) return null
    const { openSignIn } = await import('./sign-in.ts')
    const { store, memory } = this
    const announce: SignInOptions['announce'] = (committed) => this.#coherence.announce(committed)
    return openSignIn(config, { store, memory, ...this.#ports, announce })
  }

  /** Built per configuration, so that a request sees the admin spaces and providers of its own configuration. */
  #builtIn(config: Config, signIn: SignIn | null): Route[] {
    const endpoints = createAdminApi({
      store: this.store,
      now: Date.now,
      announce: (committed) => this.#coherence.announce(committed),
      seatBytes: config.limits.seatBytes,
    })
    return [
      ...builtInRoutes(endpoints, (tenant) => config.tenants.get(tenant)?.adminSpace),
      ...signInRoutes(signIn?.serve ?? null),
    ]
  }
}
