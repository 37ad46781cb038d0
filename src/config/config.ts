/**
 * The types of a loaded configuration: frozen and complete, with every default. Times in ms, sizes in bytes. The type of a
 * section is what its builder returns: each setting is described where it is read.
 */

import type { CorsSettings } from '../model/cors.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { Place, Route } from '../model/route.ts'
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
export type { TenantConfig, TokenConfig } from './tenant-settings.ts'
export type { UpstreamConfig, UpstreamHealth, UpstreamProtocol, UpstreamTls } from './upstreams.ts'

/** The entries of all route tables that one list names. */
export interface TablesConfig {
  readonly routes: readonly RouteEntry[]
  /** The content hash of the tables; see `content-hash.ts`. */
  readonly hash: string
}

/** What the main file alone determines. */
type Settings = Readonly<ReturnType<typeof buildSettings>>

export interface Config extends Settings, TablesConfig {
  /** The file it came from, as given on the command line. */
  readonly file: string
  /** Every file it was read from, for watching: absolute paths, and globs whose new matches would count. */
  readonly files: readonly string[]
  /** State of those files when they were read: what changed since then is not in here. */
  readonly signature: string
  /** Candidate tables, by which live requests are also judged, never answered; null: there are none. */
  readonly shadow: TablesConfig | null
  /** From the environment alone. */
  readonly openTelemetry: OpenTelemetryConfig
  /** From the environment alone: by which proxies identity providers and other issuers are asked. */
  readonly providerProxies: ProviderProxies
  /** Of requests to them; left out: the defaults. Not from the files: for programs that start a gateway of their own. */
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
 * One line of a route table, checked by itself but not yet against the others. Left out: `hosts` for those that no other table
 * names, `space` for the header `Space`.
 */
export interface RouteEntry
  extends
    Pick<Route, 'method' | 'requirement' | 'maxBody' | 'responseTimeout' | 'signIn'>,
    Partial<Pick<Route, 'hosts' | 'space'>> {
  /** The pattern as written, without the prefix. */
  readonly path: string
  /** Stands before the pattern, such as `/code`; left out: nothing. */
  readonly prefix?: string
  /** The prefix is taken off the path that is forwarded. */
  readonly stripPrefix?: boolean
  readonly upstream: string
  /** Callers of other tenants are refused; left out: none is. */
  readonly tenant?: string
  /** Of its table; left out: pages of other origins get no CORS headers from the gateway. */
  readonly cors?: CorsSettings
  /** A request takes a token of each; left out: none. */
  readonly rateLimits?: readonly RateLimit[]
  readonly place: Place
}

/** What only gateways of one deployment know: the first secret of each tenant, in the order of their ids. */
export function firstSecrets({ tenants }: Pick<Config, 'tenants'>): Uint8Array[] {
  const ids = [...tenants.keys()].sort()
  return ids.flatMap((id) => tenants.get(id)?.token.secrets.slice(0, 1) ?? [])
}
