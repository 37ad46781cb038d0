/** The types of a loaded configuration: frozen and complete, with every default. Times in ms, sizes in bytes. */

import type { IssuerConfig } from './issuer-config.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import type { CorsSettings } from '../model/cors.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { Place, Requirement } from '../model/route.ts'
import type { SpaceSource } from '../model/space-source.ts'
import type { OpenTelemetryConfig } from './open-telemetry/types.ts'
import type { ProviderProxies } from './provider-proxies.ts'

/** The entries of all route tables that one list names. */
export interface TablesConfig {
  readonly routes: readonly RouteEntry[]
  /** The content hash of the tables; see `content-hash.ts`. */
  readonly hash: string
}

export interface Config extends TablesConfig {
  /** The file it came from, as given on the command line. */
  readonly file: string
  /** Every file it was read from, for watching: absolute paths, and globs whose new matches would count. */
  readonly files: readonly string[]
  /** State of those files when they were read: what changed since then is not in here. */
  readonly signature: string
  /** At least one. */
  readonly listen: readonly ListenerConfig[]
  readonly ops: Address
  /** The origin at which other programs reach this instance, not its fleet; null: not known. */
  readonly advertise: string | null
  /** Null without a listener for questions of other proxies. */
  readonly decision: DecisionConfig | null
  /** Host names that the operators' listener accepts beside addresses and `localhost`; in lower case. */
  readonly opsHosts: readonly string[]
  readonly workers: number
  readonly store: StoreConfig
  /** Null without a shared cache and message bus. */
  readonly redis: RedisConfig | null
  readonly defaultTenant: string | null
  readonly tenants: ReadonlyMap<string, TenantConfig>
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>
  /** Candidate tables, by which live requests are also judged, never answered; null: there are none. */
  readonly shadow: TablesConfig | null
  readonly api: BuiltInPlace
  /** CIDR blocks of peers whose X-Forwarded-* are continued. */
  readonly trustedProxies: readonly string[]
  /** Connections begin with a PROXY protocol header; only those from `trustedProxies`. */
  readonly proxyProtocol: boolean
  readonly limits: Limits
  /** By name. */
  readonly rateLimits: ReadonlyMap<string, RateLimit>
  /** Accepted methods beside those of IANA's registry. */
  readonly methods: readonly string[]
  readonly memory: MemoryBounds
  /** Null: upstreams get the identity of callers unsigned alone. */
  readonly identity: IdentityConfig | null
  /** Requests are counted by route; by upstream otherwise. */
  readonly metrics: { readonly routes: boolean }
  /** From the environment alone. */
  readonly openTelemetry: OpenTelemetryConfig
  /** From the environment alone: by which proxies identity providers and other issuers are asked. */
  readonly providerProxies: ProviderProxies
  /** How long entries of the audit are kept. */
  readonly auditRetention: number
  /** How long a start waits for a slow or unavailable store. */
  readonly startupTimeout: number
  /** How long requests in flight may continue after SIGTERM. */
  readonly drain: number
  /** How long requests are accepted after SIGTERM, while `/readyz` responds 503 for load balancers. */
  readonly drainDelay: number
  /** For messages about the surroundings: what a setting names may be missing, taken or broken. */
  readonly sources: SettingSources
}

/** Where a setting is written, for a message about a fault that appears only when the setting is used. */
export interface SettingSource {
  /** `store`, `limits.connections`. */
  readonly key: string
  /** The beginning of the file for a setting that is left out. */
  readonly place: Place
  readonly isDefault: boolean
  /** Names of the environment variables that the value contains. Never their values, which may be secrets. */
  readonly variables: readonly string[]
  /** Whether the value is one variable and nothing else. */
  readonly isVariable: boolean
}

/** `listeners`: of each address of `listen`. */
export interface SettingSources extends Readonly<
  Record<'listen' | 'ops' | 'decision' | 'store' | 'redis' | 'tenants' | 'connections', SettingSource>
> {
  /** Of the tenants with an identity provider, by their ids. */
  readonly issuers: ReadonlyMap<string, SettingSource>
  /** Of each issuer of tokens, by the tenant's id, in the order of `TenantConfig.issuers`. */
  readonly tokenIssuers: ReadonlyMap<string, readonly SettingSource[]>
  /** Of each target, by the name of its upstream. */
  readonly targets: ReadonlyMap<string, readonly SettingSource[]>
  readonly listeners: readonly SettingSource[]
}

/** The limits of clients, per process. */
export interface Limits {
  /** Of a header section, request line included. */
  readonly headerBytes: number
  readonly headerFields: number
  readonly targetBytes: number
  /** Until a header section is complete. */
  readonly headerTimeout: number
  /** Connections in lingering close: the last response is sent, and the client still sends. Not counted as open. */
  readonly lingeringConnections: number
  /** Of a lingering close in all, and until the next bytes. */
  readonly lingeringTime: number
  readonly lingeringTimeout: number
  /** Of a connection between requests. */
  readonly idleTimeout: number
  /** Until the next bytes of a body, on either side, for upstreams without a time of their own. */
  readonly bodyTimeout: number
  /** Bytes of a body, for routes without a limit of their own; Infinity for no limit. */
  readonly maxBody: number
  /** Open at once. */
  readonly connections: number
  /** Of one client address, or of one IPv6 network of 64 bits. */
  readonly connectionsPerAddress: number
  /** Requests in flight of one HTTP/2 connection. */
  readonly http2Streams: number
  /** With a request of one tenant in flight, WebSockets included. */
  readonly connectionsPerTenant: number
  /** Open at once: in all, of one tenant, of one caller. */
  readonly websockets: number
  readonly websocketsPerTenant: number
  readonly websocketsPerCaller: number
  /** Of a Seat's record; see `seatSize` in `seats-admin/model/seat.ts`. */
  readonly seatBytes: number
}

/** Bounds of a process's caches and buffers in bytes. Sizes are upper estimates. */
export interface MemoryBounds {
  /** Verified tokens. */
  readonly tokens: number
  /** Hashes of accepted API keys with their key ids. */
  readonly apiKeys: number
  /** Seats, API key records and sign-in sessions, together. */
  readonly seats: number
  /** Buffered bytes of client connections: partial heads, pipelined requests, bodies that wait, unread responses. */
  readonly connections: number
  /** Signed identities. */
  readonly identities: number
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** The listener that answers other proxies whether they may forward a request. */
export interface DecisionConfig {
  readonly listen: Address
  /** CIDR blocks of the peers that may ask. At least one. */
  readonly clients: readonly string[]
  /** The public origin of the listener, without a final slash; null where it is not configured. */
  readonly url: string | null
}

/** A listener of clients. */
export interface ListenerConfig extends Address {
  /** Null for plain HTTP. */
  readonly tls: ListenerTls | null
  /** HTTP/2 is offered by ALPN. Only with TLS. */
  readonly http2: boolean
}

export type ClientAuthentication = 'none' | 'request' | 'require'

/** PEM texts. */
export interface ListenerTls {
  /** At least one. The first one is for clients that ask for no name. */
  readonly certificates: readonly ServerCertificate[]
  readonly minVersion: '1.2' | '1.3'
  /** Not null unless `clientAuth` is `none`. */
  readonly clientCa: string | null
  /** `request`: a presented certificate must be valid. `require`: one must be presented. */
  readonly clientAuth: ClientAuthentication
}

export interface ServerCertificate {
  /** The certificate, then its intermediates. */
  readonly cert: string
  readonly key: string
  /** DNS names of the certificate in lower case, without a final dot; `*.` may stand for the first label. */
  readonly names: readonly string[]
}

/** `path`: absolute. `url`: with its credentials, so never to be shown. */
export type StoreConfig =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** A Redis or Valkey: cache and messenger of a fleet. Files are absolute paths. */
export interface RedisConfig {
  readonly mode: 'single' | 'sentinel' | 'cluster'
  readonly tls: boolean
  /** The server; the sentinels; some nodes of the cluster. */
  readonly nodes: readonly Address[]
  /** The master's name, for sentinels. */
  readonly master: string | null
  readonly db: number
  readonly username: string | null
  readonly password: string | null
  readonly sentinelUsername: string | null
  readonly sentinelPassword: string | null
  /** Of every key and channel. */
  readonly prefix: string
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
}

export interface TenantConfig {
  readonly id: string
  readonly adminSpace: string
  readonly token: TokenConfig
  /** Null for a tenant without sign-in. */
  readonly oidc: OidcConfig | null
  /** Whose tokens are accepted as bearer tokens beside the gateway's own and those of `oidc`; left out: none. */
  readonly issuers?: readonly IssuerConfig[]
}

export type IdentityAlgorithm = 'ES256' | 'EdDSA'

/** Of the JWT that tells upstreams who calls. */
export interface IdentityConfig {
  /** In lower case. */
  readonly header: string
  readonly algorithm: IdentityAlgorithm
  /** PEM texts of private keys of the algorithm, at least one: the first signs, all are published. */
  readonly keys: readonly string[]
  readonly lifetime: number
  /** The claim `iss`. */
  readonly issuer: string
}

export type ClientAuth = 'client_secret_basic' | 'client_secret_post' | 'none'

/** A tenant's identity provider. */
export interface OidcConfig {
  /** Exactly as the provider writes it: compared as text. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | null
  /** Null: by what discovery says. */
  readonly clientAuth: ClientAuth | null
  readonly scopes: readonly string[]
  /** A claim's name, or a path through objects: `realm_access.roles`. */
  readonly seatsClaim: string
  /** An absolute URL without query and fragment; its origin is the gateway's own, as browsers see it. */
  readonly redirectUri: string
  /** Plain http, to loopback addresses only. */
  readonly allowInsecure: boolean
  /** `host:port`: the provider's endpoints may be there also at an inner address. The issuer's own always may. */
  readonly endpointHosts: readonly string[]
  /** Tokens signed by the provider are accepted as bearer tokens. */
  readonly acceptProviderTokens: boolean
  /** Accepted in `aud` of such tokens, beside the client id. */
  readonly audience: readonly string[]
  /** Where the provider sends the browser after signing out. */
  readonly postLogoutRedirect: string | null
  readonly sessionLifetime: number
  /** Other origins whose forms may begin a sign-in. */
  readonly origins: readonly string[]
  /** Identifies users of this tenant; null if the provider serves only one tenant. */
  readonly tenantClaim: TenantClaim | null
}

/** A claim that identifies the tenant among several tenants of one provider. */
export interface TenantClaim {
  /** Like `seatsClaim`: a claim's name, or a path through objects. */
  readonly name: string
  /** The text that the claim is, or holds where it is a list. */
  readonly value: string
}

export interface TokenConfig {
  /** Raw bytes, at least 32 each; the first signs, all verify. */
  readonly secrets: readonly Uint8Array[]
  readonly algorithm: 'HS256' | 'HS384' | 'HS512'
  readonly lifetime: number
  readonly leeway: number
}

/** HTTP/1.1, HTTP/2 over TLS, or HTTP/2 without TLS by prior knowledge (RFC 9113, section 3.3). */
export type UpstreamProtocol = 'http1' | 'h2' | 'h2c'

export interface UpstreamConfig {
  readonly name: string
  /** Origins (scheme, host, port). */
  readonly targets: readonly URL[]
  /** Put before every forwarded path, such as `/api`; '': nothing. */
  readonly basePath: string
  /** `h2` has https targets only, `h2c` http targets only. */
  readonly protocol: UpstreamProtocol
  readonly balance: 'round-robin' | 'least-pending'
  /** Connections to a target at once. */
  readonly connections: number
  /** Of these, what requests may have whose bodies are still coming from their clients. Over HTTP/2: such requests. */
  readonly uploads: number
  /** How long a request waits for a place before one is ended for it whose caller holds more of them. */
  readonly evictionDelay: number
  /** Requests a target may have at once, those that wait for a connection included. */
  readonly maxPending: number
  /** How long either side may leave a body standing still. */
  readonly bodyTimeout: number
  /** How long a WebSocket may be without a byte from either end, and how long it may be open. */
  readonly websocketIdle: number
  readonly websocketLifetime: number
  /** Null: only what requests meet tells whether a target is well. */
  readonly health: UpstreamHealth | null
  /** For targets by https; null: public authorities, no certificate of our own. */
  readonly tls: UpstreamTls | null
  readonly connectTimeout: number
  readonly responseTimeout: number
  readonly passAuthorization: boolean
  readonly passHost: boolean
  readonly passOverrides: boolean
  readonly allowSemicolons: boolean
  readonly allowEncodedSlashes: boolean
}

/** Each target is asked whether it is well: GET, without credentials; 2xx is. */
export interface UpstreamHealth {
  readonly path: string
  readonly interval: number
  readonly timeout: number
  /** Good checks in a row that bring a target back, and bad ones that take it out. */
  readonly healthy: number
  readonly unhealthy: number
}

/** PEM texts. */
export interface UpstreamTls {
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
  readonly serverName: string | null
  readonly insecureSkipVerify: boolean
}

/** One line of a route table, checked by itself but not yet against the others. */
export interface RouteEntry {
  readonly method: string
  /** The pattern as written, without the prefix. */
  readonly path: string
  /** Canonical, `*.` for one label; left out: the hosts that no other table names. */
  readonly hosts?: readonly string[]
  /** Stands before the pattern, such as `/code`; left out: nothing. */
  readonly prefix?: string
  /** The prefix is taken off the path that is forwarded. */
  readonly stripPrefix?: boolean
  /** Left out: the header `Space`. */
  readonly space?: SpaceSource
  readonly requirement: Requirement
  readonly upstream: string
  readonly responseTimeout: number | null
  readonly maxBody: number
  /** The tenant whose provider an unauthenticated browser is redirected to; null for no redirect. */
  readonly signIn: string | null
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
