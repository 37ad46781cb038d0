/** What a loaded configuration looks like: frozen, complete, every default filled in. Times in ms, sizes in bytes. */

import type { Place, Requirement } from '../exchange.ts'

export interface Config {
  /** The file it came from, as given on the command line. */
  readonly file: string
  /** Every file it was read from, for watching: absolute paths, and globs whose new matches would count. */
  readonly files: readonly string[]
  /** State of those files when they were read: what changed since then is not in here. */
  readonly signature: string
  readonly listen: Address
  readonly ops: Address
  /** Processes that decide. */
  readonly workers: number
  readonly store: StoreConfig
  /** Null: this machine alone, or a fleet that has only its store. */
  readonly redis: RedisConfig | null
  readonly defaultTenant: string | null
  readonly tenants: ReadonlyMap<string, TenantConfig>
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>
  readonly routes: readonly RouteEntry[]
  /** CIDRs whose X-Forwarded-* are believed. */
  readonly trustedProxies: readonly string[]
  /** How long requests in flight may go on after SIGTERM. */
  readonly drain: number
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** `path`: absolute. `url`: with its credentials, so never to be shown. */
export type StoreConfig =
  { readonly kind: 'sqlite'; readonly path: string } | { readonly kind: 'postgres'; readonly url: string }

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
}

export interface TokenConfig {
  /** Raw bytes, at least 32 each; the first signs, all verify. */
  readonly secrets: readonly Uint8Array[]
  readonly algorithm: 'HS256' | 'HS384' | 'HS512'
  readonly lifetime: number
  readonly leeway: number
}

export interface UpstreamConfig {
  readonly name: string
  /** Origins (scheme, host, port). One is used for now. */
  readonly targets: readonly URL[]
  readonly connectTimeout: number
  readonly responseTimeout: number
  readonly passAuthorization: boolean
  readonly passHost: boolean
  readonly passOverrides: boolean
  readonly allowSemicolons: boolean
}

/** One line of a route table, checked by itself but not yet against the others. */
export interface RouteEntry {
  readonly method: string
  readonly path: string
  readonly requirement: Requirement
  readonly upstream: string
  readonly responseTimeout: number | null
  readonly maxBody: number
  readonly place: Place
}

export const DEFAULT_MAX_BODY = 10 * 1024 * 1024
