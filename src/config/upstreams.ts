/** Builds `upstreams:`. The PEM files are read here, so that an unreadable or mismatched file is a fault. */

import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { targetOrigin } from './addresses.ts'
import { confidential, distinct, InvalidValue, quote, type ValueParser } from './invalid-value.ts'
import { authorities, ownCertificate, pem, warnOfTime } from './pem.ts'
import type { Section } from './section.ts'
import { staticPath } from './static-path.ts'
import { durationWithin } from './units.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
const timeout = durationWithin('1ms', '24d')
const webSocketTime = durationWithin('1s', '24d')

/** @returns a sentence; null: it is a name */
export function upstreamNameFault(name: string): string | null {
  return NAME.test(name)
    ? null
    : 'a name must be 1 to 63 letters, digits and . _ -, beginning with a letter or digit'
}

export type UpstreamConfig = ReturnType<typeof buildUpstream>
export type UpstreamHealth = NonNullable<UpstreamConfig['health']>
export type UpstreamTls = NonNullable<ReturnType<typeof buildTls>>
/** HTTP/1.1, HTTP/2 over TLS, or HTTP/2 without TLS by prior knowledge (RFC 9113, section 3.3). */
export type UpstreamProtocol = 'http1' | 'h2' | 'h2c'

/** @param folder base of relative paths @param bodyTimeout of upstreams that have none of their own */
export function buildUpstreams(
  root: Section,
  folder: string,
  bodyTimeout: number,
): Map<string, UpstreamConfig> {
  const upstreams = new Map<string, UpstreamConfig>()
  const all = root.section('upstreams')
  for (const name of all.keys()) {
    const fault = upstreamNameFault(name)
    if (fault !== null) all.faultAtKey(name, `upstream ${quote(name)}: ${fault}`)
    upstreams.set(name, buildUpstream(all.section(name), name, folder, bodyTimeout))
  }
  return upstreams
}

function buildUpstream(section: Section, name: string, folder: string, bodyTimeout: number) {
  const targets = section.texts('targets', confidential(distinct(targetOrigin, (url) => url.origin)))
  const tls = buildTls(section, folder)
  if (tls !== null && targets.some(({ protocol }) => protocol === 'http:'))
    section.faultAtKey('tls', 'tls: needs https:// targets: correct the targets, or remove tls')
  const protocol = buildProtocol(section, targets)
  return Object.freeze({
    name,
    /** Origins (scheme, host, port). */
    targets: Object.freeze(targets),
    /** Put before every forwarded path, such as `/api`; '': nothing. */
    basePath: section.text('base_path', staticPath) ?? '',
    /** `h2` has https targets only, `h2c` http targets only. */
    protocol,
    balance: section.choice<'round-robin' | 'least-pending'>('balance'),
    ...buildCapacity(section, protocol),
    /**
     * How long a request waits for a place before one is ended for it whose caller holds more of them. The queue is checked
     * twice in that time.
     */
    evictionDelay: section.setting('eviction_delay', durationWithin('20ms', '1h')),
    connectTimeout: section.setting('connect_timeout', timeout),
    responseTimeout: section.setting('response_timeout', timeout),
    /** How long either side may leave a body standing still. */
    bodyTimeout: section.text('body_timeout', timeout) ?? bodyTimeout,
    /** How long a WebSocket may be without a byte from either end, and how long it may be open. */
    websocketIdle: section.setting('websocket_idle', webSocketTime),
    websocketLifetime: section.setting('websocket_lifetime', webSocketTime),
    /** Null: only what requests meet tells whether a target is well. */
    health: buildHealth(section),
    /** For targets by https; null: public authorities, no certificate of our own. */
    tls,
    passAuthorization: section.flag('pass_authorization'),
    passHost: section.flag('pass_host'),
    passOverrides: section.flag('pass_overrides'),
    allowSemicolons: section.flag('allow_semicolons'),
    allowEncodedSlashes: section.flag('allow_encoded_slashes'),
  })
}

/** Targets of one protocol. https targets of `h2` negotiate it by ALPN, which `h2c` targets cannot. */
function buildProtocol(section: Section, targets: readonly URL[]): UpstreamProtocol {
  const chosen = section.choice<UpstreamProtocol>('protocol')
  const scheme = SCHEMES[chosen]
  const other = scheme === null ? undefined : targets.find((each) => each.protocol !== scheme)
  if (other !== undefined)
    section.fault('protocol', `protocol: ${chosen} requires ${scheme}// targets, not ${quote(other.origin)}`)
  return chosen
}

const SCHEMES = { http1: null, h2: 'https:', h2c: 'http:' } as const

/** An HTTP/2 connection carries many requests. */
const HTTP2_CONNECTIONS = 8

/** Uploads hold connections of HTTP/1.1, but streams of HTTP/2. */
function buildCapacity(section: Section, protocol: UpstreamProtocol) {
  const multiplexed = protocol !== 'http1'
  const connections =
    multiplexed && !section.has('connections') ? HTTP2_CONNECTIONS : section.count('connections')
  const maxPending = section.count('max_pending')
  const [most, key] = multiplexed ? [maxPending, 'max_pending'] : [connections, 'connections']
  const uploads = section.number('uploads') ?? Math.ceil(most / 2)
  if (uploads > most) section.fault('uploads', `uploads: must be at most ${key} (${most}), not ${uploads}`)
  return {
    /** Connections to a target at once. */
    connections,
    /** Of these, what requests may have whose bodies are still coming from their clients. Over HTTP/2: such requests. */
    uploads,
    /** Requests a target may have at once, those that wait for a connection included. */
    maxPending,
  }
}

/** Each target is asked whether it is well: GET, without credentials; 2xx is. */
function buildHealth(parent: Section) {
  if (!parent.has('health')) return null
  const section = parent.section('health')
  return Object.freeze({
    path: section.text('path', healthPath) ?? '/',
    interval: section.setting('interval', durationWithin('100ms', '1h')),
    timeout: section.setting('timeout', durationWithin('10ms', '1m')),
    /** Good checks in a row that bring a target back, and bad ones that take it out. */
    healthy: section.count('healthy'),
    unhealthy: section.count('unhealthy'),
  })
}

/** An origin-form target (RFC 9112, section 3.2.1): visible ASCII without a fragment. */
function healthPath(text: string): string | InvalidValue {
  return /^\/[!"$-~]*$/.test(text)
    ? text
    : new InvalidValue('must begin with /, in visible ASCII without #, such as /healthz')
}

/** @param folder base of relative paths @returns null when `tls` is absent */
function buildTls(parent: Section, folder: string) {
  if (!parent.has('tls')) return null
  const section = parent.section('tls')
  const now = Date.now()
  /** PEM texts. */
  const built = {
    ca: section.text('ca', authorities(folder, now)) ?? null,
    cert: section.text('cert', ownCertificate(folder, now)) ?? null,
    key: section.text('key', pem(folder, 'key')) ?? null,
    serverName: section.text('server_name', serverName) ?? null,
    insecureSkipVerify: section.flag('insecure_skip_verify'),
  }
  for (const key of ['ca', 'cert'] as const) warnOfTime(section, key, built[key] ?? '', now)
  if (section.has('cert') !== section.has('key'))
    section.faultAtKey(section.has('cert') ? 'cert' : 'key', 'tls: cert and key must be set together')
  const fault = tlsFault(built)
  if (fault !== null) parent.faultAtKey('tls', `tls: ${fault}`)
  return Object.freeze(built)
}

/** Absolute paths of all PEM files of upstreams, whether they are faulty or not: for watching. */
export function upstreamFiles(root: Section, folder: string): string[] {
  const all = root.section('upstreams')
  const named = all.keys().flatMap((name) => {
    const tls = all.section(name).section('tls')
    return [tls.value('ca'), tls.value('cert'), tls.value('key')]
  })
  return named.filter((path) => typeof path === 'string').map((path) => resolve(folder, path))
}

const serverName: ValueParser<string> = (text) =>
  /^(?=.{1,253}$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(text) && !/^[0-9.]+$/.test(text)
    ? text
    : new InvalidValue('is not a host name, such as trainings.internal')

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
