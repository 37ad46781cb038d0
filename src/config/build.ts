/** Builds the settings from the main file, whose structure is already validated. */

import { buildPlace, warnOfRedirects } from './api-settings.ts'
import { resolve } from 'node:path'
import {
  address,
  addressesConflict,
  cidr,
  hostName,
  isEveryAddress,
  isEveryone,
  reachableOrigin,
} from './addresses.ts'
import { namesSeveralHosts, parseUrl } from '../../seats-admin/store/postgres/url.ts'
import { InvalidValue, confidential } from './invalid-value.ts'
import type { Config, SettingSource, SettingSources, StoreConfig, TablesConfig } from './config.ts'
import { frozenMap } from './frozen.ts'
import { buildIdentity } from './identity.ts'
import { buildLimits, buildMemory } from './limits.ts'
import { buildDecision } from './decision-settings.ts'
import { buildListeners, sourcesOfListeners } from './listeners.ts'
import { buildMethods } from './methods.ts'
import { buildRateLimits } from './rate-limit-settings.ts'
import { redisUrl } from './redis-settings.ts'
import type { Section } from './section.ts'
import { buildDefaultTenant, buildTenants } from './tenant-settings.ts'
import { durationWithin } from './units.ts'
import { buildUpstreams } from './upstreams.ts'
import { buildWorkers } from './workers.ts'

/** The part of a configuration that the main file alone determines. */
export type Settings = Omit<
  Config,
  'file' | 'files' | 'signature' | 'shadow' | 'openTelemetry' | 'providerProxies' | keyof TablesConfig
>

/** @param folder what relative paths are relative to */
export function buildSettings(root: Section, folder: string): Settings {
  if (hasPassword(root.value('redis'))) root.warnOfSecrets('redis')
  const api = buildPlace(root)
  const tenants = buildTenants(root, api)
  warnOfRedirects(root, api, tenants)
  const limits = buildLimits(root, tenants.size)
  return {
    ...buildAddresses(root, folder),
    advertise: root.text('advertise', reachableOrigin) ?? null,
    opsHosts: Object.freeze(root.texts('ops_hosts', hostName)),
    workers: buildWorkers(root),
    store: buildStore(root, folder),
    redis:
      root.text(
        'redis',
        confidential((text) => redisUrl(text, folder)),
      ) ?? null,
    defaultTenant: buildDefaultTenant(root, tenants),
    tenants: frozenMap(tenants),
    upstreams: frozenMap(buildUpstreams(root, folder, limits)),
    api,
    ...buildProxies(root),
    limits,
    rateLimits: frozenMap(buildRateLimits(root)),
    methods: buildMethods(root),
    memory: buildMemory(root),
    identity: buildIdentity(root, folder),
    metrics: Object.freeze({ routes: root.section('metrics').value('routes') !== false }),
    auditRetention: root.section('audit').setting('retention', durationWithin('1d', '36500d')),
    startupTimeout: root.setting('startup_timeout', durationWithin('0s', '1h')),
    drain: root.setting('drain', durationWithin('0s', '24d')),
    drainDelay: root.setting('drain_delay', durationWithin('0s', '1h')),
    sources: buildSources(root),
  }
}

function buildSources(root: Section): SettingSources {
  return Object.freeze({
    listen: root.source('listen'),
    ops: root.source('ops'),
    decision: root.section('decision').source('listen', 'decision.listen'),
    store: root.source('store'),
    redis: root.source('redis'),
    tenants: root.source('tenants'),
    connections: root.section('limits').source('connections', 'limits.connections'),
    issuers: sourcesOfIssuers(root.section('tenants')),
    tokenIssuers: sourcesOfTokenIssuers(root.section('tenants')),
    targets: sourcesOfTargets(root.section('upstreams')),
    listeners: sourcesOfListeners(root),
  })
}

function sourcesOfIssuers(tenants: Section): SettingSources['issuers'] {
  const found = tenants.keys().flatMap((id): [string, SettingSource][] => {
    const oidc = tenants.section(id).section('oidc')
    return oidc.has('issuer') ? [[id, oidc.source('issuer', `tenants.${id}.oidc.issuer`)]] : []
  })
  return frozenMap(new Map(found))
}

function sourcesOfTokenIssuers(tenants: Section): SettingSources['tokenIssuers'] {
  const found = tenants.keys().map((id): [string, readonly SettingSource[]] => {
    const sections = tenants.section(id).sections('issuers')
    const label = (index: number) => `tenants.${id}.issuers[${index}].issuer`
    return [id, Object.freeze(sections.map(({ section }, index) => section.source('issuer', label(index))))]
  })
  return frozenMap(new Map(found))
}

function sourcesOfTargets(upstreams: Section): SettingSources['targets'] {
  const found = upstreams.keys().map((name): [string, readonly SettingSource[]] => {
    const targets = upstreams.section(name).sources('targets', `upstreams.${name}.targets`)
    return [name, Object.freeze(targets)]
  })
  return frozenMap(new Map(found))
}

function buildProxies(root: Section): Pick<Config, 'trustedProxies' | 'proxyProtocol'> {
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
  return { trustedProxies: Object.freeze(trustedProxies), proxyProtocol }
}

function buildAddresses(root: Section, folder: string): Pick<Config, 'listen' | 'ops' | 'decision'> {
  const listen = buildListeners(root, folder)
  const ops = root.setting('ops', address)
  const isKnown = (key: string) => !root.has(key) || root.value(key) !== undefined
  if (isKnown('listen') && isKnown('ops') && listen.some((each) => addressesConflict(each, ops))) {
    const key = root.has('ops') ? 'ops' : 'listen'
    root.fault(key, `${key}: listen and ops cannot share an address and port: choose another port`)
  }
  if (root.value('ops') !== undefined && isEveryAddress(ops))
    root.warn(
      'ops',
      'ops_open',
      `ops: asks for no credential, and accepts connections on every address of this machine`,
    )
  return { listen, ops, decision: buildDecision(root, { listen, ops: [ops] }) }
}

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
