/** The optional settings of an upstream, and their defaults. */

import type { UpstreamConfig } from '../config/config.ts'
import type { TlsSettings } from '../http/client/connector.ts'
import type { UpstreamListener } from './upstream-events.ts'

/** `round-robin`, or the target with the fewest requests in flight (round-robin among equals). */
export type Balance = 'round-robin' | 'least-pending'

/** Times in ms, here and below. */
export interface UpstreamOptions {
  /** CIDR blocks of peers whose X-Forwarded-* are continued. None by default. */
  readonly trustedProxies?: readonly string[]
  /** The limit of connections to a target; further requests wait within their response timeout. */
  readonly connections?: number
  /** The limit of requests whose bodies are still arriving; null for half of the connections. */
  readonly uploads?: number | null
  /** How long a request waits before a request of an owner with more slots is evicted for it. */
  readonly evictionDelay?: number
  /** The time in which either side must send some of a body. */
  readonly bodyTimeout?: number
  readonly balance?: Balance
  /** The limit of requests of a target, including those that wait for a connection. */
  readonly maxPending?: number
  /** Active health checks; null for none. */
  readonly health?: HealthSettings | null
  /** For https targets. */
  readonly tls?: TlsSettings | null
  readonly ejection?: EjectionSettings
  readonly retries?: RetrySettings
  readonly listener?: UpstreamListener
}

export interface HealthSettings {
  /** Requested by GET without credentials; 2xx passes. */
  readonly path: string
  readonly interval: number
  /** For a whole check, including the connect. */
  readonly timeout: number
  /** Consecutive checks that restore a target, and that make it unavailable. */
  readonly healthy: number
  readonly unhealthy: number
}

export interface EjectionSettings {
  /** Consecutive: no connection, or one that ends before a response. */
  readonly failures: number
  /** The ejection time, doubled each time that the target fails again soon. */
  readonly backoff: number
  readonly maxBackoff: number
  /** While no target is available, one request in this time probes one. */
  readonly testInterval: number
}

export interface RetrySettings {
  /** Retries of one request. */
  readonly perRequest: number
  /** Retries as a fraction of the requests of the last seconds. */
  readonly share: number
  /** Always permitted, however few the requests are. */
  readonly perSecond: number
}

export type UpstreamSettings = Required<UpstreamOptions>

export const defaults: UpstreamSettings = Object.freeze({
  trustedProxies: [],
  connections: 256,
  uploads: null,
  evictionDelay: 500,
  bodyTimeout: 60_000,
  balance: 'least-pending',
  maxPending: 1024,
  health: null,
  tls: null,
  ejection: { failures: 3, backoff: 1000, maxBackoff: 30_000, testInterval: 100 },
  retries: { perRequest: 2, share: 0.2, perSecond: 3 },
  listener: {},
})

/** Applies the defaults. Throws on contradictory settings. */
export function settingsOf({ name, targets }: UpstreamConfig, options: UpstreamOptions): UpstreamSettings {
  const settings = { ...defaults, ...options }
  if (targets.length === 0) throw new Error(`upstream ${name} has no target`)
  const notHttps = targets.find(({ protocol }) => protocol !== 'https:')
  if (settings.tls !== null && notHttps !== undefined)
    throw new Error(`upstream ${name} has tls settings, but its target ${notHttps.origin} is not https`)
  if (settings.health !== null && !/^\/[!"$-~]*$/.test(settings.health.path))
    throw new Error(`upstream ${name}: health.path is not an absolute path of visible ASCII`)
  return settings
}
