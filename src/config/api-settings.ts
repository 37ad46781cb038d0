/** Reads `api:` and `console:`, where the gateway's own endpoints and pages are. */

import { canonicalHost, hostMatches } from '../model/host.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import type { TenantConfig } from './tenant-settings.ts'
import { tableHost } from './addresses.ts'
import { distinct, InvalidValue, type ValueParser } from './invalid-value.ts'
import type { Section } from './section.ts'
import { staticPath } from './static-path.ts'

export function buildPlace(root: Section): BuiltInPlace {
  const section = root.section('api')
  if (root.has('api_hosts') && section.has('hosts'))
    section.faultAtKey('hosts', 'hosts: api_hosts says the same: keep one')
  const [of, key] = root.has('api_hosts') ? [root, 'api_hosts'] : [section, 'hosts']
  const hosts = of.texts(key, distinct(tableHost))
  return Object.freeze({
    // An empty list is the default, written out.
    hosts: hosts.length === 0 ? null : Object.freeze(hosts),
    prefix: section.text('prefix', prefix) ?? '',
    authPrefix: section.text('auth_prefix', prefix) ?? '',
    console: root.flag('console'),
  })
}

/** '' is the place without a prefix, written out. Below `/v1` and `/auth`, moved endpoints could be at the path of others. */
const prefix: ValueParser<string> = (text) => {
  const path = text === '' ? text : staticPath(text)
  if (path instanceof InvalidValue) return path
  return /^\/(?:v1|auth|\.well-known)(?:\/|$)/.test(path)
    ? new InvalidValue('is a path of the built-in endpoints themselves: choose another, such as /_seatgate')
    : path
}

/** Not a fault: a proxy in front may send another `Host` than the browser's. */
export function warnOfRedirects(
  root: Section,
  { hosts }: BuiltInPlace,
  tenants: ReadonlyMap<string, TenantConfig>,
): void {
  if (hosts === null) return
  const key = root.has('api_hosts') ? 'api_hosts' : 'api.hosts'
  for (const [id, { oidc }] of tenants) {
    const host = canonicalHost(URL.parse(oidc?.redirectUri ?? '')?.host ?? '')
    if (host === null || hosts.some((each) => hostMatches(each, host))) continue
    const message = `redirect_uri: ${host} is not among ${key}, so a sign-in does not return to the gateway unless a proxy sends another Host: add it to ${key}, or correct one of the two`
    root.section('tenants').section(id).section('oidc').warn('redirect_uri', 'redirect_elsewhere', message)
  }
}
