/** The dialects over HTTP. */

import { envoyFields } from './envoy-fields.ts'
import { type Dialect, malformed } from './dialect.ts'

/** Scheme, host and the rest, which is validated as a target. */
const URL_PARTS = /^https?:\/\/([^/?#\\@]+)(\/.*)$/

/** nginx: `auth_request`. */
const nginx: Dialect = {
  name: 'nginx',
  path: '/auth/nginx',
  own: ['x-original-method', 'x-original-url'],
  read([method = '', url = '']) {
    const [, host, target] = URL_PARTS.exec(url) ?? []
    if (host === undefined || target === undefined)
      throw malformed('x-original-url is not http://host/path or https://host/path.')
    return { method, host, target }
  },
  more: null,
}

/**
 * nginx drops the body and most statuses of a refusal: it asks here again for the response to its client. Nothing is
 * forwarded then, so the answer never allows.
 */
const nginxRefusal: Dialect = { ...nginx, path: '/auth/nginx/refusal', refusesOnly: true }

/** Traefik calls the scheme of a WebSocket `ws` or `wss`. */
const SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss'])

/** Traefik: `forwardAuth`; Caddy: `forward_auth`; HAProxy. A query that the proxy appends to the path is ignored. */
const forward: Dialect = {
  name: 'forward',
  path: '/auth/forward',
  own: ['x-forwarded-method', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-uri'],
  read([method = '', proto = '', host = '', target = '']) {
    if (!SCHEMES.has(proto)) throw malformed('x-forwarded-proto is not http or https.')
    return { method, host, target }
  },
  more: null,
}

/** Envoy: `ext_authz` over HTTP. The question has the method, host and target of the request, behind a prefix. */
const envoy: Dialect = {
  name: 'envoy',
  path: '/auth/envoy/',
  own: [],
  read(_, { method, url, host }) {
    if (host === null) throw malformed('The question has no Host field.')
    return { method, host, target: url.slice('/auth/envoy'.length) }
  },
  more: envoyFields,
}

export const dialects: readonly Dialect[] = [nginx, nginxRefusal, forward, envoy]
