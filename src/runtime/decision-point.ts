/**
 * The decision point of a process: the store, its memory, the lease on that memory, and a decision engine for
 * each configuration. It has no listener.
 */

import {
  type FleetView,
  type InstanceSecrets,
  type Store,
  type TableSet,
  type TablesService,
  withSeatsFrom,
} from '../../seats-admin/index.ts'
import { Authenticator } from '../decision/authn/authenticator.ts'
import type { OtherIssuer } from '../decision/authn/bearer.ts'
import { KeyUses } from '../decision/authn/key-uses.ts'
import { builtInRoutes } from '../pipeline/built-in-routes.ts'
import { openConsole } from '../pipeline/console-site.ts'
import { openScim } from '../pipeline/scim-site.ts'
import { systemClock } from '../coherence/clock.ts'
import { CurrentFiles } from '../coherence/current-files.ts'
import { CurrentTables } from '../coherence/current-tables.ts'
import type { ChangeListener } from '../coherence/feed-reading.ts'
import { History } from '../coherence/history.ts'
import type { Coherence } from '../coherence/coherence.ts'
import { Instance } from '../coherence/instance.ts'
import { Lease } from '../coherence/lease.ts'
import type { Config, MemoryBounds, TablesConfig } from '../config/config.ts'
import { ConfigError, distinctFaults } from '../config/faults.ts'
import { methodsOf } from '../config/methods.ts'
import { seatsFromOf } from '../config/seats-source.ts'
import type { Activity } from '../model/activity.ts'
import { CacheLookups } from '../model/cache-lookups.ts'
import type { Trace } from '../model/decision.ts'
import type { Route } from '../model/route.ts'
import { DecisionEngine, type DecisionEngineOptions } from '../decision/engine.ts'
import { SeatCache, type SharedCache } from '../redis/seat-cache.ts'
import { Changes } from '../pipeline/pending-changes.ts'
import type { ConfiguredFiles } from '../pipeline/evaluate-current.ts'
import { exceptionsOf } from '../decision/router/pattern.ts'
import { type RouteTable, tableCompilation } from '../decision/router/table.ts'
import { BETWEEN_REQUESTS, inSlices } from '../lib/time-slices.ts'
import { serveKeySet } from '../identity/jwks-endpoint.ts'
import { SignedIdentity } from '../identity/signed-identity.ts'
import { SeatMemory } from '../decision/seats/memory.ts'
import { directSource } from '../decision/seats/record-sources.ts'
import { ReceivedChanges } from '../decision/seats/received-changes.ts'
import { ShadowEngine } from '../decision/shadow.ts'
import { ProcessActivity } from '../telemetry/process-activity.ts'
import { AdministrationWatch } from './administration-watch.ts'
import { type DecidingTables, type MakeEndpoints } from './endpoint-deps.ts'
import type { OtherIssuers } from './other-issuers.ts'
import { type RevocationCounts, revocationDeps } from './revocation-deps.ts'
import type { SignIn, SignInOptions, SignInPorts } from './sign-in.ts'

/** The divisor of the bounds of live caches that gives those of candidate tables. */
const SHADOW_SHARE = 8

/** One configuration with its compiled table and engine. */
export interface CompiledConfig {
  readonly config: Config
  readonly table: RouteTable
  readonly engine: DecisionEngine
  /** The engine of the candidate tables; null: there are none. */
  readonly shadow: ShadowEngine | null
  /** Sign-in; null if no tenant has an identity provider. */
  readonly signIn: SignIn | null
  /** The other issuers of tokens; null if no tenant has any. */
  readonly otherIssuers: OtherIssuers | null
  /** The signer of identities; null if identity is not signed. */
  readonly identity: SignedIdentity | null
}

interface TablesInStore extends TableSet {
  /** The tenant of the tables. */
  readonly tenant: string
}

export function tablesInStore({ tables, tableSet }: Config): TablesInStore | null {
  return tables.from === 'files' ? null : { tenant: tables.tenant, ...tableSet }
}

interface DecisionPointOptions {
  readonly store: Store
  readonly coherence: Coherence
  readonly cache: SharedCache | null
  readonly ports: SignInPorts
  readonly memory: MemoryBounds
  /** The tables of the store with which the process starts; null: the tables are in files. */
  readonly tables: TablesInStore | null
  /** Pushes tables to the store; null: they are in files. */
  readonly tablesService: TablesService<Config> | null
  readonly endpoints: MakeEndpoints
  /**
   * The fleet with the changes of a tenant. Rejects when the store, or the process that follows its feed,
   * does not respond.
   */
  readonly fleet: (tenant: string) => Promise<FleetView>
  /** The secrets of a tenant at each instance. Rejects as `fleet`. */
  readonly fleetSecrets: (tenant: string) => Promise<readonly InstanceSecrets[]>
  /**
   * The activity of all workers of the instance. Left out: this process is alone.
   *
   * @param own the activity of this process
   */
  readonly gathered?: (own: ProcessActivity) => Activity
}

export class DecisionPoint {
  readonly store: Store
  readonly memory: SeatMemory
  readonly lease: Lease
  /** The tables of the store; null: the tables are in files. */
  readonly tables: CurrentTables | null
  /** The right to decide by the active configuration. */
  readonly current: ConfiguredFiles
  readonly lookups = new CacheLookups()
  readonly keyUses = new KeyUses()
  readonly history = new History()
  /** The input of the re-evaluation of open exchanges. */
  readonly changes = new Changes()
  readonly revocations: RevocationCounts = { closed: 0, partial: 0 }
  readonly administration: AdministrationWatch
  /** The activity of this process. */
  readonly activity = new ProcessActivity()
  readonly #gathered: Activity
  readonly #options: DecisionPointOptions

  /** The lease begins with the first reading of the feed. */
  constructor(options: DecisionPointOptions) {
    const { store, coherence, cache, memory, gathered } = options
    this.store = store
    this.administration = new AdministrationWatch(options.ports.log)
    this.#options = options
    this.#gathered = gathered?.(this.activity) ?? this.activity
    this.memory = new SeatMemory(
      cache === null ? store : new SeatCache(store, cache, this.history, systemClock.now, this.lookups.redis),
      directSource(store),
      memory.seats,
      { lookups: this.lookups, received: new ReceivedChanges((seq) => this.lease.readUpTo(seq)) },
    )
    const listeners: ChangeListener[] = [this.memory, this.history, this.changes]
    this.lease = new Lease(coherence, listeners, systemClock)
    this.tables =
      options.tables === null
        ? null
        : new CurrentTables(
            options.tables,
            this.lease,
            coherence,
            (mark) => this.changes.addTables(mark),
            systemClock,
          )
    if (this.tables !== null) listeners.push(this.tables)
    this.current = this.tables ?? new CurrentFiles(this.lease, coherence, systemClock)
    coherence.join({
      applyReading: (reading) => this.lease.applyReading(reading),
      applyAnnouncement: (changes) => this.lease.applyAnnouncement(changes),
      cutBy: (mark) => this.changes.cutBy(mark),
    })
  }

  /**
   * For a command that makes one decision on the current state. It joins no fleet, so that writers need not
   * wait for its acknowledgement. Rejects when the store can't be read.
   */
  static async forOneDecision(
    store: Store,
    ports: SignInPorts,
    memory: MemoryBounds,
    endpoints: MakeEndpoints,
  ): Promise<DecisionPoint> {
    const listener = { feed: () => {}, answered: () => {}, acknowledged: () => {} }
    const parts = { id: '', name: '', source: store, list: null, bus: null, clock: systemClock, listener }
    const coherence = new Instance(parts)
    const unserved = () => Promise.reject(new Error('no request is served'))
    const decisionPoint = new DecisionPoint({
      store,
      coherence,
      cache: null,
      ports,
      memory,
      tables: null,
      tablesService: null,
      endpoints,
      fleet: unserved,
      fleetSecrets: unserved,
    })
    await decisionPoint.lease.renewed()
    return decisionPoint
  }

  /** Rejects with a ConfigError that lists the faults of all route tables. */
  async compile(config: Config): Promise<CompiledConfig> {
    const revoking = revocationDeps(config, this.#options.coherence, this.revocations, () => deciding)
    const signIn = await this.#signIn(config, revoking)
    const otherIssuers = await this.#otherIssuers(config, signIn)
    const otherIssuer = otherIssuers?.verify ?? signIn?.providerToken ?? null
    const identity = this.#identity(config)
    // The built-in endpoints are routes of the table, and some answer questions about it.
    const builtIn = this.#builtIn(config, { signIn, identity, revoking }, () => deciding)
    const compile = ({ routes }: TablesConfig) =>
      inSlices(tableCompilation(routes, config.upstreams, builtIn, config.api.hosts), BETWEEN_REQUESTS)
    const { table, faults } = await compile(config)
    const shadow = config.shadow === null ? null : await compile(config.shadow)
    const all = [...faults, ...(shadow?.faults ?? [])]
    if (all.length > 0) throw new ConfigError(distinctFaults(all))
    const engine: DecisionEngineOptions = {
      table,
      authenticator: this.#authenticator(config, signIn, otherIssuer),
      seats: this.memory,
      restrictions: this.memory,
      lease: this.lease,
      methods: methodsOf(config),
      targetBytes: config.limits.targetBytes,
      config: config.hash,
      exceptions: (route) => exceptionsOf(config.upstreams, route),
    }
    const deciding = { config, table, engine }
    return {
      config,
      table,
      engine: new DecisionEngine({ ...engine, lookups: this.lookups }),
      shadow:
        shadow === null
          ? null
          : this.#shadow(config, signIn, otherIssuer, { ...engine, table: shadow.table }),
      signIn,
      otherIssuers,
      identity,
    }
  }

  #identity({ identity, memory }: Config): SignedIdentity | null {
    const { identities: lookups } = this.lookups
    return identity === null ? null : new SignedIdentity(identity, { memory: memory.identities, lookups })
  }

  #authenticator(config: Config, signIn: SignIn | null, otherIssuer: OtherIssuer | null): Authenticator {
    return new Authenticator({
      ...this.#callers(config),
      sessions: signIn?.cookies ?? null,
      otherIssuer,
      memory: config.memory,
      lookups: this.lookups,
      keyUses: this.keyUses,
    })
  }

  /**
   * Candidate tables may need a credential that the live decision did not. They decide without effects at an
   * identity provider, and with caches of their own, so that they evict no credential and use no session of a
   * live request.
   */
  #shadow(
    config: Config,
    signIn: SignIn | null,
    otherIssuer: OtherIssuer | null,
    parts: DecisionEngineOptions,
  ): ShadowEngine {
    const { memory } = config
    const share = (bytes: number) => Math.ceil(bytes / SHADOW_SHARE)
    const authenticator = new Authenticator({
      ...this.#callers(config),
      sessions: signIn?.passiveCookies ?? null,
      otherIssuer: otherIssuer === null ? null : () => Promise.reject(new Error('not verified again')),
      memory: { ...memory, tokens: share(memory.tokens), apiKeys: share(memory.apiKeys) },
    })
    return new ShadowEngine({ ...parts, authenticator })
  }

  #callers({ tenants, defaultTenant }: Config) {
    return {
      tenants,
      defaultTenant,
      apiKeyById: (tenant: string, id: string, trace?: Trace) => this.memory.apiKeyById(tenant, id, trace),
      sessionById: (tenant: string, id: string, trace?: Trace) => this.memory.sessionById(tenant, id, trace),
      now: Date.now,
    }
  }

  /** Loads the code of OpenID Connect only if a tenant has a provider. */
  async #signIn(config: Config, revoking: SignInOptions['revoking']): Promise<SignIn | null> {
    if ([...config.tenants.values()].every(({ oidc }) => oidc === null)) return null
    const { openSignIn } = await import('./sign-in.ts')
    const { store, memory, lease } = this
    const announce: SignInOptions['announce'] = (committed) => this.#options.coherence.announce(committed)
    return openSignIn(config, { store, revoking, memory, lease, ...this.#options.ports, announce })
  }

  /** Needs no sign-in. */
  async #otherIssuers(config: Config, signIn: SignIn | null): Promise<OtherIssuers | null> {
    if ([...config.tenants.values()].every(({ issuers = [] }) => issuers.length === 0)) return null
    const { openOtherIssuers } = await import('./other-issuers.ts')
    return openOtherIssuers(config, this.#options.ports.log, signIn?.providerToken ?? null)
  }

  /**
   * Built per configuration, so that a request sees the admin spaces and providers of its own configuration.
   */
  #builtIn(
    config: Config,
    {
      signIn,
      identity,
      revoking,
    }: Pick<CompiledConfig, 'signIn' | 'identity'> & Pick<SignInOptions, 'revoking'>,
    compiled: () => DecidingTables,
  ): Route[] {
    const seatsFrom = seatsFromOf(config)
    const store = withSeatsFrom(this.store, seatsFrom)
    const endpoints = this.#options.endpoints({
      compiled,
      store,
      scimMode: (tenant) => config.tenants.get(tenant)?.scim?.user.mode ?? null,
      seatsFrom,
      now: Date.now,
      announce: (committed) => this.#options.coherence.announce(committed),
      revoking,
      fleet: this.#options.fleet,
      fleetSecrets: this.#options.fleetSecrets,
      tablesService: this.#options.tablesService,
      seatBytes: config.limits.seatBytes,
      activity: this.#gathered,
    })
    return builtInRoutes(config.api, {
      endpoints,
      adminSpace: (tenant) => config.tenants.get(tenant)?.adminSpace,
      seatsFrom,
      signIn: signIn?.serve ?? null,
      keySet: identity === null ? null : serveKeySet(identity),
      console: openConsole(config.api),
      scim: openScim(config, {
        store,
        now: Date.now,
        announce: (committed) => this.#options.coherence.announce(committed),
        revoking,
        written: (tenant) => this.administration.look(store, tenant),
      }),
    })
  }
}
