/** The headers that go to the upstream: the client's that may pass, then ours. */

import type { UpstreamConfig } from '../config/config.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Decision } from '../model/decision.ts'
import { ByPeer } from '../http/server/by-peer.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import type { HeaderSection } from '../http/wire/header-section.ts'
import { MadeOf } from '../lib/made-of.ts'
import { withoutSession } from './cookies.ts'
import { forwardedFields, peerAddress, ForwardedContext, type TrustedProxies } from './forwarded.ts'
import { connectionNames, removeNamed } from './header-names.ts'
import { Callers, identity } from './identity-headers.ts'
import { requestNames } from './request-names.ts'

/**
 * The client's in its order and bytes, then who calls, then what the gateway says. Strip first, add after: nothing a client
 * sends, Connection included, can touch a header of ours.
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
  const passes =
    PASSES[config.passOverrides ? 'overrides' : 'usual'][
      config.passAuthorization && !isPublic ? 'with' : 'without'
    ]
  const client =
    forwardedContext === null
      ? passes.ofStranger.of(request.section)
      : new FieldLines(passing(request.section, passes, forwardedContext))
  const caller = isPublic ? FieldLines.none : callerLines(request.section, decision)
  const proto = 'encrypted' in request.socket ? 'https' : 'http'
  const forwarded =
    forwardedContext === null
      ? strangers.of(request.section).lines(peer, proto)
      : new FieldLines(forwardedFields(forwardedContext, peer, proto, request.host ?? ''))
  return [client, caller, exchange.requestIdLine, forwarded]
}

const strangers = new MadeOf((section: HeaderSection) => new Stranger(section))

const callers = new MadeOf(() => new Callers())

function callerLines(section: HeaderSection, decision: Decision): FieldLines {
  return section.made === null ? new FieldLines(identity(decision)) : callers.of(section).lines(decision)
}

/** Worth its preparation only where it will be written again. */
function kept({ made }: HeaderSection, fields: readonly string[]): FieldLines {
  const lines = new FieldLines(fields)
  return made === null ? lines : lines.prepared()
}

/** What is told of a client whose word on others doesn't count. */
class Stranger {
  readonly #section: HeaderSection
  readonly #forwardedContext = new ByPeer<{ readonly proto: string; readonly lines: FieldLines }>()

  constructor(section: HeaderSection) {
    this.#section = section
  }

  lines(peer: string, proto: string): FieldLines {
    const forwardedContext = this.#forwardedContext.get(peer)
    if (forwardedContext?.proto === proto) return forwardedContext.lines
    const lines = kept(this.#section, forwardedFields(null, peer, proto, this.#section.host ?? ''))
    this.#forwardedContext.set(peer, { proto, lines })
    return lines
  }
}

/** What passes beside what always does. */
class Passes {
  readonly overrides: boolean
  readonly authorization: boolean
  /** Of a client whose word on others doesn't count: all depends on what it sends. */
  readonly ofStranger: MadeOf<HeaderSection, FieldLines> = new MadeOf((section) =>
    kept(section, passing(section, this, null)),
  )

  constructor(overrides: boolean, authorization: boolean) {
    this.overrides = overrides
    this.authorization = authorization
  }
}

/** With and without Authorization. */
const PASSES = {
  usual: { with: new Passes(false, true), without: new Passes(false, false) },
  overrides: { with: new Passes(true, true), without: new Passes(true, false) },
}

/** Those of the client that pass. What a trusted peer tells of its own client is noted in `told`. */
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
    switch (requestNames.treatment(name)) {
      case 'pass':
        headers.push(name, value)
        break
      case 'override':
        if (passes.overrides) headers.push(name, value)
        break
      case 'told':
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
        // Twice is odd, and odd values are dropped; so is a list.
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
