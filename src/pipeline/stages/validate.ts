/** Refuses a request that upstreams could read in two ways, before anything is decided about it. */

import type { Exchange } from '../../http/server/exchange.ts'
import { externalQuestion } from '../../http/server/question.ts'
import { validateRequest, type ValidationLimits } from '../../http/server/request-validation.ts'
import type { Refusal } from '../../model/errors.ts'
import { strayHandshake } from '../../proxy/websocket/websocket-handshake.ts'
import type { Refuse } from '../../proxy/forward.ts'
import { ANSWERED, type Stage } from '../stage.ts'

export function validate(limits: ValidationLimits, refuse: Refuse): Stage {
  return (exchange, next) => {
    const refusal = faultOf(exchange, limits)
    if (refusal === null) return next(exchange)
    refuse(exchange, refusal, null)
    return ANSWERED
  }
}

/** A question may be one from which no request can be read. */
export function validateQuestion(limits: ValidationLimits, refuse: Refuse): Stage {
  return (exchange, next) => {
    const refusal = externalQuestion.get(exchange)?.fault ?? faultOf(exchange, limits)
    if (refusal === null) return next(exchange)
    refuse(exchange, refusal, null)
    return ANSWERED
  }
}

function faultOf({ request, handshake }: Exchange, limits: ValidationLimits): Refusal | null {
  return validateRequest(request, limits) ?? (handshake ? null : strayHandshake(request))
}
