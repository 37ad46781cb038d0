/** Metrics and log lines of the upstreams' targets. */

import { renewalOf, type Validity } from '../config/pem.ts'
import type { Log } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { messageOf } from './readable.ts'

interface TargetEvent {
  readonly upstream: string
  readonly target: string
}

type Failure = TargetEvent & { readonly cause: unknown }

interface TargetState {
  readonly target: string
  readonly state: string
  /** The validity of the certificate; null if no connection has verified one. */
  readonly certificate: Validity | null
}

/** The name of each upstream, with the current states of its targets. */
type TargetStates = Iterable<readonly [string, readonly TargetState[]]>

const CERTIFICATE_ENDS = [
  [
    'expiration',
    'When the certificate of a target expires, as Unix time, once a connection has verified it.',
    ({ until }: Validity) => until,
  ],
  [
    'renewal',
    'When to renew that certificate, as Unix time: 30 days before it expires, or a third of its lifetime before if that is shorter.',
    renewalOf,
  ],
] as const

/**
 * The listener of the events of `proxy/upstream.ts`.
 *
 * @param states the states of the active configuration
 */
export function watchUpstreams(metrics: Metrics, { logger }: Log, states: () => TargetStates) {
  const retries = metrics.counter(
    'seatgate_upstream_retries_total',
    'Attempts after the first, by upstream.',
    ['upstream'],
  )
  const ejections = metrics.counter(
    'seatgate_upstream_ejections_total',
    'Ejections of targets because requests could not reach them, or because their health checks failed.',
    ['upstream'],
  )
  metrics.read(
    'gauge',
    'seatgate_upstream_target_up',
    '1 while a target receives requests.',
    () =>
      [...states()].flatMap(([upstream, targets]) =>
        targets.map(({ target, state }) => ({ labels: { upstream, target }, value: Number(state === 'in') })),
      ),
    'min',
  )
  for (const [end, help, timeOf] of CERTIFICATE_ENDS)
    metrics.read(
      'gauge',
      `seatgate_upstream_certificate_${end}_timestamp_seconds`,
      help,
      () =>
        [...states()].flatMap(([upstream, targets]) =>
          targets.flatMap(({ target, certificate }) =>
            certificate === null
              ? []
              : [{ labels: { upstream, target }, value: Math.floor(timeOf(certificate) / 1000) }],
          ),
        ),
      'min',
    )
  const logEjection = ({ upstream, target, cause }: Failure, why: string) => {
    ejections.inc({ upstream })
    logger.warn({ upstream, target, cause: messageOf(cause) }, why)
  }
  return {
    onRetry: ({ upstream }: TargetEvent) => retries.inc({ upstream }),
    onEjected: (event: Failure) => logEjection(event, 'a target is ejected: requests to it fail'),
    onUnhealthy: (event: Failure) => logEjection(event, 'a target is ejected: its health checks fail'),
    onReturned: ({ upstream, target }: TargetEvent) =>
      logger.info({ upstream, target }, 'a target is in use again'),
  }
}
