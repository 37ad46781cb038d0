/** `upstreams:`. The builder reads the PEM files, so that an unreadable file or a wrong key is a fault. */

import { createSecureContext } from 'node:tls'
import { targetOrigin } from './addresses.ts'
import { frozenMap } from './frozen.ts'
import { InvalidValue, quote, type ValueParser } from './invalid-value.ts'
import { authorities, ownCertificate, pem, PEM_FILE, warnOfTime } from './pem.ts'
import type { Section } from './section.ts'
import {
  choice,
  count,
  duration,
  flag,
  list,
  map,
  mapOf,
  optional,
  required,
  text,
  type ValuesOf,
} from './setting.ts'
import { staticPath } from './static-path.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
/** @returns the fault; null: the name is valid */
export function upstreamNameFault(name: string): string | null {
  return NAME.test(name)
    ? null
    : 'a name must be 1 to 63 letters, digits and . _ -, beginning with a letter or digit'
}

const health = map('Active health checks: GET requests without credentials. A 2xx status is healthy.', {
  path: required(
    text('Path of the check.', healthPath, { placeholder: '/', pattern: '^/', examples: ['/healthz'] }),
  ),
  interval: duration('Time between two checks of a target.', '100ms', '1h', {
    default: '5s',
    examples: ['10s'],
  }),
  timeout: duration('How long a check may take.', '10ms', '1m', { default: '1s', examples: ['500ms'] }),
  healthy: count('Consecutive successful checks that bring a target back.', {
    minimum: 1,
    maximum: 100,
    default: 2,
    examples: [1],
  }),
  unhealthy: count('Consecutive failed checks that take a target out.', {
    minimum: 1,
    maximum: 100,
    default: 3,
    examples: [5],
  }),
})

const serverName: ValueParser<string> = (text) =>
  /^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(text) && !/^[0-9.]+$/.test(text)
    ? text
    : new InvalidValue('is not a host name, such as trainings.internal')

/** The values of `ca`, `cert` and `key` are PEM texts. */
const tls = map(
  'TLS to https targets. Without this key, the gateway trusts public authorities and has no client certificate.',
  {
    ca: text(
      'PEM file with the trusted authorities, which replace the public ones; relative to this file. Each is trusted by itself: an issuing authority needs no root beside it.',
      authorities,
      { ...PEM_FILE, examples: ['tls/ca.pem'] },
    ),
    cert: text("PEM file with the gateway's client certificate and its intermediates.", ownCertificate, {
      ...PEM_FILE,
      examples: ['tls/gateway.pem'],
    }),
    key: text('PEM file with the private key of cert.', pem('key'), {
      ...PEM_FILE,
      examples: ['tls/gateway.key'],
    }),
    serverName: text("Server name (SNI) to request and verify, instead of the target's host.", serverName, {
      examples: ['trainings.internal'],
    }),
    insecureSkipVerify: flag(
      'Accept any certificate. Anyone on the network path can then read and change the traffic.',
    ),
  },
  (values, section) => {
    for (const key of ['ca', 'cert'] as const) warnOfTime(section, key, values[key])
    if (section.has('cert') !== section.has('key'))
      section.faultAtKey(section.has('cert') ? 'cert' : 'key', 'tls: cert and key must be set together')
    return Object.freeze(values)
  },
)

const fields = {
  targets: required(
    list('Origins of the service: scheme, host and port only.', targetOrigin, {
      privacy: 'confidential',
      distinct: (url) => url.origin,
      minItems: 1,
      items: { pattern: '^https?://[^/?#@]+$', examples: ['http://127.0.0.1:9001'] },
    }),
  ),
  basePath: text(
    'Path to put in front of every forwarded path, without a trailing slash. It does not apply to health.path.',
    staticPath,
    { pattern: '^/', examples: ['/api'] },
  ),
  protocol: choice(
    'HTTP version for the targets: http1 is HTTP/1.1; h2 is HTTP/2 over TLS, for https targets; h2c is HTTP/2 without TLS and without an upgrade, for http targets. If a target does not speak this version, requests get 502 upstream_protocol_error. WebSockets always use HTTP/1.1.',
    ['http1', 'h2', 'h2c'],
    { default: 'http1', examples: ['h2'] },
  ),
  balance: choice(
    'Which target gets a request: the one with the fewest requests in flight, or each in turn.',
    ['least-pending', 'round-robin'],
    { default: 'least-pending', examples: ['round-robin'] },
  ),
  connections: count(
    'Maximum open connections per target. An HTTP/2 connection carries up to 100 requests at once, or as many as the target permits. With HTTP/2, the default is 8.',
    { minimum: 1, maximum: 65535, default: 256, examples: [64] },
  ),
  uploads: count(
    'Maximum connections per target for requests whose bodies are still arriving from clients. Further uploads wait, except for bodies up to 32KiB, which are read first. Default: half of connections. With HTTP/2: maximum requests per target whose bodies are still arriving, including open gRPC streams; the default is half of max_pending.',
    { minimum: 1, maximum: 65535, examples: [32] },
  ),
  evictionDelay: duration(
    'How long a request waits for a connection. After that, a request of the caller with the most connections is ended for it: one that waits for its client, or else the slowest one that lasts. See limits.md, Who loses a connection.',
    '20ms',
    '1h',
    { default: '500ms', examples: ['2s'] },
  ),
  maxPending: count(
    'Maximum requests per target, including waiting ones; half of them may be uploads. Beyond it, the newest waiting request of a caller that has more of them gets 503 unavailable. Without such a caller, the new request does.',
    { minimum: 1, default: 1024, examples: [200] },
  ),
  health: optional(health),
  tls: optional(tls),
  websocketIdle: duration(
    'How long a WebSocket may stay open without a byte in either direction. Pings count as traffic.',
    '1s',
    '24d',
    { default: '5m', examples: ['90s'] },
  ),
  websocketLifetime: duration('How long a WebSocket may stay open.', '1s', '24d', {
    default: '24h',
    examples: ['1h'],
  }),
  bodyTimeout: duration(
    'How long a request or response body may stall. Default: limits.body_timeout.',
    '1ms',
    '24d',
    { examples: ['5m'] },
  ),
  connectTimeout: duration('Time allowed for connecting to a target.', '1ms', '24d', {
    default: '3s',
    examples: ['500ms'],
  }),
  responseTimeout: duration(
    'How long the upstream may be silent before its response begins. A route may have its own value.',
    '1ms',
    '24d',
    { default: '30s', examples: ['2m'] },
  ),
  passAuthorization: flag("Forward the client's Authorization header."),
  passHost: flag("Forward the client's Host header instead of the target's."),
  passOverrides: flag(
    'Forward headers that specify another path or method (X-Original-URL, X-HTTP-Method-Override and similar). The gateway ignores them when it decides.',
  ),
  allowSemicolons: flag(
    'Accept ; and %3B in path segments, which some servers read as the start of parameters.',
  ),
  allowEncodedSlashes: flag(
    'Accept %2F in path segments. It is part of its segment when the route is matched, and it is forwarded as %2F; see routes.md.',
  ),
}

type Values = ValuesOf<typeof fields>

export const upstreams = mapOf(
  map('', fields, buildUpstream),
  'The services behind the gateway, by the names that route tables use.',
  { propertyNames: { pattern: NAME.source }, default: {} },
  (name) => {
    const fault = upstreamNameFault(name)
    return fault === null ? null : `upstream ${quote(name)}: ${fault}`
  },
)

export type UpstreamConfig = ReturnType<typeof named>
export type UpstreamHealth = NonNullable<UpstreamConfig['health']>
export type UpstreamTls = NonNullable<UpstreamConfig['tls']>
export type UpstreamProtocol = UpstreamConfig['protocol']

/** @param bodyTimeout the default of upstreams without a `body_timeout` */
export function buildUpstreams(
  values: ReturnType<typeof upstreams.read>,
  bodyTimeout: number,
): ReadonlyMap<string, UpstreamConfig> {
  return frozenMap(new Map([...values].map(([name, each]) => [name, named(name, each, bodyTimeout)])))
}

function named(name: string, upstream: ReturnType<typeof buildUpstream>, bodyTimeout: number) {
  return Object.freeze({ name, ...upstream, bodyTimeout: upstream.bodyTimeout ?? bodyTimeout })
}

function buildUpstream(values: Values, section: Section) {
  const { targets, tls, basePath } = values
  if (tls !== null && targets.some(({ protocol }) => protocol === 'http:'))
    section.faultAtKey('tls', 'tls: needs https:// targets: correct the targets, or remove tls')
  const fault = tls === null ? null : tlsFault(tls)
  if (fault !== null) section.faultAtKey('tls', `tls: ${fault}`)
  checkProtocol(values, section)
  return { ...values, basePath: basePath ?? '', ...buildCapacity(values, section) }
}

/** `h2` needs https targets, because TLS negotiates it by ALPN; `h2c` needs http targets. */
function checkProtocol({ protocol, targets }: Values, section: Section): void {
  const scheme = SCHEMES[protocol]
  const other = scheme === null ? undefined : targets.find((each) => each.protocol !== scheme)
  if (other !== undefined)
    section.fault(
      'protocol',
      `protocol: ${protocol} requires ${scheme}// targets, not ${quote(other.origin)}`,
    )
}

const SCHEMES = { http1: null, h2: 'https:', h2c: 'http:' } as const

/** The default number of connections with HTTP/2, which carry many requests each. */
const HTTP2_CONNECTIONS = 8

/** An upload occupies a connection of HTTP/1.1, but only a stream of HTTP/2. */
function buildCapacity(values: Values, section: Section) {
  const multiplexed = values.protocol !== 'http1'
  const connections = multiplexed && !section.has('connections') ? HTTP2_CONNECTIONS : values.connections
  const [most, key] = multiplexed ? [values.maxPending, 'max_pending'] : [connections, 'connections']
  const uploads = values.uploads ?? Math.ceil(most / 2)
  if (uploads > most) section.fault('uploads', `uploads: must be at most ${key} (${most}), not ${uploads}`)
  return { connections, uploads }
}

/** An origin-form target (RFC 9112, section 3.2.1): visible ASCII without a fragment. */
function healthPath(text: string): string | InvalidValue {
  return /^\/[!"$-~]*$/.test(text)
    ? text
    : new InvalidValue('must begin with /, in visible ASCII without #, such as /healthz')
}

function tlsFault({ ca, cert, key }: UpstreamTls): string | null {
  try {
    createSecureContext({
      ...(ca === null ? {} : { ca }),
      ...(cert === null || key === null ? {} : { cert, key }),
    })
    return null
  } catch {
    return 'the certificates and the key cannot be parsed or do not match: name the key of this certificate, without a passphrase'
  }
}
