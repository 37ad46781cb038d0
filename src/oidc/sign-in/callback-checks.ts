/** What the provider's answer says, before its code is redeemed: `iss` (RFC 9207), `error`, `code`. */

import { Refusal } from '../../model/errors.ts'
import { scopeAdvice } from '../provider/configuration-advice.ts'
import { cleaned, cleanedError } from '../provider/log-text.ts'
import type { Context } from '../context.ts'
import type { Provider } from '../provider/provider.ts'
import { providerUnavailable } from '../provider/provider-error.ts'

const otherIssuer = faulty(
  '/iss',
  'The answer is not from the identity provider that was asked. Begin again.',
)
const noCode = faulty('/code', 'The answer has no code.')
/** Of other flows (OAuth 2.0 Multiple Response Types; JARM), none of which was asked for. */
const OTHER_FLOWS = ['response', 'id_token', 'token', 'token_type', 'access_token']
export const notSignedIn = new Refusal(
  'credentials_missing',
  'The identity provider did not sign the user in.',
)

export function faulty(path: string, message: string): Refusal {
  return new Refusal('input_invalid', message, { faults: [{ path, message }] })
}

/** RFC 6749, section 3.1: no parameter more than once. Two readers could take different ones. */
export function repeated(query: URLSearchParams): Refusal | null {
  for (const name of ['state', 'code', 'iss', 'error'])
    if (query.getAll(name).length > 1) return faulty(`/${name}`, 'is there more than once')
  return null
}

/** Null when it has a code to redeem. Rejects with ProviderTrouble. */
export async function checkAnswer(
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
  if (error !== null) return providerSaidNo(context, provider, error, query.get('error_description') ?? '')
  const other = OTHER_FLOWS.find((name) => query.has(name))
  if (other !== undefined) return faulty(`/${other}`, 'belongs to a flow that was not asked for')
  // An empty one as well.
  return query.get('code') ? null : noCode
}

/** Its words are for the log: anybody can write a link with words in it. */
function providerSaidNo({ log }: Context, { tenant }: Provider, error: string, description: string): Refusal {
  const advice = error === 'invalid_scope' ? scopeAdvice(tenant.oidc) : ''
  const words = [cleanedError(error), cleaned(description), advice]
  const reason = words.filter((each) => each !== '').join(' ')
  // invalid_scope is a fault of the configuration, the other errors are the user's or the provider's.
  log[advice === '' ? 'info' : 'warn'](
    { event: 'sign_in_failed', tenant: tenant.id, reason },
    'the identity provider did not sign the user in',
  )
  if (error === 'temporarily_unavailable' || error === 'server_error') return providerUnavailable
  return notSignedIn
}
