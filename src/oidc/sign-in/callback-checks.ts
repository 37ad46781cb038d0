/** Checks the authorization response before the code is redeemed: `iss` (RFC 9207), `error`, `code`. */

import { Refusal } from '../../model/errors.ts'
import { scopeAdvice } from '../provider/client-auth.ts'
import { sanitize, sanitizeErrorCode } from '../provider/log-text.ts'
import type { Context } from '../context.ts'
import type { Provider } from '../provider/provider.ts'
import { providerUnavailable } from '../provider/errors.ts'

const otherIssuer = inputInvalid(
  '/iss',
  'The response is from a different identity provider. Start the sign-in again.',
)
const noCode = inputInvalid('/code', 'The response has no code.')
/** Parameters of other flows (OAuth 2.0 Multiple Response Types; JARM), which the gateway never requests. */
const OTHER_FLOWS = ['response', 'id_token', 'token', 'token_type', 'access_token']
export const notSignedIn = new Refusal(
  'credentials_missing',
  'The identity provider did not sign the user in.',
)

export function inputInvalid(path: string, message: string): Refusal {
  return new Refusal('input_invalid', message, { faults: [{ path, message }] })
}

/** RFC 6749, section 3.1: no parameter may occur more than once. */
export function repeatedParameter(query: URLSearchParams): Refusal | null {
  for (const name of ['state', 'code', 'iss', 'error'])
    if (query.getAll(name).length > 1) return inputInvalid(`/${name}`, 'must not occur more than once')
  return null
}

/** @returns null when the response has a code. Rejects with ProviderError. */
export async function checkResponse(
  context: Context,
  provider: Provider,
  query: URLSearchParams,
): Promise<Refusal | null> {
  const { issuer } = provider.tenant.oidc
  const { sendsIssuer } = await provider.discovered()
  const iss = query.get('iss')
  const required = sendsIssuer || context.sharedRedirect.has(provider.tenant.id)
  if (iss === null ? required : iss !== issuer) return otherIssuer
  const error = query.get('error')
  if (error !== null) return providerRefused(context, provider, error, query.get('error_description') ?? '')
  const other = OTHER_FLOWS.find((name) => query.has(name))
  if (other !== undefined) return inputInvalid(`/${other}`, 'belongs to a flow that was not requested')
  // An empty code counts as absent.
  return query.get('code') ? null : noCode
}

/** The error text goes to the log only: anyone can craft a link with such text. */
function providerRefused(
  { log }: Context,
  { tenant }: Provider,
  error: string,
  description: string,
): Refusal {
  const advice = error === 'invalid_scope' ? scopeAdvice(tenant.oidc) : ''
  const parts = [sanitizeErrorCode(error), sanitize(description), advice]
  const reason = parts.filter((each) => each !== '').join(' ')
  // invalid_scope is a configuration fault; the other errors concern the user or the provider.
  log[advice === '' ? 'info' : 'warn'](
    { event: 'sign_in_failed', tenant: tenant.id, reason },
    'the identity provider did not sign the user in',
  )
  if (error === 'temporarily_unavailable' || error === 'server_error') return providerUnavailable
  return notSignedIn
}
