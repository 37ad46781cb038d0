/** Builds the settings from the main file, whose structure is already validated. */

import { resolve } from 'node:path'
import { namesSeveralHosts, parseUrl } from '../../seats-admin/store/postgres/url.ts'
import { cidr, hostName, isEveryone, reachableOrigin } from './addresses.ts'
import { buildPlace, warnOfRedirects } from './api-settings.ts'
import { frozenMap } from './frozen.ts'
import { buildIdentity } from './identity.ts'
import { confidential, InvalidValue } from './invalid-value.ts'
import { buildLimits, buildMemory } from './limits.ts'
import { buildAddresses, sourcesOfListeners } from './listeners.ts'
import { buildMethods } from './methods.ts'
import { buildRateLimits } from './rate-limit-settings.ts'
import { redisUrl } from './redis-settings.ts'
import type { Section } from './section.ts'
import { buildDefaultTenant, buildTenants } from './tenant-settings.ts'
import { durationWithin } from './units.ts'
import { buildUpstreams } from './upstreams.ts'
import { buildWorkers } from './workers.ts'

/** The part of a configuration that the main file alone determines. @param folder what relative paths are relative to */
export function buildSettings(root: Section, folder: string) {
  if (hasPassword(root.value('redis'))) root.warnOfSecrets('redis')
  const api = buildPlace(root)
  const tenants = buildTenants(root, api)
  warnOfRedirects(root, api, tenants)
  const limits = buildLimits(root, tenants.size)
  return {
    ...buildAddresses(root, folder),
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
    upstreams: frozenMap(buildUpstreams(root, folder, limits.bodyTimeout)),
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

function buildSources(root: Section) {
  const [tenants, upstreams] = [root.section('tenants'), root.section('upstreams')]
  return Object.freeze({
    listen: root.source('listen'),
    ops: root.source('ops'),
    decision: root.section('decision').source('listen', 'decision.listen'),
    store: root.source('store'),
    redis: root.source('redis'),
    tenants: root.source('tenants'),
    connections: root.section('limits').source('connections', 'limits.connections'),
    /** Of the tenants with an identity provider, by their ids. */
    issuers: byKey(tenants, (id) => {
      const oidc = tenants.section(id).section('oidc')
      return oidc.has('issuer') ? oidc.source('issuer', `tenants.${id}.oidc.issuer`) : null
    }),
    /** Of each issuer of tokens, by the tenant's id, in the order of `TenantConfig.issuers`. */
    tokenIssuers: byKey(tenants, (id) =>
      Object.freeze(
        tenants
          .section(id)
          .sections('issuers')
          .map(({ section }, index) => section.source('issuer', `tenants.${id}.issuers[${index}].issuer`)),
      ),
    ),
    /** Of each target, by the name of its upstream. */
    targets: byKey(upstreams, (name) =>
      Object.freeze(upstreams.section(name).sources('targets', `upstreams.${name}.targets`)),
    ),
    /** Of each address of `listen`. */
    listeners: sourcesOfListeners(root),
  })
}

/** By the keys of the section, without those that have none. */
function byKey<T>(section: Section, sourceOf: (key: string) => T | null): ReadonlyMap<string, T> {
  const found = section.keys().map((key) => [key, sourceOf(key)] as const)
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
