/** The header fields of a forwarded request: the client's fields that may pass, then the gateway's. */

import type { UpstreamConfig } from '../config/config.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { requestTrace } from '../http/server/request-trace.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import type { HeaderSection } from '../http/wire/header-section.ts'
import { withoutSession } from './reserved-cookies.ts'
import {
  directLines,
  forwardedFields,
  peerAddress,
  ForwardedContext,
  type TrustedProxies,
} from './forwarded.ts'
import { connectionNames, foldName, type HeaderRules } from './header-rules.ts'
import { identityLines } from './identity-headers.ts'
import { requestHeaderRules, type Treatment } from './request-header-rules.ts'
import type { UpstreamIdentity } from './upstream-identity.ts'

/**
 * The client's fields keep their order and bytes. The identity of the caller and the fields of the gateway
 * follow. Fields are removed before any is added, so that nothing a client sends, Connection included,
 * affects a field of the gateway.
 */
export function requestHeaders(
  exchange: Exchange,
  config: UpstreamConfig,
  proxies: TrustedProxies,
  signed: UpstreamIdentity | null = null,
): readonly FieldLines[] {
  const { request, evaluation } = exchange
  const trace = requestTrace.get(exchange)
  const peer = peerAddress(request.socket.remoteAddress)
  const forwardedContext = proxies.has(peer) ? new ForwardedContext(proxies) : null
  const decision = evaluation?.decision ?? null
  const isPublic = decision === null || decision.permission === 'public'
  const ownTrace = trace?.propagates === true
  const allowed = {
    traceParent: !ownTrace,
    traceState: forwardedContext !== null && (!ownTrace || trace.continued),
    overrides: config.passOverrides,
    authorization: config.passAuthorization && !isPublic,
  }
  const rules = signed === null ? requestHeaderRules : signed.rules
  const client = new FieldLines(passing(request.section, rules, allowed, forwardedContext), null)
  const caller = isPublic ? FieldLines.none : identityLines(decision)
  const proto = 'encrypted' in request.socket ? 'https' : 'http'
  const host = request.host ?? ''
  const forwarded =
    forwardedContext === null
      ? directLines(request.socket, peer, proto, host)
      : FieldLines.of(forwardedFields(forwardedContext, peer, proto, host))
  const jwt = signed === null || isPublic ? null : signed.lineFor(decision)
  if (jwt === null) return [client, caller, exchange.requestIdLine, forwarded]
  return [client, caller, jwt, exchange.requestIdLine, forwarded]
}

/** Whether fields pass that usually do not. */
interface Allowed {
  /** Whether the gateway's own `traceparent` replaces the client's. */
  readonly traceParent: boolean
  /** Data of the systems that a trace has passed belong to that trace (W3C Trace Context, section 3.3). */
  readonly traceState: boolean
  readonly overrides: boolean
  readonly authorization: boolean
}

/**
 * The client's fields that pass, serialized. The values of a trusted proxy about its own client go into
 * `forwardedContext`, which is null for an untrusted peer.
 */
function passing(
  { fields, connection }: HeaderSection,
  rules: HeaderRules<Treatment>,
  allowed: Allowed,
  forwardedContext: ForwardedContext | null,
): string {
  const named = connection === null ? null : connectionNames(connection, null)
  let text = ''
  /** The fields from this one on are not in `text` yet, and pass as received. */
  let first = 0
  for (let i = 0; i < fields.count; i++) {
    let passes = false
    let line = ''
    switch (rules.treatment(fields, i)) {
      case 'pass':
        passes = true
        break
      case 'override':
        passes = allowed.overrides
        break
      case 'proxy':
        passes = forwardedContext !== null
        break
      case 'traceparent':
        passes = allowed.traceParent
        break
      case 'tracestate':
        passes = allowed.traceState
        break
      case 'authorization':
        passes = allowed.authorization
        break
      case 'cookie': {
        const cookies = fields.value(i)
        const others = withoutSession(cookies)
        passes = others === cookies
        if (!passes && others !== null) line = `${fields.name(i)}: ${others}\r\n`
        break
      }
      case 'x-forwarded-for':
        forwardedContext?.add('for', fields.value(i))
        break
      case 'x-forwarded-proto':
        forwardedContext?.add('proto', fields.value(i))
        break
      case 'x-forwarded-host':
        forwardedContext?.add('host', fields.value(i))
        break
      case 'forwarded':
        forwardedContext?.add('forwarded', fields.value(i))
    }
    const isNamed = named !== null && named.has(foldName(fields.name(i)))
    if (passes && !isNamed) continue
    text += fields.lines(first, i)
    if (!isNamed) text += line
    first = i + 1
  }
  return text + fields.lines(first, fields.count)
}
