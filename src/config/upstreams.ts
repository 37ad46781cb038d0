/** Builds `upstreams:`. */

import { origin } from './addresses.ts'
import { InvalidValue, confidential, quote } from './invalid-value.ts'
import type { Limits, UpstreamConfig, UpstreamHealth } from './config.ts'
import type { Section } from './section.ts'
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
  const targets = section.texts('targets', confidential(distinctOrigin()))
  const tls = buildUpstreamTls(section, folder)
  if (tls !== null && targets.some(({ protocol }) => protocol === 'http:'))
    section.faultAtKey('tls', 'tls: requires https:// targets, and a target is http://')
  const connections = section.count('connections')
  const uploads = section.number('uploads') ?? Math.ceil(connections / 2)
  if (uploads > connections)
    section.fault('uploads', `uploads: must be at most connections (${connections}), not ${uploads}`)
  return Object.freeze({
    name,
    targets: Object.freeze(targets),
    balance: section.setting('balance', balance),
    connections,
    uploads,
    // The queue is checked twice in that time.
    evictionDelay: section.setting('eviction_delay', durationWithin('20ms', '1h')),
    maxPending: section.count('max_pending'),
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

function balance(text: string): UpstreamConfig['balance'] | InvalidValue {
  return text === 'round-robin' || text === 'least-pending'
    ? text
    : new InvalidValue('is not round-robin or least-pending')
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
  return /^\/[!"$-~]*$/.test(text) ? text : new InvalidValue('is not a path such as /healthz')
}

function distinctOrigin(): (text: string) => URL | InvalidValue {
  const seen = new Set<string>()
  return (text) => {
    const url = origin(text)
    if (url instanceof InvalidValue) return url
    if (seen.has(url.origin)) return new InvalidValue('is listed twice')
    seen.add(url.origin)
    return url
  }
}
