/** The keys of the main file. */

import { cidr, hostName, reachableOrigin, tableHost } from './addresses.ts'
import { identity } from './identity.ts'
import { InvalidValue, type ValueParser } from './invalid-value.ts'
import { limits, memory, workers } from './limits.ts'
import { decision, listen, ops } from './listeners.ts'
import { rateLimits } from './rate-limit-settings.ts'
import { redisUrl } from './redis-settings.ts'
import { asWritten, duration, file, flag, list, map, optional, required, text } from './setting.ts'
import { staticPath } from './static-path.ts'
import { store } from './store-settings.ts'
import { tables } from './tables-location.ts'
import { tenants } from './tenant-settings.ts'
import { upstreams } from './upstreams.ts'

/**
 * A prefix of built-in paths; '' is none. Below `/v1` or `/auth`, moved endpoints could have the paths of
 * others.
 */
const prefix: ValueParser<string> = (text) => {
  const path = text === '' ? text : staticPath(text)
  if (path instanceof InvalidValue) return path
  return /^\/(?:v1|auth|\.well-known)(?:\/|$)/.test(path)
    ? new InvalidValue('is a path of the built-in endpoints themselves: choose another, such as /_seatgate')
    : path
}

export const gatewayFile = file(
  'Seatgate configuration',
  'Values may contain ${NAME} or ${NAME:-default}. They are replaced from the environment or, for variables that are not set there, from the .env file next to this file. ${file:PATH} is replaced by the content of a file.',
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
    store,
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
        'Prefix of the paths of sign-in and SCIM, and of the path to the keys of signed identity. The redirect_uri that providers know includes it.',
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
    tables,
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
