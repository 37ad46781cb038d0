/**
 * The types of a loaded configuration, which is frozen and has every default. Times are in ms, sizes in
 * bytes. The type of a section comes from the declarations of its keys, which describe each setting.
 */

import type { ActiveTables } from '../../seats-admin/model/tables-version.ts'
import type { CorsSettings } from '../model/cors.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { McpLine, Place, Route } from '../model/route.ts'
import type { buildSettings } from './build.ts'
import type { OpenTelemetryConfig } from './open-telemetry.ts'
import type { ProviderLimits } from './provider-limits.ts'
import type { ProviderProxies } from './provider-proxies.ts'

export type { Address } from './addresses.ts'
export type { StoreConfig } from './store-settings.ts'
export type { IdentityAlgorithm } from './identity.ts'
export type { ClaimMatch, IssuerConfig } from './issuer-settings.ts'
export type { ClientAuth, OidcConfig } from './oidc-settings.ts'
export type { RedisConfig } from './redis-settings.ts'
export type { SettingSource } from './section.ts'
export type { TablesLocation } from './tables-location.ts'
export type { TenantConfig, TokenConfig } from './tenant-settings.ts'
export type { UpstreamConfig, UpstreamHealth, UpstreamProtocol, UpstreamTls } from './upstreams.ts'

/** The entries of all route tables in one list. */
export interface TablesConfig {
  readonly routes: readonly RouteEntry[]
  /** The content hash of the tables; see `content-hash.ts`. */
  readonly hash: string
}

/** The settings that the main file alone determines. */
type Settings = Readonly<ReturnType<typeof buildSettings>>

export interface Config extends Settings, TablesConfig {
  /** The version of the tables in the store; 0: there is none, or the tables are in files. */
  readonly tableSet: Pick<ActiveTables, 'version' | 'digest'>
  /** The main file, as the command line names it. */
  readonly file: string
  /** The files of the configuration, for watching: absolute paths, and globs, which may match new files. */
  readonly files: readonly string[]
  /** The state of those files when they were read. The configuration does not have later changes. */
  readonly signature: string
  /**
   * The candidate tables, which the gateway compares with the active ones for each request; null: there are
   * none.
   */
  readonly shadow: TablesConfig | null
  /** The tracing settings, which come from the environment alone. */
  readonly openTelemetry: OpenTelemetryConfig
  /**
   * The HTTP proxies for requests to identity providers and other issuers, which come from the environment
   * alone.
   */
  readonly providerProxies: ProviderProxies
  /**
   * The limits of requests to providers; left out: the defaults. No file has them: programs that start a
   * gateway set them.
   */
  readonly providerLimits?: ProviderLimits
}

export type Limits = Config['limits']
export type MemoryBounds = Config['memory']
export type DecisionConfig = NonNullable<Config['decision']>
export type IdentityConfig = NonNullable<Config['identity']>
export type ListenerConfig = Config['listen'][number]
export type ListenerTls = NonNullable<ListenerConfig['tls']>
export type ServerCertificate = ListenerTls['certificates'][number]

/**
 * One entry of a route table, checked by itself but not yet against the others. If `hosts` is left out, the
 * entry serves the hosts that no other table names; if `space` is left out, the header `Space` names the
 * space.
 */
export interface RouteEntry
  extends
    Pick<Route, 'method' | 'requirement' | 'maxBody' | 'responseTimeout' | 'signIn'>,
    Partial<Pick<Route, 'hosts' | 'space'>> {
  /** The pattern as the table has it, without the prefix. */
  readonly path: string
  /** The prefix of the pattern, such as `/code`; left out: none. */
  readonly prefix?: string
  /** Whether the forwarded path lacks the prefix. */
  readonly stripPrefix?: boolean
  readonly upstream: string
  /** The only tenant whose callers are accepted; left out: every tenant's. */
  readonly tenant?: string
  /** The CORS policy of its table; left out: pages of other origins get no CORS headers from the gateway. */
  readonly cors?: CorsSettings
  /** The rate limits. A request takes a token from each; left out: there is none. */
  readonly rateLimits?: readonly RateLimit[]
  /** What the entry is of an MCP server; left out: an entry of `routes`. */
  readonly mcp?: McpEntry
  readonly place: Place
}

/** An entry for an MCP server: its path, its metadata (RFC 9728), or a line. */
export type McpEntry =
  | {
      readonly part: 'server'
      readonly resource: string
      readonly filtersLists: boolean
      readonly bodyTimeout: number | null
    }
  | { readonly part: 'metadata'; readonly document: string }
  | ({ readonly part: 'line' } & McpLine)

/** The first secret of each tenant, in the order of the ids. Only gateways of one deployment have them. */
export function firstSecrets({ tenants }: Pick<Config, 'tenants'>): Uint8Array[] {
  const ids = [...tenants.keys()].sort()
  return ids.flatMap((id) => tenants.get(id)?.token.secrets.slice(0, 1) ?? [])
}
