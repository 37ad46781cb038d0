/** `limits:` and `memory:`. */

import type { Limits, MemoryBounds } from './config.ts'
import type { Section } from './section.ts'
import { durationWithin, maxBody, sizeWithin } from './units.ts'

/** Left out, these are shares of others. */
const WEBSOCKET_SHARE = 3 / 4
const TENANT_SHARE = 3 / 4
const CALLER_SHARE = 1 / 16
/** WebSockets that a caller may have where a share of all is less. */
const FEW = 16

/** @param tenants the number of tenants: a single tenant may use the limits of all */
export function buildLimits(root: Section, tenants: number): Limits {
  const section = root.section('limits')
  const limits: Limits = {
    headerBytes: section.setting('header_bytes', sizeWithin('1KiB', '1MiB')),
    headerFields: section.count('header_fields'),
    targetBytes: section.setting('target_bytes', sizeWithin('256B', '64KiB')),
    // Header timeouts are checked once a second.
    headerTimeout: section.setting('header_timeout', durationWithin('1s', '10m')),
    idleTimeout: section.setting('idle_timeout', durationWithin('1s', '24h')),
    bodyTimeout: section.setting('body_timeout', durationWithin('1ms', '24d')),
    lingeringConnections: section.count('lingering_connections'),
    lingeringTime: section.setting('lingering_time', durationWithin('0s', '10m')),
    lingeringTimeout: section.setting('lingering_timeout', durationWithin('0s', '10m')),
    maxBody: section.setting('max_body', maxBody),
    http2Streams: section.count('http2_streams'),
    ...buildConnections(section, tenants > 1 ? TENANT_SHARE : 1),
    // The largest body of a request to the Seat endpoints is 1 MiB.
    seatBytes: section.setting('seat_bytes', sizeWithin('1KiB', '1MiB')),
  }
  if (limits.targetBytes > limits.headerBytes) {
    const advice = 'raise header_bytes, or lower target_bytes'
    if (section.has('target_bytes'))
      section.fault(
        'target_bytes',
        `target_bytes: must be at most header_bytes, which counts the target as well: ${advice}`,
      )
    else
      section.fault(
        'header_bytes',
        `header_bytes: must be at least target_bytes (${section.default('target_bytes')}), as it counts the target as well: ${advice}`,
      )
  }
  return Object.freeze(limits)
}

function buildConnections(section: Section, tenantShare: number) {
  const connections = section.count('connections')
  const websockets = section.number('websockets') ?? Math.floor(connections * WEBSOCKET_SHARE)
  if (section.has('websockets') && websockets >= connections)
    section.fault(
      'websockets',
      `websockets: must be less than connections (${connections}), so that other requests have connections`,
    )
  const share = (key: string, of: string, most: number, otherwise: number) => {
    const value = section.number(key) ?? Math.floor(otherwise)
    if (section.has(key) && value > most)
      section.fault(key, `${key}: must be at most ${of} (${most}), not ${value}`)
    return value
  }
  const perTenant = share('websockets_per_tenant', 'websockets', websockets, websockets * tenantShare)
  const perCaller = Math.min(perTenant, Math.max(FEW, perTenant * CALLER_SHARE))
  return {
    connections,
    connectionsPerAddress: share('connections_per_address', 'connections', connections, connections),
    connectionsPerTenant: share(
      'connections_per_tenant',
      'connections',
      connections,
      Math.max(1, connections * tenantShare),
    ),
    websockets,
    websocketsPerTenant: perTenant,
    websocketsPerCaller: share('websockets_per_caller', 'websockets_per_tenant', perTenant, perCaller),
  }
}

/** More than V8's heap takes without further ado, and less than a Map of it holds. */
const remembered = sizeWithin('1MiB', '4GiB')

export function buildMemory(root: Section): MemoryBounds {
  const section = root.section('memory')
  return Object.freeze({
    tokens: section.setting('tokens', remembered),
    apiKeys: section.setting('api_keys', remembered),
    seats: section.setting('seats', remembered),
    connections: section.setting('connections', remembered),
    identities: section.setting('identities', remembered),
  })
}
