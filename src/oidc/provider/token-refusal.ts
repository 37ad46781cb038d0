/**
 * The meaning of a token endpoint's refusal (RFC 6749, section 5.2). A refusal is about the client (our configuration),
 * about what the user brought (a code, a refresh token), or a fault of the provider's.
 */

import type { ClientAuth, OidcConfig } from '../../config/config.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { clientAdvice, scopeAdvice } from './configuration-advice.ts'
import { cleaned, cleanedError } from './log-text.ts'
import { ProviderRefused } from './openid-client-errors.ts'
import { ProviderError } from './provider-error.ts'

export type Grant = 'code' | 'refresh token'

const ABOUT_CLIENT = ['invalid_client', 'unauthorized_client']
/** Outages that some providers report with status 400, since these codes exist for redirects only. */
const OUTAGES = ['server_error', 'temporarily_unavailable']
/** Request Timeout and Too Many Requests: the same request may succeed later. */
const LATER = [408, 429]

/** @param response any but a 200 */
export async function tokenRefusal(
  response: Response,
  grant: Grant,
  client: Pick<OidcConfig, 'scopes'> & { readonly clientAuth: ClientAuth },
): Promise<ProviderRefused | ProviderError> {
  const { status } = response
  const { error, description } = await errorOf(response)
  const challenged = status === 401 && response.headers.has('www-authenticate')
  const ofClient = error === null ? challenged : ABOUT_CLIENT.includes(error)
  const answer = error === null ? String(status) : cleanedError(error)
  const words = [`the ${grant}: the provider answered ${answer}`, description]
  if (ofClient || (status === 401 && error !== 'invalid_grant')) words.push(clientAdvice(client.clientAuth))
  if (error === 'invalid_scope') words.push(scopeAdvice(client))
  const message = words.filter((each) => each !== '').join(' ')
  const isOver = isFinal(status) && !ofClient && !OUTAGES.includes(error ?? '')
  if (isOver && (grant === 'refresh token' || error === 'invalid_grant')) return new ProviderRefused(message)
  return new ProviderError(message)
}

function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !LATER.includes(status)
}

async function errorOf(response: Response): Promise<{ error: string | null; description: string }> {
  const parsed = parseJson(await response.text())
  if ('fault' in parsed || !isJsonObject(parsed.value)) return { error: null, description: '' }
  const { error, error_description: description } = parsed.value
  return {
    error: typeof error === 'string' && error !== '' ? error : null,
    description: typeof description === 'string' ? cleaned(description) : '',
  }
}
