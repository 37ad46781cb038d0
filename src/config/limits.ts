/** `limits:`, `memory:` and `workers:`. */

import { availableParallelism } from 'node:os'
import type { Section } from './section.ts'
import { count, duration, map, setting, size, text } from './setting.ts'
import { maxBody } from './units.ts'

/** The defaults of limits that are shares of others. */
const WEBSOCKET_SHARE = 3 / 4
const TENANT_SHARE = 3 / 4
const CALLER_SHARE = 1 / 16
/** The minimum default of WebSockets for each caller. */
const FEW = 16

/** The limits of one process. Limits that are shares of others are null if they are left out. */
export const limits = map('Limits on what clients can use of one process.', {
  headerBytes: size(
    'Maximum bytes in a header section, including the request line. A larger one gets 431 headers_too_large, or 414 uri_too_long if the request line alone is longer.',
    '1KiB',
    '1MiB',
    { default: '32KiB', examples: ['16KiB'] },
  ),
  headerFields: count('Maximum fields in a header section. More fields get 431 headers_too_large.', {
    minimum: 10,
    maximum: 2000,
    default: 200,
    examples: [100],
  }),
  targetBytes: size(
    'Maximum bytes in a request target; no more than header_bytes. A longer one gets 414 uri_too_long.',
    '256B',
    '64KiB',
    { default: '8KiB', examples: ['16KiB'] },
  ),
  headerTimeout: duration(
    'Time for a header section to arrive completely; after that, 408 request_timeout. If a PROXY protocol header is later than this, the connection closes without a response.',
    '1s',
    '10m',
    { default: '10s', examples: ['5s'] },
  ),
  idleTimeout: duration('How long a connection is kept open between requests.', '1s', '24h', {
    default: '75s',
    examples: ['2m'],
  }),
  bodyTimeout: duration(
    'How long a request or response body may stall, for upstreams without a body_timeout of their own. A built-in endpoint must receive the whole body within this time. A late request body gets 408 request_timeout.',
    '1ms',
    '24d',
    { default: '60s', examples: ['20s'] },
  ),
  lingeringTime: duration(
    'Lingering close: how long the gateway reads and discards what a client still sends after its last response, so that the client can read the response.',
    '0s',
    '10m',
    { default: '30s', examples: ['10s'] },
  ),
  lingeringTimeout: duration(
    'Lingering close: how long such a client may be silent. If limits.body_timeout is shorter, it applies instead.',
    '0s',
    '10m',
    { default: '5s', examples: ['2s'] },
  ),
  lingeringConnections: count(
    'Maximum lingering connections per process, in addition to limits.connections. Beyond it, the oldest connection of the address with the most is closed.',
    { minimum: 1, maximum: 65535, default: 256, examples: [64] },
  ),
  maxBody: text(
    'Maximum bytes in a request body on routes without a max_body of their own, or unlimited. A larger body gets 413 body_too_large.',
    maxBody,
    {
      pattern: '^(unlimited|(0|[1-9][0-9]*)(B|KiB|MiB|GiB|TiB))$',
      default: '10MiB',
      examples: ['10MiB', 'unlimited'],
    },
  ),
  connections: count(
    'Maximum open connections per process. Beyond it, an idle connection is closed, or the new one gets 503 unavailable; see operations.md.',
    { minimum: 1, maximum: 1000000, default: 10000, examples: [20000] },
  ),
  connectionsPerAddress: count(
    'Maximum open connections per client address (IPv6: per /64) in each process. At the limit, an idle connection of that address is closed. If there is none, the new connection gets 503 unavailable. Connections of trusted_proxies do not count, but the clients in their X-Forwarded-For do, while a request is in flight. Default: limits.connections.',
    { minimum: 1, maximum: 1000000, examples: [1000] },
  ),
  http2Streams: count(
    'Maximum requests that a client may have in flight on one HTTP/2 connection (SETTINGS_MAX_CONCURRENT_STREAMS). Further ones are refused (REFUSED_STREAM), and clients retry them later.',
    { minimum: 1, maximum: 10000, default: 128, examples: [64] },
  ),
  connectionsPerTenant: count(
    'Maximum connections per process that have a request of one tenant in flight, including WebSockets. A request beyond it gets 503 unavailable. Default: 3/4 of limits.connections, or all of it with a single tenant.',
    { minimum: 1, maximum: 1000000, examples: [5000] },
  ),
  websockets: count(
    'Maximum open WebSockets per process; less than limits.connections. A handshake beyond it gets 503 unavailable. Default: 3/4 of limits.connections.',
    { minimum: 0, maximum: 1000000, examples: [5000] },
  ),
  websocketsPerTenant: count(
    'Maximum open WebSockets per tenant. All public routes together count as one tenant. Default: 3/4 of limits.websockets, or all of it with a single tenant.',
    { minimum: 0, maximum: 1000000, examples: [2000] },
  ),
  websocketsPerCaller: count(
    'Maximum open WebSockets per caller: an API key, a user or, on public routes, a client address. Default: 1/16 of limits.websockets_per_tenant, at least 16.',
    { minimum: 0, maximum: 1000000, examples: [100] },
  ),
  seatBytes: size(
    'Maximum size of a Seat: its name, plus its spaces and permissions as JSON. A larger one gets 400 input_invalid. A Seat that already exceeds the limit may shrink.',
    '1KiB',
    '1MiB',
    { default: '64KiB', examples: ['16KiB'] },
  ),
})

type Values = ReturnType<typeof limits.of>

/** @param tenants the number of tenants: a single tenant may use the whole of each limit */
export function buildLimits(values: Values, section: Section, tenants: number) {
  if (values.targetBytes > values.headerBytes) {
    const advice = 'raise header_bytes, or lower target_bytes'
    if (section.has('target_bytes'))
      section.fault(
        'target_bytes',
        `target_bytes: must be at most header_bytes, which counts the target as well: ${advice}`,
      )
    else
      section.fault(
        'header_bytes',
        `header_bytes: must be at least target_bytes (${String(limits.fields.targetBytes.schema.default)}), as it counts the target as well: ${advice}`,
      )
  }
  return Object.freeze({ ...values, ...buildConnections(values, section, tenants > 1 ? TENANT_SHARE : 1) })
}

function buildConnections(values: Values, section: Section, tenantShare: number) {
  const { connections } = values
  const websockets = values.websockets ?? Math.floor(connections * WEBSOCKET_SHARE)
  if (section.has('websockets') && websockets >= connections)
    section.fault(
      'websockets',
      `websockets: must be less than connections (${connections}), so that other requests have connections`,
    )
  const share = (key: string, value: number | null, of: string, most: number, otherwise: number) => {
    if (value !== null && value > most)
      section.fault(key, `${key}: must be at most ${of} (${most}), not ${value}`)
    return value ?? Math.floor(otherwise)
  }
  const perTenant = share(
    'websockets_per_tenant',
    values.websocketsPerTenant,
    'websockets',
    websockets,
    websockets * tenantShare,
  )
  const perCaller = Math.min(perTenant, Math.max(FEW, perTenant * CALLER_SHARE))
  return {
    connectionsPerAddress: share(
      'connections_per_address',
      values.connectionsPerAddress,
      'connections',
      connections,
      connections,
    ),
    connectionsPerTenant: share(
      'connections_per_tenant',
      values.connectionsPerTenant,
      'connections',
      connections,
      Math.max(1, connections * tenantShare),
    ),
    websockets,
    websocketsPerTenant: perTenant,
    websocketsPerCaller: share(
      'websockets_per_caller',
      values.websocketsPerCaller,
      'websockets_per_tenant',
      perTenant,
      perCaller,
    ),
  }
}

/** Sizes are upper estimates. 4GiB is more than V8's heap holds by default, and less than a Map can hold. */
export const memory = map(
  'Limits on what each process keeps in memory. Beyond a limit, the least recently used entries are evicted, and read again when needed.',
  {
    tokens: size(
      'Bytes for verified tokens. A token of 250 characters takes about 1.5KiB. A token that was evicted is verified again.',
      '1MiB',
      '4GiB',
      { default: '32MiB', examples: ['64MiB'] },
    ),
    apiKeys: size('Bytes for accepted API keys, which take 450 bytes each.', '1MiB', '4GiB', {
      default: '8MiB',
      examples: ['1MiB'],
    }),
    seats: size(
      'Bytes for Seats, API key records and sign-in sessions in use, all together. A Seat with 5 spaces and permissions takes about 1.5KiB. An entry that would take more than 1/8 of the total is read each time. Tenants share this memory: entries of the tenant that holds the most are evicted first.',
      '1MiB',
      '4GiB',
      { default: '64MiB', examples: ['256MiB'] },
    ),
    connections: size(
      'Bytes for messages that client connections hold: partial header sections, header sections over 4KiB of requests in flight, pipelined requests, bodies that wait for their reader, and responses and WebSocket frames that have not been read. Beyond it, the connections of the address that holds the most are relieved, the largest first; see operations.md.',
      '1MiB',
      '4GiB',
      { default: '128MiB', examples: ['32MiB'] },
    ),
    identities: size(
      'Bytes for signed identities (identity), which take about 2KiB each. An identity that was evicted is signed again. Tenants share this memory: entries of the tenant that holds the most are evicted first.',
      '1MiB',
      '4GiB',
      { default: '32MiB', examples: ['16MiB'] },
    ),
  },
)

const MAX_WORKERS = 128

/** The message for every fault of `workers`, including a wrong type. */
export const WORKERS_FAULT = `workers must be auto or a whole number from 1 to ${MAX_WORKERS}`

/** The number of processes; `auto` is one for each core that this process may use. */
export const workers = setting(
  {
    description: 'Number of worker processes, which share the port; auto starts one per core. At most 128.',
    type: ['integer', 'string'],
    minimum: 1,
    pattern: '^auto$|\\$\\{',
    default: 1,
    examples: [1, 'auto'],
  },
  (root, key) => {
    const value = root.value(key) ?? 1
    if (value === 'auto') return availableParallelism()
    if (/^[1-9][0-9]{0,2}$/.test(String(value)) && Number(value) <= MAX_WORKERS) return Number(value)
    root.fault(key, WORKERS_FAULT)
    return 1
  },
)
