/** The header fields of a forwarded request: those of the client that may pass, then those of the gateway. */

import type { UpstreamConfig } from '../config/config.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import type { HeaderSection } from '../http/wire/header-section.ts'
import { withoutSession } from './reserved-cookies.ts'
import { forwardedFields, peerAddress, ForwardedContext, type TrustedProxies } from './forwarded.ts'
import { connectionNames, removeNamed } from './header-rules.ts'
import { identity } from './identity-headers.ts'
import { requestHeaderRules } from './request-header-rules.ts'

/**
 * The client's fields keep their order and bytes. The identity of the caller and the fields of the gateway follow. Fields
 * are removed before any is added, so that nothing a client sends, Connection included, affects a field of the gateway.
 */
export function requestHeaders(
  exchange: Exchange,
  config: UpstreamConfig,
  proxies: TrustedProxies,
): readonly FieldLines[] {
  const { request, evaluation } = exchange
  const peer = peerAddress(request.socket.remoteAddress)
  const forwardedContext = proxies.has(peer) ? new ForwardedContext() : null
  const decision = evaluation?.decision ?? null
  const isPublic = decision === null || decision.permission === 'public'
  const passes = {
    overrides: config.passOverrides,
    authorization: config.passAuthorization && !isPublic,
  }
  const client = new FieldLines(passing(request.section, passes, forwardedContext))
  const caller = isPublic ? FieldLines.none : new FieldLines(identity(decision))
  const proto = 'encrypted' in request.socket ? 'https' : 'http'
  const forwarded = new FieldLines(forwardedFields(forwardedContext, peer, proto, request.host ?? ''))
  return [client, caller, exchange.requestIdLine, forwarded]
}

/** The fields that pass beside the usual ones. */
interface Passes {
  readonly overrides: boolean
  readonly authorization: boolean
}

/**
 * The client's fields that pass: name, value, … The values of a trusted proxy about its own client go into
 * `forwardedContext`, which is null for an untrusted peer.
 */
function passing(
  { fields }: HeaderSection,
  passes: Passes,
  forwardedContext: ForwardedContext | null,
): string[] {
  const headers: string[] = []
  let named: Set<string> | null = null
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? ''
    const value = fields[i + 1] ?? ''
    switch (requestHeaderRules.treatment(name)) {
      case 'pass':
        headers.push(name, value)
        break
      case 'override':
        if (passes.overrides) headers.push(name, value)
        break
      case 'proxy':
        if (forwardedContext !== null) headers.push(name, value)
        break
      case 'authorization':
        if (passes.authorization) headers.push(name, value)
        break
      case 'cookie': {
        const rest = withoutSession(value)
        if (rest !== null) headers.push(name, rest)
        break
      }
      case 'connection':
        named = connectionNames(value, named)
        break
      case 'x-forwarded-for':
        if (forwardedContext !== null)
          forwardedContext.for = forwardedContext.for === '' ? value : `${forwardedContext.for}, ${value}`
        break
      case 'x-forwarded-proto':
        // A repeated field becomes a value that `forwardedFields` drops as malformed.
        if (forwardedContext !== null) forwardedContext.proto = forwardedContext.proto === '' ? value : ','
        break
      case 'x-forwarded-host':
        if (forwardedContext !== null) forwardedContext.host = forwardedContext.host === '' ? value : ','
        break
      case 'forwarded':
        if (forwardedContext !== null)
          forwardedContext.forwarded =
            forwardedContext.forwarded === '' ? value : `${forwardedContext.forwarded}, ${value}`
        break
    }
  }
  if (named !== null) removeNamed(headers, named)
  return headers
}
