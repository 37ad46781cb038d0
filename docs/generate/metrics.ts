/** The tables of `metrics.md`, from what `/metrics` of a running gateway shows. */

import { code, table } from './regions.ts'

interface Metric {
  readonly name: string
  readonly type: string
  readonly help: string
}

/** The labels that each metric has; a running gateway shows them once a series exists. */
export const LABELS: Readonly<Record<string, readonly string[]>> = {
  seatgate_spans_total: ['result'],
  seatgate_build_info: ['version', 'node'],
  seatgate_tenant_requests_total: ['tenant', 'status'],
  seatgate_upstream_duration_seconds: ['upstream'],
  seatgate_requests_total: ['route', 'status'],
  seatgate_request_duration_seconds: ['route'],
  seatgate_cache_lookups_total: ['cache', 'result'],
  seatgate_decisions_total: ['code'],
  seatgate_decisions_again_total: ['code'],
  seatgate_decisions_by_source_total: ['source'],
  seatgate_websockets_ended_total: ['by'],
  seatgate_websockets_refused_total: ['bound'],
  seatgate_requests_over_share_total: ['of'],
  seatgate_rate_limited_total: ['limit'],
  seatgate_connections: ['state'],
  seatgate_connections_refused_total: ['reason'],
  seatgate_connections_evicted_total: ['state'],
  seatgate_connections_relieved_total: ['of'],
  seatgate_tls_handshakes_total: ['version', 'resumed'],
  seatgate_tls_handshakes_failed_total: ['reason'],
  seatgate_http2_connections_ended_total: ['code'],
  seatgate_upstream_certificate_expiration_timestamp_seconds: ['upstream', 'target'],
  seatgate_upstream_certificate_renewal_timestamp_seconds: ['upstream', 'target'],
  seatgate_upstream_target_up: ['upstream', 'target'],
  seatgate_upstream_ejections_total: ['upstream'],
  seatgate_upstream_retries_total: ['upstream'],
  seatgate_config_reloads_total: ['result'],
  seatgate_config_info: ['hash'],
  seatgate_certificate_expiration_timestamp_seconds: ['setting'],
  seatgate_certificate_renewal_timestamp_seconds: ['setting'],
  seatgate_config_changes_total: ['kind'],
  seatgate_shadow_decisions_total: ['result'],
  seatgate_write_answered_seconds: ['by'],
  seatgate_revocations_total: ['state'],
}

/** @param exposition in the Prometheus text format */
export function metricsOf(exposition: string): Metric[] {
  const help = new Map<string, string>()
  for (const [, name = '', text = ''] of exposition.matchAll(/^# HELP (\S+) (.+)$/gm)) help.set(name, text)
  const types = [...exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  return types
    .map(([, name = '', type = '']) => ({ name, type, help: help.get(name) ?? '' }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Of the gateway itself. */
export function ownMetrics(exposition: string): string {
  const own = metricsOf(exposition).filter(({ name }) => name.startsWith('seatgate_'))
  const rows = own.map(({ name, type, help }) => [
    code(name),
    type,
    (LABELS[name] ?? []).map(code).join(', '),
    help,
  ])
  return table(['metric', 'type', 'labels', 'meaning'], rows)
}

/** Of the process, by prom-client: their names. */
export function processMetrics(exposition: string): string {
  const names = metricsOf(exposition).map(({ name }) => name)
  return names
    .filter((name) => !name.startsWith('seatgate_'))
    .map(code)
    .join(', ')
}
