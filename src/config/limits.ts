/** `limits:`, `memory:` and `workers:`. */

import { availableParallelism } from 'node:os'
import type { Section } from './section.ts'
import { durationWithin, maxBody, sizeWithin } from './units.ts'

/** Left out, these are shares of others. */
const WEBSOCKET_SHARE = 3 / 4
const TENANT_SHARE = 3 / 4
const CALLER_SHARE = 1 / 16
/** WebSockets that a caller may have where a share of all is less. */
const FEW = 16

/** The limits of clients, per process. @param tenants their number: a single tenant may use the limits of all */
export function buildLimits(root: Section, tenants: number) {
  const section = root.section('limits')
  const limits = {
    /** Of a header section, request line included. */
    headerBytes: section.setting('header_bytes', sizeWithin('1KiB', '1MiB')),
    headerFields: section.count('header_fields'),
    targetBytes: section.setting('target_bytes', sizeWithin('256B', '64KiB')),
    /** Until a header section is complete; checked once a second. */
    headerTimeout: section.setting('header_timeout', durationWithin('1s', '10m')),
    /** Of a connection between requests. */
    idleTimeout: section.setting('idle_timeout', durationWithin('1s', '24h')),
    /** Until the next bytes of a body, on either side, for upstreams without a time of their own. */
    bodyTimeout: section.setting('body_timeout', durationWithin('1ms', '24d')),
    /** Connections in lingering close: the last response is sent, and the client still sends. Not counted as open. */
    lingeringConnections: section.count('lingering_connections'),
    /** Of a lingering close in all, and until the next bytes. */
    lingeringTime: section.setting('lingering_time', durationWithin('0s', '10m')),
    lingeringTimeout: section.setting('lingering_timeout', durationWithin('0s', '10m')),
    /** Bytes of a body, for routes without a limit of their own; Infinity for no limit. */
    maxBody: section.setting('max_body', maxBody),
    /** Requests in flight of one HTTP/2 connection. */
    http2Streams: section.count('http2_streams'),
    ...buildConnections(section, tenants > 1 ? TENANT_SHARE : 1),
    /**
     * Of a Seat's record; see `seatSize` in `seats-admin/model/seat.ts`. The largest body of a request to the Seat endpoints is
     * 1 MiB.
     */
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
    /** Open at once. */
    connections,
    /** Of one client address, or of one IPv6 network of 64 bits. */
    connectionsPerAddress: share('connections_per_address', 'connections', connections, connections),
    /** With a request of one tenant in flight, WebSockets included. */
    connectionsPerTenant: share(
      'connections_per_tenant',
      'connections',
      connections,
      Math.max(1, connections * tenantShare),
    ),
    /** Open at once: in all, of one tenant, of one caller. */
    websockets,
    websocketsPerTenant: perTenant,
    websocketsPerCaller: share('websockets_per_caller', 'websockets_per_tenant', perTenant, perCaller),
  }
}

/** More than V8's heap takes without further ado, and less than a Map of it holds. */
const remembered = sizeWithin('1MiB', '4GiB')

/** Bounds of a process's caches and buffers in bytes. Sizes are upper estimates. */
export function buildMemory(root: Section) {
  const section = root.section('memory')
  return Object.freeze({
    /** Verified tokens. */
    tokens: section.setting('tokens', remembered),
    /** Hashes of accepted API keys with their key ids. */
    apiKeys: section.setting('api_keys', remembered),
    /** Seats, API key records and sign-in sessions, together. */
    seats: section.setting('seats', remembered),
    /** Buffered bytes of client connections: partial heads, pipelined requests, bodies that wait, unread responses. */
    connections: section.setting('connections', remembered),
    /** Signed identities. */
    identities: section.setting('identities', remembered),
  })
}

const MAX_WORKERS = 128

/** Also for values of a wrong type. */
export const WORKERS_FAULT = `workers must be auto or a whole number from 1 to ${MAX_WORKERS}`

/** A number, or `auto`: one for each core that this process may use. */
export function buildWorkers(root: Section): number {
  const value = root.value('workers') ?? root.count('workers')
  if (value === 'auto') return availableParallelism()
  if (/^[1-9][0-9]{0,2}$/.test(String(value)) && Number(value) <= MAX_WORKERS) return Number(value)
  root.fault('workers', WORKERS_FAULT)
  return 1
}
