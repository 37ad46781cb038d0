/** Builds `upstreams:`. */

import { origin } from './addresses.ts'
import { confidential, distinct, InvalidValue, quote } from './invalid-value.ts'
import type { Limits, UpstreamConfig, UpstreamHealth, UpstreamProtocol } from './config.ts'
import type { Section } from './section.ts'
import { staticPath } from './static-path.ts'
import { durationWithin } from './units.ts'
import { buildUpstreamTls } from './upstream-tls.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/
const timeout = durationWithin('1ms', '24d')
const webSocketTime = durationWithin('1s', '24d')

/** @returns a sentence; null: it is a name */
export function upstreamNameFault(name: string): string | null {
  return NAME.test(name)
    ? null
    : 'a name must be 1 to 63 letters, digits and . _ -, beginning with a letter or digit'
}

/** @param folder base of relative paths */
export function buildUpstreams(root: Section, folder: string, limits: Limits): Map<string, UpstreamConfig> {
  const upstreams = new Map<string, UpstreamConfig>()
  const all = root.section('upstreams')
  for (const name of all.keys()) {
    const fault = upstreamNameFault(name)
    if (fault !== null) all.faultAtKey(name, `upstream ${quote(name)}: ${fault}`)
    upstreams.set(name, buildUpstream(all.section(name), name, folder, limits))
  }
  return upstreams
}

function buildUpstream(section: Section, name: string, folder: string, limits: Limits): UpstreamConfig {
  const targets = section.texts('targets', confidential(distinct(origin, (url) => url.origin)))
  const tls = buildUpstreamTls(section, folder)
  if (tls !== null && targets.some(({ protocol }) => protocol === 'http:'))
    section.faultAtKey('tls', 'tls: needs https:// targets: correct the targets, or remove tls')
  const protocol = buildProtocol(section, targets)
  return Object.freeze({
    name,
    targets: Object.freeze(targets),
    basePath: section.text('base_path', staticPath) ?? '',
    protocol,
    balance: section.choice<UpstreamConfig['balance']>('balance'),
    ...buildCapacity(section, protocol),
    // The queue is checked twice in that time.
    evictionDelay: section.setting('eviction_delay', durationWithin('20ms', '1h')),
    connectTimeout: section.setting('connect_timeout', timeout),
    responseTimeout: section.setting('response_timeout', timeout),
    bodyTimeout: section.text('body_timeout', timeout) ?? limits.bodyTimeout,
    websocketIdle: section.setting('websocket_idle', webSocketTime),
    websocketLifetime: section.setting('websocket_lifetime', webSocketTime),
    health: buildHealth(section),
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

type Capacity = Pick<UpstreamConfig, 'connections' | 'uploads' | 'maxPending'>

/** Uploads hold connections of HTTP/1.1, but streams of HTTP/2. */
function buildCapacity(section: Section, protocol: UpstreamProtocol): Capacity {
  const multiplexed = protocol !== 'http1'
  const connections =
    multiplexed && !section.has('connections') ? HTTP2_CONNECTIONS : section.count('connections')
  const maxPending = section.count('max_pending')
  const [most, key] = multiplexed ? [maxPending, 'max_pending'] : [connections, 'connections']
  const uploads = section.number('uploads') ?? Math.ceil(most / 2)
  if (uploads > most) section.fault('uploads', `uploads: must be at most ${key} (${most}), not ${uploads}`)
  return { connections, uploads, maxPending }
}

function buildHealth(parent: Section): UpstreamHealth | null {
  if (!parent.has('health')) return null
  const section = parent.section('health')
  return Object.freeze({
    path: section.text('path', healthPath) ?? '/',
    interval: section.setting('interval', durationWithin('100ms', '1h')),
    timeout: section.setting('timeout', durationWithin('10ms', '1m')),
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
