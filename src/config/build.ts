/** The keys of the main file, and the settings that it determines alone. */

import { resolve } from 'node:path'
import { namesSeveralHosts, parseUrl } from '../../seats-admin/store/postgres/url.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import { canonicalHost, hostMatches } from '../model/host.ts'
import { cidr, hostName, isEveryone, reachableOrigin, tableHost } from './addresses.ts'
import { certificateEnds } from './certificate-ends.ts'
import { frozenMap } from './frozen.ts'
import { identity } from './identity.ts'
import { InvalidValue, oneOf, type ValueParser } from './invalid-value.ts'
import { buildLimits, limits, memory, workers } from './limits.ts'
import { checkAddresses, decision, listen, ops, sourcesOfListeners } from './listeners.ts'
import { buildMethods } from './methods.ts'
import { buildRateLimits, rateLimits } from './rate-limit-settings.ts'
import { redisUrl } from './redis-settings.ts'
import type { Section } from './section.ts'
import {
  asWritten,
  duration,
  file,
  flag,
  list,
  map,
  optional,
  required,
  text,
  type ValuesOf,
  valuesOf,
} from './setting.ts'
import { staticPath } from './static-path.ts'
import { buildTenants, type TenantConfig, tenants } from './tenant-settings.ts'
import { buildUpstreams, upstreams } from './upstreams.ts'

/** '' is the place without a prefix, written out. Below `/v1` and `/auth`, moved endpoints could be at the path of others. */
const prefix: ValueParser<string> = (text) => {
  const path = text === '' ? text : staticPath(text)
  if (path instanceof InvalidValue) return path
  return /^\/(?:v1|auth|\.well-known)(?:\/|$)/.test(path)
    ? new InvalidValue('is a path of the built-in endpoints themselves: choose another, such as /_seatgate')
    : path
}

/** `path`: absolute. `url`: with its credentials, so never to be shown. */
export type StoreConfig =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** Checks what needs the whole URL of PostgreSQL. */
function checkStore(store: StoreConfig, root: Section): void {
  const fault = store.kind === 'postgres' ? postgresFault(store.url) : null
  if (fault !== null) root.fault('store', `store: ${fault}`)
}

function hasPassword(url: unknown): boolean {
  return typeof url === 'string' && (URL.parse(url)?.password ?? '') !== ''
}

function storeUrl(text: string, { folder }: Section): StoreConfig | InvalidValue {
  if (!/^postgres(ql)?:/i.test(text)) {
    const path = sqlitePath(text, folder)
    return path instanceof InvalidValue ? path : Object.freeze({ kind: 'sqlite', path })
  }
  const url = URL.canParse(text) ? new URL(text) : null
  const isWhole = url !== null && url.hostname !== '' && url.pathname.length >= 2
  if (!isWhole && !namesSeveralHosts(text))
    return new InvalidValue('is not postgres://user:password@host:port/database')
  return Object.freeze({ kind: 'postgres', url: text })
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

export const gatewayFile = file(
  'Seatgate configuration',
  'Values may contain ${NAME} or ${NAME:-default}. They are replaced from the environment or, for variables that are not set there, from the .env file next to this file.',
  {
    listen,
    ops,
    advertise: text(
      'The origin at which others reach this one instance, not the load balancer in front of all of them. GET /v1/fleet shows it as url, so that seatgate verify can ask each instance. It may differ for each instance: use a variable.',
      reachableOrigin,
      { examples: ['http://10.0.0.7:8080'] },
    ),
    decision,
    opsHosts: list(
      "Host names, without a port, that the operators' listener accepts in addition to IP addresses and localhost. Any other Host gets 421, so no web page can read the listener by DNS rebinding.",
      hostName,
      { default: [], items: { examples: ['gateway.internal'] } },
    ),
    workers,
    store: text(
      'The store of Seats and API keys. sqlite:PATH is a file on this machine, relative to this file. postgres://user:password@host:port/database serves a fleet. The parameters sslmode (disable, which is the default, require, verify-ca, verify-full), sslrootcert (a file, or system), sslcert and sslkey have the same meaning as in libpq. Specify one host, which must lead to the primary, also after a failover; see fleet.md. target_session_attrs may be primary, read-write or any.',
      storeUrl,
      {
        privacy: 'confidential',
        pattern: '^(sqlite:|postgres(ql)?://)',
        writeOnly: true,
        default: 'sqlite:./data/seatgate.db',
        examples: ['sqlite:./data/seatgate.db', 'postgres://seatgate:${PGPASSWORD}@db.example/seatgate'],
      },
    ),
    redis: text(
      'Redis or Valkey: a cache and a message bus that the gateways of a fleet share. It is never authoritative. The forms are redis://host:port, rediss:// for TLS, redis+sentinel://host,host/master and redis+cluster://host,host. The parameters are prefix (of all keys; seatgate: by default), ca, cert, key, sentinel_username and sentinel_password. With TLS, each server must have a certificate for the host that the URL, the sentinels or the cluster name. Without this key, cache and messages stay inside the process.',
      (url, { folder }) => redisUrl(url, folder),
      {
        privacy: 'confidential',
        pattern: '^rediss?([+-][a-z]+)?://',
        writeOnly: true,
        examples: ['redis://127.0.0.1:6379', 'rediss://gate:${REDIS_PASSWORD}@cache:6380/0?prefix=prod:'],
      },
    ),
    defaultTenant: text(
      'The tenant of tokens that have no tenant_id. Without this key, a configuration with one tenant uses that tenant. With several tenants, such tokens are refused.',
      asWritten,
      { examples: ['acme'] },
    ),
    trustedProxies: list(
      'Addresses and CIDR blocks of the proxies in front of the gateway. The gateway continues their X-Forwarded-*, Forwarded and X-Request-Id headers, and drops those of other clients.',
      cidr,
      { default: [], items: { examples: ['10.0.0.0/8'] } },
    ),
    proxyProtocol: flag(
      'Every connection to every listener must begin with a PROXY protocol header (version 1 or 2) from an address in trusted_proxies. With TLS, the header comes before the handshake. Other connections are closed. Requires trusted_proxies.',
    ),
    methods: list(
      "Request methods to accept in addition to those in IANA's registry, such as LIST. Any other method gets 400 request_malformed.",
      asWritten,
      { default: [], items: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$", examples: ['LIST'] } },
    ),
    console: flag(
      "Serves the console at /_seatgate/console/ of the public listener: pages for the people who manage a tenant. It calls the gateway's own endpoints with the credential of its user. With api.auth_prefix, that prefix comes before its path.",
      { examples: [true] },
    ),
    api: map("Location of the gateway's own endpoints.", {
      prefix: text(
        'Prefix of the paths for administration and for questions about access: with /_seatgate, Seats are at /_seatgate/v1/seats. Paths below /v1 then belong to your services.',
        prefix,
        { default: '', examples: ['/_seatgate'] },
      ),
      authPrefix: text(
        'Prefix of the sign-in paths and of the path to the keys of signed identity. The redirect_uri that providers know includes it.',
        prefix,
        { default: '', examples: ['/_seatgate'] },
      ),
      hosts: list(
        "Hosts on which the gateway's own endpoints answer; *.example.com stands for one label. On other hosts, their paths are like any other. An empty list has the same effect as leaving the key out. Default: every host.",
        tableHost,
        { distinct: true, items: { examples: ['gateway.example.com'] } },
      ),
    }),
    apiHosts: list('Alias of api.hosts.', tableHost, {
      distinct: true,
      minItems: 1,
      items: { examples: ['gateway.example.com'] },
    }),
    rateLimits,
    limits,
    memory,
    identity,
    metrics: map("Request metrics on the operators' listener.", {
      routes: flag(
        'Whether requests are counted and timed per route. If false, seatgate_requests_total and seatgate_request_duration_seconds have the label upstream instead of route. Use this with thousands of routes, since each route takes 17 series and one more per status.',
        { default: true, examples: [false] },
      ),
    }),
    audit: map('The record, in the store, of who changed which Seat or API key.', {
      retention: duration(
        'How long entries are kept. Older ones are deleted in the background; the hash chain of the remaining entries stays verifiable.',
        '1d',
        '36500d',
        { default: '400d', examples: ['3650d'] },
      ),
    }),
    startupTimeout: duration(
      'How long startup waits for a store that is slow or unreachable. During this time, /livez returns 200, and /readyz returns 503 with the reason. Afterwards, the process exits with code 1. If the store refuses (password, version, file), the process exits immediately.',
      '0s',
      '1h',
      { default: '60s', examples: ['5m'] },
    ),
    drain: duration('How long requests in flight may take after SIGTERM.', '0s', '24d', {
      default: '30s',
      examples: ['5m'],
    }),
    drainDelay: duration(
      'Time between SIGTERM, when /readyz turns 503, and the start of the drain. It gives load balancers time to notice.',
      '0s',
      '1h',
      { default: '0s', examples: ['10s'] },
    ),
    tenants: required(tenants),
    upstreams,
    routes: list(
      'Route tables: files or globs, relative to this file. Each must match at least one file.',
      asWritten,
      { default: [], items: { examples: ['routes/*.yaml'] } },
    ),
    shadow: optional(
      map(
        'Candidate tables, which take the place of those in routes for comparison: each request is also judged by them, but only the tables in routes determine the response.',
        {
          routes: required(
            list(
              'Candidate route tables: files or globs, relative to this file. Each must match at least one file. A file may be in both lists.',
              asWritten,
              { minItems: 1, items: { examples: ['next/*.yaml'] } },
            ),
          ),
        },
      ),
    ),
  },
)

type Values = ValuesOf<typeof gatewayFile.fields>

/** The part of a configuration that the main file alone determines. */
export function buildSettings(root: Section) {
  for (const key of ['redis', 'store']) if (hasPassword(root.value(key))) root.warnOfSecrets(key)
  const values = valuesOf(gatewayFile.fields, root)
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
  return {
    listen,
    ops,
    decision,
    /** For metrics. */
    certificates: Object.freeze(certificateEnds(listen, upstreams, Date.now())),
    advertise,
    opsHosts,
    workers,
    store,
    redis,
    defaultTenant: defaultTenant(root, tenants),
    tenants,
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
    /** For messages about the surroundings: what a setting names may be missing, taken or broken. */
    sources: buildSources(root),
  }
}

/** `api:` and `console:`, where the gateway's own endpoints and pages are. */
function buildPlace({ api, apiHosts, console }: Values, root: Section): BuiltInPlace {
  const hasAlias = root.has('api_hosts')
  const section = root.section('api')
  if (hasAlias && section.has('hosts'))
    section.faultAtKey('hosts', 'hosts: api_hosts says the same: keep one')
  const hosts = hasAlias ? apiHosts : api.hosts
  return Object.freeze({
    // An empty list is the default, written out.
    hosts: hosts.length === 0 ? null : hosts,
    prefix: api.prefix,
    authPrefix: api.authPrefix,
    console,
  })
}

/** A single tenant is its own default. With several tenants and no default, tokens must carry `tenant_id`. */
function defaultTenant(root: Section, tenants: ReadonlyMap<string, TenantConfig>): string | null {
  const ids = [...tenants.keys()]
  const only = ids.length === 1 ? (ids[0] ?? null) : null
  return root.text('default_tenant', oneOf(tenants, 'a tenant')) ?? only
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
