/** The treatment of request header fields by name. */

import { OWN_CREDENTIAL_FIELDS } from '../model/principal.ts'
import { HeaderRules } from './header-rules.ts'

/**
 * - `pass`, `drop`: on every route
 * - `override`: names another path or method; passes with `pass_overrides`
 * - `proxy`: describes the client of a proxy; passes from trusted proxies
 * - the others by name
 */
export type Treatment = 'pass' | 'drop' | 'override' | 'proxy' | (typeof BY_NAME)[number]

/**
 * Fields for one connection only (RFC 9110, section 7.6.1), or for the gateway. The gateway writes the
 * framing itself.
 */
const DROPPED = [
  'content-length',
  'expect',
  // The gateway writes the Host; the one of the client passes as x-forwarded-host, or with `pass_host`.
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  ...OWN_CREDENTIAL_FIELDS,
  'x-request-id',
  // CGI turns it into HTTP_PROXY, which HTTP clients read as their own setting (CVE-2016-5385).
  'proxy',
]

/**
 * Fields that replace the request line in: IIS, Symfony, Laminas (x-original-url, x-rewrite-url), Rack,
 * Laravel, Express and ASP.NET (the method ones), Envoy (x-envoy-…), forward-auth applications
 * (x-forwarded-uri and similar), gunicorn (script-name, path-info), iisnode (x-waws-…), Rack::Sendfile
 * (x-sendfile-type, x-accel-mapping).
 */
export const OVERRIDES = [
  'path-info',
  'script-name',
  'x-accel-mapping',
  'x-envoy-original-host',
  'x-envoy-original-method',
  'x-envoy-original-path',
  'x-forwarded-method',
  'x-forwarded-path',
  'x-forwarded-uri',
  'x-forwarded-url',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-method',
  'x-original-path',
  'x-original-uri',
  'x-original-url',
  'x-override-url',
  'x-rewrite-path',
  'x-rewrite-uri',
  'x-rewrite-url',
  'x-script-name',
  'x-sendfile-type',
  'x-waws-unencoded-url',
]

/** Besides all `x-forwarded-…`: other names for the address, scheme and host of the client. */
const FROM_PROXIES = [
  'cf-connecting-ip',
  'fastly-client-ip',
  'front-end-https',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-host',
  'x-http-host-override',
  'x-original-for',
  'x-original-forwarded-for',
  'x-original-host',
  'x-original-proto',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-scheme',
  'x-url-scheme',
]

const BY_NAME = [
  'authorization',
  'connection',
  'cookie',
  'forwarded',
  'traceparent',
  'tracestate',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
] as const

/** Another spelling of a name with a treatment is dropped, as only an attack sends such. */
const treated = (exact: Treatment) => ({ exact, other: 'drop' }) as const

const names = new Map(
  [
    ...DROPPED.map((name) => [name, 'drop'] as const),
    ...OVERRIDES.map((name) => [name, 'override'] as const),
    ...FROM_PROXIES.map((name) => [name, 'proxy'] as const),
    ...BY_NAME.map((name) => [name, name] as const),
  ].map(([name, treatment]) => [name, treated(treatment)]),
)
const prefixes = [
  { prefix: 'x-seatgate', ...treated('drop') },
  { prefix: 'x-forwarded', ...treated('proxy') },
]

export const requestHeaderRules: HeaderRules<Treatment> = new HeaderRules<Treatment>(names, prefixes, 'pass')

/**
 * The same, and a field of the gateway that no client may send in any spelling.
 *
 * @param name folded
 */
export function rulesWithout(name: string): HeaderRules<Treatment> {
  return new HeaderRules<Treatment>(new Map([...names, [name, treated('drop')]]), prefixes, 'pass')
}
