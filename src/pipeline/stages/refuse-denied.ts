/**
 * Refuses a request as its decision says. A browser that loads a page may be redirected to sign-in, or get a
 * page that leads there.
 */

import { type DecisionEngine, isForSpace } from '../../decision/engine.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { externalQuestion, type Question } from '../../http/server/question.ts'
import type { Evaluation } from '../../model/decision.ts'
import { Refusal } from '../../model/errors.ts'
import type { PublicResponse } from '../../model/route.ts'
import type { Observer } from '../observers/observer.ts'
import { ANSWERED, type Passed, type Stage } from '../stage.ts'
import { respondPublic } from './serve-public.ts'
import type { Refusals } from '../refusals.ts'

interface BrowserRequest {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
}

/** Redirects a browser that loads a page to sign-in. Null for any other client: it gets the 401. */
export type SignInRedirect = (
  tenant: string,
  request: BrowserRequest & { readonly requestId: string },
) => Promise<PublicResponse | Refusal> | null

/**
 * For a browser that loads a page, the refusal with a page that leads to a sign-in as another user. As it is
 * for any other client, and where the tenant has no sign-in.
 */
export type OtherUserPage = (refusal: Refusal, tenant: string, request: BrowserRequest) => Refusal

/** What sign-in does for a browser that is refused. */
export interface SignInPorts {
  readonly signIn: SignInRedirect
  readonly otherUserPage: OtherUserPage
}

/** Milliseconds that a refusal waits for the spaces that it names. */
const SPACES_PATIENCE = 100

/** @param signIn null if these routes have no sign-in */
export function refuseDenied(
  engine: DecisionEngine,
  signIn: SignInPorts | null,
  observer: Required<Pick<Observer, 'decided'>>,
  refusals: Refusals,
): Stage {
  return (exchange, next) => {
    const evaluation = exchange.evaluated
    const { refusal } = evaluation
    if (refusal === null) return next(exchange)
    observer.decided(exchange, refusal)
    if (isForSpace(evaluation)) return refuseNamingSpaces(exchange, engine, evaluation, refusals)
    if (signIn === null) refusals.refuse(exchange, refusal, null)
    else refuseOrSignIn(exchange, signIn, evaluation, refusal, refusals)
    return ANSWERED
  }
}

/** Many of these requests have a wrong Space: the refusal says which ones would be right. */
function refuseNamingSpaces(
  exchange: Exchange,
  engine: DecisionEngine,
  evaluation: Evaluation,
  refusals: Refusals,
): Passed {
  const named = engine.nameSpaces(evaluation, SPACES_PATIENCE)
  if (!(named instanceof Promise)) return refuseNamed(exchange, named, refusals)
  return named.then((later) => refuseNamed(exchange, later, refusals))
}

function refuseNamed(exchange: Exchange, evaluation: Evaluation, refusals: Refusals): typeof ANSWERED {
  exchange.evaluation = evaluation
  // The client may have disconnected while this waited.
  if (evaluation.refusal !== null && !exchange.settled) refusals.refuse(exchange, evaluation.refusal, null)
  return ANSWERED
}

/** A route may redirect browsers without credentials to sign-in, in place of the 401. */
function refuseOrSignIn(
  exchange: Exchange,
  { signIn, otherUserPage }: SignInPorts,
  { decision }: Evaluation,
  refusal: Refusal,
  refusals: Refusals,
): void {
  const { method, url: target, rawHeaders } = exchange.request
  const taken = decision.route?.tenant ?? null
  if (refusal.code === 'tenant_mismatch' && taken !== null)
    return refusals.refuse(exchange, otherUserPage(refusal, taken, { method, target, rawHeaders }), null)
  const tenant = refusal.status === 401 ? (decision.route?.signIn ?? null) : null
  const redirect =
    tenant === null ? null : signIn(tenant, { method, target, rawHeaders, requestId: exchange.id })
  const question = externalQuestion.get(exchange)
  if (redirect === null) refusals.refuse(exchange, refusal, null)
  else if (question !== undefined) refuseWithSignIn(exchange, question, redirect, refusal, refusals)
  else respondPublic(exchange, redirect, refusals)
}

/** Other proxies need the status of the refusal: the redirect is in its header fields. */
function refuseWithSignIn(
  exchange: Exchange,
  question: Question,
  redirect: Promise<PublicResponse | Refusal>,
  refusal: Refusal,
  refusals: Refusals,
): void {
  redirect
    .then((response) => {
      if (response instanceof Refusal) return refusals.refuse(exchange, response, null)
      question.signIn = response.headers
      refusals.refuse(exchange, refusal, null)
    })
    .catch((cause: unknown) => refusals.failed(exchange, cause))
}
