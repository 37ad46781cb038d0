/** Builds the settings from the main file, whose structure is already validated. */

import { resolve } from 'node:path'
import { namesSeveralHosts, parseUrl } from '../../seats-admin/store/postgres/url.ts'
import { canonicalHost, hostMatches } from '../model/host.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import { certificateEnds } from './certificate-ends.ts'
import { cidr, hostName, isEveryone, reachableOrigin, tableHost } from './addresses.ts'
import { frozenMap } from './frozen.ts'
import { buildIdentity } from './identity.ts'
import { confidential, distinct, InvalidValue, type ValueParser } from './invalid-value.ts'
import { buildLimits, buildMemory, buildWorkers } from './limits.ts'
import { buildAddresses, sourcesOfListeners } from './listeners.ts'
import { buildMethods } from './methods.ts'
import { buildRateLimits } from './rate-limit-settings.ts'
import { redisUrl } from './redis-settings.ts'
import type { Section } from './section.ts'
import { staticPath } from './static-path.ts'
import { buildDefaultTenant, buildTenants, type TenantConfig } from './tenant-settings.ts'
import { durationWithin } from './units.ts'
import { buildUpstreams } from './upstreams.ts'

/** The part of a configuration that the main file alone determines. @param folder what relative paths are relative to */
export function buildSettings(root: Section, folder: string) {
  if (hasPassword(root.value('redis'))) root.warnOfSecrets('redis')
  const api = buildPlace(root)
  const tenants = buildTenants(root, api)
  warnOfRedirects(root, api, tenants)
  const limits = buildLimits(root, tenants.size)
  const addresses = buildAddresses(root, folder)
  const upstreams = buildUpstreams(root, folder, limits.bodyTimeout)
  return {
    ...addresses,
    /** For metrics. */
    certificates: Object.freeze(certificateEnds(addresses.listen, upstreams, Date.now())),
    /** The origin at which other programs reach this instance, not its fleet; null: not known. */
    advertise: root.text('advertise', reachableOrigin) ?? null,
    /** Host names that the operators' listener accepts beside addresses and `localhost`; in lower case. */
    opsHosts: Object.freeze(root.texts('ops_hosts', hostName)),
    workers: buildWorkers(root),
    store: buildStore(root, folder),
    /** Null without a shared cache and message bus. */
    redis:
      root.text(
        'redis',
        confidential((text) => redisUrl(text, folder)),
      ) ?? null,
    defaultTenant: buildDefaultTenant(root, tenants),
    tenants: frozenMap(tenants),
    upstreams: frozenMap(upstreams),
    api,
    ...buildProxies(root),
    limits,
    /** By name. */
    rateLimits: frozenMap(buildRateLimits(root)),
    /** Accepted methods beside those of IANA's registry. */
    methods: buildMethods(root),
    memory: buildMemory(root),
    /** Null: upstreams get the identity of callers unsigned alone. */
    identity: buildIdentity(root, folder),
    /** Requests are counted by route; by upstream otherwise. */
    metrics: Object.freeze({ routes: root.section('metrics').value('routes') !== false }),
    /** How long entries of the audit are kept. */
    auditRetention: root.section('audit').setting('retention', durationWithin('1d', '36500d')),
    /** How long a start waits for a slow or unavailable store. */
    startupTimeout: root.setting('startup_timeout', durationWithin('0s', '1h')),
    /** How long requests in flight may continue after SIGTERM. */
    drain: root.setting('drain', durationWithin('0s', '24d')),
    /** How long requests are accepted after SIGTERM, while `/readyz` responds 503 for load balancers. */
    drainDelay: root.setting('drain_delay', durationWithin('0s', '1h')),
    /** For messages about the surroundings: what a setting names may be missing, taken or broken. */
    sources: buildSources(root),
  }
}

/** `api:` and `console:`, where the gateway's own endpoints and pages are. */
function buildPlace(root: Section): BuiltInPlace {
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
function warnOfRedirects(
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

function buildSources(root: Section) {
  return Object.freeze({
    listen: root.source('listen'),
    ops: root.source('ops'),
    decision: root.section('decision').source('listen'),
    store: root.source('store'),
    redis: root.source('redis'),
    tenants: root.source('tenants'),
    connections: root.section('limits').source('connections'),
    /** Of the tenants with an identity provider, by their ids. */
    issuers: byKey(root.section('tenants'), (tenant) => {
      const oidc = tenant.section('oidc')
      return oidc.has('issuer') ? oidc.source('issuer') : null
    }),
    /** Of each issuer of tokens, by the tenant's id, in the order of `TenantConfig.issuers`. */
    tokenIssuers: byKey(root.section('tenants'), (tenant) =>
      Object.freeze(tenant.sections('issuers').map((section) => section.source('issuer'))),
    ),
    /** Of each target, by the name of its upstream. */
    targets: byKey(root.section('upstreams'), (upstream) => Object.freeze(upstream.sources('targets'))),
    /** Of each address of `listen`. */
    listeners: sourcesOfListeners(root),
  })
}

/** By the keys of the section, without those that have none. */
function byKey<T>(all: Section, sourceOf: (section: Section) => T | null): ReadonlyMap<string, T> {
  const found = all.keys().map((key) => [key, sourceOf(all.section(key))] as const)
  return frozenMap(new Map(found.flatMap(([key, source]) => (source === null ? [] : [[key, source]]))))
}

function buildProxies(root: Section) {
  const proxyProtocol = root.flag('proxy_protocol')
  const trustedProxies = root.texts('trusted_proxies', cidr)
  if (trustedProxies.some(isEveryone))
    root.warn(
      'trusted_proxies',
      'everyone_trusted',
      'trusted_proxies: any client can name another address and scheme for itself: list the addresses of the proxies',
    )
  // Faulty blocks are left out here; their faults are already reported.
  if (proxyProtocol && !root.has('trusted_proxies'))
    root.fault(
      'proxy_protocol',
      'proxy_protocol: needs trusted_proxies: list the addresses of the proxies that send it',
    )
  return {
    /** CIDR blocks of peers whose X-Forwarded-* are continued. */
    trustedProxies: Object.freeze(trustedProxies),
    /** Connections begin with a PROXY protocol header; only those from `trustedProxies`. */
    proxyProtocol,
  }
}

/** `path`: absolute. `url`: with its credentials, so never to be shown. */
export type StoreConfig =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

function buildStore(root: Section, folder: string): StoreConfig {
  const read = (text: string) => storeUrl(text, folder)
  if (hasPassword(root.value('store'))) root.warnOfSecrets('store')
  const store = root.setting('store', confidential(read))
  const fault = store.kind === 'postgres' ? postgresFault(store.url) : null
  if (fault !== null) root.fault('store', `store: ${fault}`)
  return Object.freeze(store)
}

function hasPassword(url: unknown): boolean {
  return typeof url === 'string' && (URL.parse(url)?.password ?? '') !== ''
}

function storeUrl(text: string, folder: string): StoreConfig | InvalidValue {
  if (!/^postgres(ql)?:/i.test(text)) {
    const path = sqlitePath(text, folder)
    return path instanceof InvalidValue ? path : { kind: 'sqlite', path }
  }
  const url = URL.canParse(text) ? new URL(text) : null
  const isWhole = url !== null && url.hostname !== '' && url.pathname.length >= 2
  if (!isWhole && !namesSeveralHosts(text))
    return new InvalidValue('is not postgres://user:password@host:port/database')
  return { kind: 'postgres', url: text }
}

/** @returns a sentence without a credential; null: the store can be opened with the URL */
function postgresFault(url: string): string | null {
  try {
    parseUrl(url)
    return null
  } catch (cause) {
    return cause instanceof Error ? cause.message : 'the URL is not valid'
  }
}

function sqlitePath(text: string, folder: string): string | InvalidValue {
  if (!text.startsWith('sqlite:'))
    return new InvalidValue('is not sqlite:PATH or postgres://user:password@host:port/database')
  const path = text.slice('sqlite:'.length)
  if (path === '' || path.endsWith('/'))
    return new InvalidValue(
      'names no file after "sqlite:": write sqlite:PATH, such as sqlite:./data/seatgate.db',
    )
  if (path.startsWith(':'))
    return new InvalidValue(
      'names no file: write sqlite:PATH, as a store in memory would lose writes that were answered with 2xx',
    )
  if (/^\/\/[^/]/.test(path))
    return new InvalidValue('begins with two slashes: write sqlite:relative/path or sqlite:/absolute/path')
  if (/[\0-\x1f\x7f?#]/.test(path))
    return new InvalidValue('has a control character, ? or # in its path: remove it')
  return resolve(folder, path)
}
