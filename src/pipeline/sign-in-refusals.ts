/** Refusals of browsers that load a page: a redirect to sign-in, or a page that leads there. */

import type { Exchange, Question } from '../http/server/exchange.ts'
import type { Evaluation } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import type { PublicResponse } from '../model/route.ts'
import { respondPublic } from './public-handler.ts'
import type { Refusals } from './refusals.ts'

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
 * For a browser that loads a page, the refusal with a page that leads to a sign-in as another user. As it is for any other
 * client, and where the tenant has no sign-in.
 */
export type OtherUserPage = (refusal: Refusal, tenant: string, request: BrowserRequest) => Refusal

/** What sign-in does for a browser that is refused. */
export interface SignInPorts {
  readonly signIn: SignInRedirect
  readonly otherUserPage: OtherUserPage
}

/** A route may redirect browsers without credentials to sign-in, in place of the 401. */
export function refuseOrSignIn(
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
  if (redirect === null) refusals.refuse(exchange, refusal, null)
  else if (exchange.question !== null)
    refuseWithSignIn(exchange, exchange.question, redirect, refusal, refusals)
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
    .then((known) => {
      if (known instanceof Refusal) return refusals.refuse(exchange, known, null)
      question.signIn = known.headers
      refusals.refuse(exchange, refusal, null)
    })
    .catch((cause: unknown) => refusals.failed(exchange, cause))
}
