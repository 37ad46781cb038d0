/**
 * Interprets an error response of the token endpoint (RFC 6749, section 5.2): a fault of the client (the gateway's
 * configuration), of the grant (the code or the refresh token), or of the provider.
 */

import type { ClientAuth, OidcConfig } from '../../config/config.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { clientAdvice, scopeAdvice } from './configuration-advice.ts'
import { sanitize, sanitizeErrorCode } from './log-text.ts'
import { ProviderRefused } from './openid-client-errors.ts'
import { ProviderError } from './provider-error.ts'

export type Grant = 'code' | 'refresh token'

const ABOUT_CLIENT = ['invalid_client', 'unauthorized_client']
/** Outages. Some providers send these codes, which RFC 6749 defines for redirects only, with status 400. */
const OUTAGES = ['server_error', 'temporarily_unavailable']
/** Request Timeout and Too Many Requests: a retry may succeed. */
const RETRYABLE = [408, 429]

/** @param response with a status other than 200 */
export async function tokenRefusal(
  response: Response,
  grant: Grant,
  client: Pick<OidcConfig, 'scopes'> & { readonly clientAuth: ClientAuth },
): Promise<ProviderRefused | ProviderError> {
  const { status } = response
  const { error, description } = await errorOf(response)
  const challenged = status === 401 && response.headers.has('www-authenticate')
  const aboutClient = error === null ? challenged : ABOUT_CLIENT.includes(error)
  const answer = error === null ? String(status) : sanitizeErrorCode(error)
  const parts = [`the ${grant}: the provider responded with ${answer}`, description]
  if (aboutClient || (status === 401 && error !== 'invalid_grant'))
    parts.push(clientAdvice(client.clientAuth))
  if (error === 'invalid_scope') parts.push(scopeAdvice(client))
  const message = parts.filter((each) => each !== '').join(' ')
  const isRefused = isFinal(status) && !aboutClient && !OUTAGES.includes(error ?? '')
  if (isRefused && (grant === 'refresh token' || error === 'invalid_grant'))
    return new ProviderRefused(message)
  return new ProviderError(message)
}

function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && !RETRYABLE.includes(status)
}

async function errorOf(response: Response): Promise<{ error: string | null; description: string }> {
  const parsed = parseJson(await response.text())
  if ('fault' in parsed || !isJsonObject(parsed.value)) return { error: null, description: '' }
  const { error, error_description: description } = parsed.value
  return {
    error: typeof error === 'string' && error !== '' ? error : null,
    description: typeof description === 'string' ? sanitize(description) : '',
  }
}
