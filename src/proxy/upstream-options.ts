/** What an upstream can be told beside its addresses and timeouts, and what holds where it is told nothing. */

import type { UpstreamConfig } from '../config/config.ts'
import type { TlsSettings } from '../http/client/connector.ts'
import type { UpstreamListener } from './upstream-events.ts'

/** Who gets a request: each in turn, or the target with the fewest requests under way (among equals in turn). */
export type Balance = 'round-robin' | 'least-pending'

/** Times in ms, here and below. */
export interface UpstreamOptions {
  /** CIDRs whose X-Forwarded-* are continued. None by default. */
  readonly trustedProxies?: readonly string[]
  /** Connections to a target at once; more requests wait for one, within their response timeout. */
  readonly connections?: number
  /** Of these, what requests may have whose bodies are still coming; null: half of them. */
  readonly uploads?: number | null
  /** How long a request waits before one is ended for it whose caller holds more places. */
  readonly evictionDelay?: number
  /** How long either side may leave a body standing still. */
  readonly bodyTimeout?: number
  readonly balance?: Balance
  /** Requests a target may have at once, those that wait for a connection included. */
  readonly maxPending?: number
  /** Asks each target whether it is well; null: only what requests meet counts. */
  readonly health?: HealthSettings | null
  /** For targets by https. */
  readonly tls?: TlsSettings | null
  readonly ejection?: EjectionSettings
  readonly retries?: RetrySettings
  readonly listener?: UpstreamListener
}

export interface HealthSettings {
  /** Asked by GET, without credentials; 2xx is well. */
  readonly path: string
  readonly interval: number
  /** For the whole of a check, the connecting included. */
  readonly timeout: number
  /** Good checks in a row that bring a target back, and bad ones that take it out. */
  readonly healthy: number
  readonly unhealthy: number
}

export interface EjectionSettings {
  /** In a row: no connection, or one that ends before an answer. */
  readonly failures: number
  /** How long a target is left alone after that; doubled each time it goes out again soon. */
  readonly backoff: number
  readonly maxBackoff: number
  /** Where no target is left, one request in this time is let through to find out whether one is back. */
  readonly testInterval: number
}

export interface RetrySettings {
  /** Of one request, after its first attempt. */
  readonly perRequest: number
  /** Of all requests of the last seconds, as a fraction. */
  readonly share: number
  /** Allowed however few the requests are. */
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

/** Throws on what can't be meant. */
export function settingsOf({ name, targets }: UpstreamConfig, options: UpstreamOptions): UpstreamSettings {
  const settings = { ...defaults, ...options }
  if (targets.length === 0) throw new Error(`upstream ${name} has no target`)
  const plain = targets.find(({ protocol }) => protocol !== 'https:')
  if (settings.tls !== null && plain !== undefined)
    throw new Error(`upstream ${name} has tls settings, but its target ${plain.origin} is not https`)
  if (settings.health !== null && !/^\/[!"$-~]*$/.test(settings.health.path))
    throw new Error(`upstream ${name}: health.path is not an absolute path of visible ASCII`)
  return settings
}
