/** Failures of requests to a provider, and what clients and the log learn of them. */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import { sanitizeErrorCode } from './log-text.ts'

/**
 * A failure that the client does not cause: the provider is down, slow, or its response too large or not
 * valid. Text of the provider in the message is sanitized by `log-text.ts`.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  /** The user for the log, if an ID token was verified before; null: not known. */
  user: string | null = null
  /** The code of an error of the network or of TLS; null: another cause. */
  readonly code: string | null

  constructor(message: string, code: string | null = null) {
    super(message)
    this.code = code
  }
}

/**
 * A failure of the proxy on the way to the provider, or of the way to the proxy. The message names the
 * proxy's variable.
 */
export class ProxyError extends ProviderError {
  /** `HTTPS_PROXY` */
  readonly variable: string

  constructor(message: string, variable: string) {
    super(message)
    this.variable = variable
  }
}

/** The provider refused a code, a refresh token or an access token. The message is for the log, sanitized. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused'
  /** The user for the log, as in {@link ProviderError}. */
  user: string | null = null
}

/** The response for every ProviderError: clients do not learn the cause. */
export const providerUnavailable = new Refusal(
  'unavailable',
  "The tenant's identity provider is not available. Nothing was changed.",
)

/** Wraps an error of the network or of TLS: the message holds its code, never an address or sent data. */
export function networkError(cause: unknown): ProviderError {
  if (cause instanceof ProviderError) return cause
  const code = codeOf(cause)
  return new ProviderError(`the provider is unreachable (${code})`, code)
}

/** The form of error codes. Other text may contain anything and is not logged. */
const CODE = /^[A-Za-z][A-Za-z0-9_]{1,63}$/

/** The code of the innermost cause, or its name when it has no code. */
export function codeOf(cause: unknown): string {
  let code = 'unknown'
  for (let at = cause, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const name = 'code' in at && typeof at.code === 'string' && CODE.test(at.code) ? at.code : at.name
    if (CODE.test(name)) code = name
  }
  return code
}

/**
 * The code of an error of openid-client. Only the outermost: the causes contain whole responses (tokens,
 * claims), which must not leave this file.
 */
export function clientErrorCode(cause: unknown): string {
  return cause instanceof client.ClientError ? (cause.code ?? 'unknown') : codeOf(cause)
}

/**
 * Translates an error of openid-client.
 *
 * @param step the failed step: `discovery`, `the code`, …
 */
export function translateError(cause: unknown, step: string): ProviderError | ProviderRefused {
  // openid-client wraps errors of fetch.
  for (const each of [cause, cause instanceof Error ? cause.cause : null])
    if (each instanceof ProviderError || each instanceof ProviderRefused) return each
  if (!(cause instanceof client.WWWAuthenticateChallengeError))
    return new ProviderError(`${step}: the provider's response is not valid (${clientErrorCode(cause)})`)
  // RFC 6750, section 3.1, at userinfo. `token-endpoint.ts` reads the errors of the token endpoint.
  const errors = cause.cause.map(({ parameters }) => parameters.error ?? '')
  const text = `${step}: the provider responded with ${cause.status} ${errors.map(sanitizeErrorCode).join(' ')}`
  return errors.includes('invalid_token') ? new ProviderRefused(text.trim()) : new ProviderError(text.trim())
}
