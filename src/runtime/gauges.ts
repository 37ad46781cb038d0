/** The gauges of an instance and of its data planes: values that are read at each scrape. */

import { packageRoot, versionOf } from '../config/package-version.ts'
import type { RateLimiter } from '../decision/limits/rate-limiter.ts'
import type { FleetMetrics } from '../telemetry/fleet-metrics.ts'
import type { Log } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ActiveConfig } from './active-config.ts'
import type { DecisionPoint } from './decision-point.ts'
import type { FleetNode } from './fleet-node.ts'

const CERTIFICATE_ENDS = [
  ['expiration', 'When the certificates of a file expire, by the setting that names it, as Unix time.'],
  [
    'renewal',
    'When to renew them, as Unix time: 30 days before they expire, or a third of their lifetime before if that is shorter.',
  ],
] as const

/** @param workers the number of processes that serve requests */
export function addInstanceGauges(
  metrics: FleetMetrics,
  active: ActiveConfig,
  node: FleetNode,
  workers: () => number,
): void {
  const { follower } = node.instance
  metrics.info(
    'seatgate_config_info',
    'The route tables in use: the label is their content hash, and the value is always 1.',
    () => ({ hash: active.config.hash }),
  )
  const build = { version: versionOf(packageRoot()), node: process.versions.node }
  metrics.info(
    'seatgate_build_info',
    'The running versions of Seatgate and Node.js. The value is always 1.',
    () => build,
  )
  for (const [end, help] of CERTIFICATE_ENDS)
    metrics.read('gauge', `seatgate_certificate_${end}_timestamp_seconds`, help, () =>
      active.config.certificates.map(({ setting, renewal, expiry }) => ({
        labels: { setting },
        value: Math.floor((end === 'renewal' ? renewal : expiry) / 1000),
      })),
    )
  metrics.gauge('seatgate_config_version', 'Increases with each successful reload.', () => active.version)
  metrics.gauge(
    'seatgate_config_files_ok',
    '0 from a refused reload until the files are corrected. Until then, a restart would fail, or use what was refused.',
    () => Number(active.filesAreValid),
  )
  metrics.gauge(
    'seatgate_feed_age_seconds',
    'Age of the latest reading of the change feed. A lease lasts 1 second: with an older reading, each decision waits for the store.',
    () => follower.age / 1000,
  )
  metrics.gauge(
    'seatgate_instance_seq',
    'Sequence number of the latest change that this instance has read. If it stays below that of other instances, this one does not reach the store.',
    () => follower.position?.seq ?? 0,
  )
  metrics.gauge(
    'seatgate_workers',
    'Number of processes that serve requests. Fewer than configured means that workers end: the log says why.',
    workers,
  )
  if (node.redis.cache !== null)
    metrics.gauge('seatgate_redis_up', '1 while Redis accepts reads and writes and delivers messages.', () =>
      Number(node.parts.redis === 'ok'),
    )
}

interface DataPlaneGauges {
  readonly decisionPoint: DecisionPoint
  readonly rateLimiter: RateLimiter
  readonly log: Log
  /** The bytes of messages that client connections hold. */
  readonly connectionMemory: () => number
}

/** Without `min`, the values of several workers are added up. */
export function addDataPlaneGauges(
  metrics: Metrics,
  { decisionPoint, rateLimiter, log, connectionMemory }: DataPlaneGauges,
): void {
  const { administration, lease, memory, lookups, revocations } = decisionPoint
  metrics.addCaches(lookups)
  metrics.addDecisionsAgain(() => memory.received.repeated)
  metrics.addRateLimits(rateLimiter)
  metrics.read(
    'counter',
    'seatgate_revocations_total',
    'Answers to revocations, by state: closed, or partial, where an instance did not say that it cut what was open.',
    () => Object.entries(revocations).map(([state, value]) => ({ labels: { state }, value })),
  )
  metrics.read(
    'counter',
    'seatgate_administrators_lost_total',
    'How often a write by SCIM took the last administrator from a tenant.',
    () => [{ labels: {}, value: administration.losses }],
  )
  metrics.gauge(
    'seatgate_lease_live',
    '1 while the lease permits decisions from memory.',
    () => Number(lease.live()),
    'min',
  )
  metrics.gauge(
    'seatgate_feed_seq',
    'Sequence number of the latest change that has been applied to memory.',
    () => lease.seq,
    'min',
  )
  metrics.gauge(
    'seatgate_log_lines_dropped',
    'Log lines dropped because their reader stalled. Look at the reader, or at the disk of the log.',
    () => log.dropped(),
  )
  metrics.gauge('seatgate_memory_seat_names', 'Seat names held in memory.', () => memory.sizes.names)
  metrics.gauge('seatgate_memory_seats', 'Seats held in memory by id.', () => memory.sizes.seats)
  metrics.gauge('seatgate_memory_api_keys', 'API keys held in memory.', () => memory.sizes.keys)
  metrics.gauge('seatgate_memory_sessions', 'Sign-in sessions held in memory.', () => memory.sizes.sessions)
  metrics.gauge(
    'seatgate_store_reads_waiting',
    "Reads of Seats, API keys and sessions that are waiting for their tenant's turn. If it grows, the store is slow, or memory.seats is small.",
    () => memory.waiting,
  )
  metrics.gauge(
    'seatgate_connection_memory_bytes',
    'Bytes of messages that client connections hold, limited by memory.connections.',
    connectionMemory,
  )
  metrics.gauge(
    'seatgate_memory_bytes',
    'Upper estimate of the bytes of cached Seats, API keys and sessions, limited by memory.seats.',
    () => memory.bytes,
  )
}
