/** Answers another proxy that it may forward the request that it asks about. */

import type { Exchange, Question } from '../http/server/exchange.ts'
import type { SignedIdentity } from '../identity/signed-identity.ts'
import type { Upstream } from '../proxy/upstream.ts'

/** @param config `identity`: null where identity is not signed */
export function allowQuestion(
  exchange: Exchange,
  question: Question,
  config: { readonly upstreams: ReadonlyMap<string, Upstream>; readonly identity: SignedIdentity | null },
): void {
  const { upstreams, identity } = config
  const decision = exchange.evaluation?.decision
  const target = decision?.route?.target
  const upstream = target?.kind === 'upstream' ? upstreams.get(target.name) : undefined
  const audience = upstream?.config.name ?? null
  const signed = identity === null || decision === undefined ? [] : identity.fieldFor(audience, decision)
  question.allow(exchange, upstream?.config ?? null, signed)
}
