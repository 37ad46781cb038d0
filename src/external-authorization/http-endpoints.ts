/** The endpoints of the decision listener for proxies that send questions over HTTP, one for each dialect. */

import type { ClientRequest } from '../http/server/client-request.ts'
import { fieldName } from '../http/wire/field-name.ts'
import { Refusal } from '../model/errors.ts'
import { OWN_CREDENTIAL_FIELDS } from '../model/principal.ts'
import type { DecisionPipeline } from '../pipeline/gateway-pipeline.ts'
import { forwardedAddress } from '../proxy/client-network.ts'
import { peerAddress, type TrustedProxies } from '../proxy/forwarded.ts'
import { OVERRIDES } from '../proxy/request-header-rules.ts'
import { withoutSession } from '../proxy/reserved-cookies.ts'
import { OriginalRequest } from './original-request.ts'
import { describedBy, type Dialect, malformed, type MoreFields } from './dialect.ts'
import type { Endpoint } from './handler.ts'
import { HttpQuestion } from './http-question.ts'

/** Scheme, host and the rest, which is validated as a target. */
const URL_PARTS = /^https?:\/\/([^/?#\\@]+)(\/.*)$/i

const COOKIE = fieldName('cookie')

/** The cookies of the client as one value, and the same without the gateway's own; null if none is left. */
function cookiesOf({ section }: ClientRequest): { readonly all: string; readonly others: string | null } {
  const all = section.fields.values(COOKIE).join('; ')
  return { all, others: withoutSession(all) }
}

/**
 * The Cookie for the service. Proxies cannot take single cookies out: their configurations put this one in
 * the place of the client's. Traefik removes the client's if the answer has none.
 */
const otherCookies: MoreFields = (question) => {
  const { others } = cookiesOf(question)
  return others === null || others === '' ? [] : ['cookie', others]
}

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
  more: otherCookies,
  oneCookie: true,
}

/**
 * nginx drops the body and most statuses of a refusal, and gets the response to its client here with a second
 * question. It forwards nothing after that, so the answer never allows.
 */
const nginxRefusal: Dialect = { ...nginx, path: '/auth/nginx/refusal', refusesOnly: true }

/** Traefik calls the scheme of a WebSocket `ws` or `wss`. */
const SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss'])

/**
 * Traefik: `forwardAuth`; Caddy: `forward_auth`; HAProxy. A query that the proxy appends to the path is
 * ignored.
 */
const forward: Dialect = {
  name: 'forward',
  path: '/auth/forward',
  own: ['x-forwarded-method', 'x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-uri'],
  read([method = '', proto = '', host = '', target = '']) {
    if (!SCHEMES.has(proto.toLowerCase())) throw malformed('x-forwarded-proto is not http or https.')
    return { method, host, target }
  },
  more: otherCookies,
}

/** Envoy removes the fields that this one names from the request (`ext_authz`, HTTP service). */
const REMOVED = 'x-envoy-auth-headers-to-remove'

/**
 * What Envoy changes in an allowed request, besides the identity: it removes what the gateway would not pass
 * either. The question may not have all fields of the client.
 */
const envoyFields: MoreFields = (question, { evaluation }, upstream) => {
  const removed = [...OWN_CREDENTIAL_FIELDS]
  const isPublic = evaluation?.decision.permission === 'public'
  if (isPublic || upstream?.passAuthorization !== true) removed.push('authorization')
  if (upstream?.passOverrides !== true) removed.push(...OVERRIDES)
  const { all, others } = cookiesOf(question)
  if (others === null) removed.push('cookie')
  const fields = [REMOVED, removed.join(', ')]
  if (others !== null && others !== all) fields.push('cookie', others)
  return fields
}

/**
 * Envoy: `ext_authz` over HTTP. The question has the method, host and target of the request, after a prefix.
 */
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

const dialects: readonly Dialect[] = [nginx, nginxRefusal, forward, envoy]

/** @param trusted the proxies whose addresses in X-Forwarded-For are not those of clients */
export function httpEndpoints(pipeline: DecisionPipeline, trusted: () => TrustedProxies): Endpoint[] {
  return dialects.map((dialect) => ({
    path: dialect.path,
    handle(request, response) {
      const described = describedBy(request, dialect)
      const isFault = described instanceof Refusal
      const client = clientOf(request, trusted())
      const question = new HttpQuestion(dialect, request, client, isFault ? described : null)
      const exchange = pipeline.ask(request, response, question)
      pipeline.decide(exchange, isFault ? request : new OriginalRequest(request, described))
      return exchange
    },
  }))
}

/** The proxy names its client last. If it names none, the client is the proxy itself. */
function clientOf(request: ClientRequest, trusted: TrustedProxies): string {
  return forwardedAddress(request, trusted) ?? peerAddress(request.socket.remoteAddress)
}
