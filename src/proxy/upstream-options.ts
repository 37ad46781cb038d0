/** The parameters of an upstream that have no key in the configuration. */

import type { SignedIdentity } from '../identity/signed-identity.ts'
import type { UpstreamListener } from './upstream-events.ts'

export interface UpstreamOptions {
  /** CIDR blocks of peers whose X-Forwarded-* are continued; none when left out. */
  readonly trustedProxies?: readonly string[]
  /** Signs who calls; none when left out. */
  readonly identity?: SignedIdentity | null
  readonly ejection?: EjectionSettings
  readonly retries?: RetrySettings
  readonly listener?: UpstreamListener
}

/** Times in ms. */
export interface EjectionSettings {
  /** Consecutive: no connection, or one that ends before a response. */
  readonly failures: number
  /** The ejection time, doubled each time that the target fails again soon. */
  readonly backoff: number
  readonly maxBackoff: number
  /** While no target is available, one request in this time probes one. */
  readonly testInterval: number
}

export const EJECTION: EjectionSettings = Object.freeze({
  failures: 3,
  backoff: 1000,
  maxBackoff: 30_000,
  testInterval: 100,
})

export interface RetrySettings {
  /** Retries of one request. */
  readonly perRequest: number
  /** Retries as a fraction of the requests of the last seconds. */
  readonly share: number
  /** Always permitted, however few the requests are. */
  readonly perSecond: number
}

export const RETRIES: RetrySettings = Object.freeze({ perRequest: 2, share: 0.2, perSecond: 3 })
