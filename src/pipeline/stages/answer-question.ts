/** Answers another proxy that it may forward the request that it asks about. */

import { externalQuestion } from '../../http/server/question.ts'
import type { SignedIdentity } from '../../identity/signed-identity.ts'
import type { Upstream } from '../../proxy/upstream.ts'
import { ANSWERED, type Stage } from '../stage.ts'

/** @param identity null if identity is not signed */
export function answerQuestion(
  upstreams: ReadonlyMap<string, Upstream>,
  identity: SignedIdentity | null,
): Stage {
  return (exchange, next) => {
    const question = externalQuestion.get(exchange)
    if (question === undefined) return next(exchange)
    const { decision } = exchange.allowed
    const target = decision.route?.target
    const upstream = target?.kind === 'upstream' ? upstreams.get(target.name) : undefined
    const signed = identity === null ? [] : identity.fieldFor(upstream?.config.name ?? null, decision)
    question.allow(exchange, upstream?.config ?? null, signed)
    return ANSWERED
  }
}
