/** Builds the settings that the main file alone determines, and checks the rules across its keys. */

import type { BuiltInPlace } from '../model/built-in-place.ts'
import { canonicalHost, hostMatches } from '../model/host.ts'
import { isEveryone } from './addresses.ts'
import { certificateEnds } from './certificate-ends.ts'
import { frozenMap } from './frozen.ts'
import { oneOf } from './invalid-value.ts'
import { buildLimits } from './limits.ts'
import { checkAddresses, sourcesOfListeners } from './listeners.ts'
import { gatewayFile } from './main-file.ts'
import { buildMethods } from './methods.ts'
import { buildRateLimits } from './rate-limit-settings.ts'
import type { Section } from './section.ts'
import { checkStore } from './store-settings.ts'
import { buildTablesLocation } from './tables-location.ts'
import { buildTenants, type TenantConfig } from './tenant-settings.ts'
import { buildUpstreams } from './upstreams.ts'

type Values = ReturnType<typeof gatewayFile.of>

/** The part of a configuration that the main file alone determines. */
export function buildSettings(root: Section) {
  for (const key of ['redis', 'store']) if (hasPassword(root.value(key))) root.warnOfSecrets(key)
  const values = gatewayFile.of(root)
  const { listen, ops, decision, advertise, opsHosts, workers, store, redis, memory, identity, metrics } =
    values
  const { startupTimeout, drain, drainDelay, trustedProxies, proxyProtocol } = values
  const api = buildPlace(values, root)
  const tenants = buildTenants(values.tenants, root.section('tenants'), api.authPrefix)
  warnOfRedirects(root, api, tenants)
  const limits = buildLimits(values.limits, root.section('limits'), tenants.size)
  const upstreams = buildUpstreams(values.upstreams, limits.bodyTimeout)
  checkAddresses(values, root)
  checkStore(store, root)
  checkProxies(values, root)
  const defaultTenant = defaultTenantOf(root, tenants)
  return {
    listen,
    ops,
    decision,
    /** The renewal and expiry of each certificate, for metrics. */
    certificates: Object.freeze(certificateEnds(listen, upstreams, Date.now())),
    advertise,
    opsHosts,
    workers,
    store,
    redis,
    defaultTenant,
    tenants,
    tables: buildTablesLocation(values.tables, root, [...tenants.keys()], defaultTenant),
    upstreams,
    api,
    trustedProxies,
    proxyProtocol,
    limits,
    rateLimits: buildRateLimits(values.rateLimits, root),
    methods: buildMethods(root),
    memory,
    identity,
    metrics,
    auditRetention: values.audit.retention,
    startupTimeout,
    drain,
    drainDelay,
    /**
     * The places of settings, for messages about files, addresses and servers that are missing, taken or
     * broken.
     */
    sources: buildSources(root),
  }
}

/** The location of the gateway's own endpoints and pages: `api:`, `api_hosts:` and `console:`. */
function buildPlace({ api, apiHosts, console, tenants: all }: Values, root: Section): BuiltInPlace {
  const hasAlias = root.has('api_hosts')
  const section = root.section('api')
  if (hasAlias && section.has('hosts'))
    section.faultAtKey('hosts', 'hosts: api_hosts says the same: keep one')
  const hosts = hasAlias ? apiHosts : api.hosts
  return Object.freeze({
    // An empty list has the same effect as no list: every host.
    hosts: hosts.length === 0 ? null : hosts,
    prefix: api.prefix,
    authPrefix: api.authPrefix,
    console,
    scim: [...all.values()].some(({ scim }) => scim !== null),
  })
}

/**
 * The tenant of tokens without `tenant_id`. A single tenant is the default; null: tokens must carry
 * `tenant_id`.
 */
function defaultTenantOf(root: Section, tenants: ReadonlyMap<string, TenantConfig>): string | null {
  const ids = [...tenants.keys()]
  const only = ids.length === 1 ? (ids[0] ?? null) : null
  return root.text('default_tenant', oneOf(tenants, 'a tenant')) ?? only
}

/** A warning and not a fault, because a proxy in front may send another `Host` than the browser. */
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
    /** The issuers of identity providers, by the ids of their tenants. */
    issuers: byKey(root.section('tenants'), (tenant) => {
      const oidc = tenant.section('oidc')
      return oidc.has('issuer') ? oidc.source('issuer') : null
    }),
    /** What names the transmitter of a provider's events, by the ids of the tenants with events. */
    events: byKey(root.section('tenants'), (tenant) => {
      const oidc = tenant.section('oidc')
      if (!oidc.has('events')) return null
      const events = oidc.section('events')
      const key = ['jwks_uri', 'issuer'].find((each) => events.has(each))
      return key === undefined ? oidc.source('events') : events.source(key)
    }),
    /** The issuers of tokens by the tenant's id, in the order of `TenantConfig.issuers`. */
    tokenIssuers: byKey(root.section('tenants'), (tenant) =>
      Object.freeze(tenant.sections('issuers').map((section) => section.source('issuer'))),
    ),
    /** The targets, by the name of their upstream. */
    targets: byKey(root.section('upstreams'), (upstream) => Object.freeze(upstream.sources('targets'))),
    /** The addresses of `listen`. */
    listeners: sourcesOfListeners(root),
  })
}

/** The sources by the keys of a section. Keys without a source are left out. */
function byKey<T>(all: Section, sourceOf: (section: Section) => T | null): ReadonlyMap<string, T> {
  const sources = all.keys().map((key) => [key, sourceOf(all.section(key))] as const)
  return frozenMap(new Map(sources.flatMap(([key, source]) => (source === null ? [] : [[key, source]]))))
}

function checkProxies({ trustedProxies, proxyProtocol }: Values, root: Section): void {
  if (trustedProxies.some(isEveryone))
    root.warn(
      'trusted_proxies',
      'everyone_trusted',
      'trusted_proxies: any client can name another address and scheme for itself: list the addresses of the proxies',
    )
  if (proxyProtocol && !root.has('trusted_proxies'))
    root.fault(
      'proxy_protocol',
      'proxy_protocol: needs trusted_proxies: list the addresses of the proxies that send it',
    )
}

function hasPassword(url: unknown): boolean {
  return typeof url === 'string' && (URL.parse(url)?.password ?? '') !== ''
}
