/**
 * Translates errors of openid-client. Their causes contain whole responses (tokens, claims) and must not leave this
 * file.
 */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import { sanitizeErrorCode } from './log-text.ts'
import { codeOf, ProviderError } from './provider-error.ts'

/** The provider refused a code, a refresh token or an access token. */
export class ProviderRefused extends Error {
  /** @param message for the log, sanitized */
  constructor(message: string) {
    super(message)
    this.name = 'ProviderRefused'
  }
}

/** The userinfo response is not valid for this user. */
export class TokenRefused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.detail)
    this.name = 'TokenRefused'
    this.refusal = refusal
  }
}

/** `sub` of userinfo differs or is missing. */
const SUBJECT = new Set(['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OAUTH_INVALID_RESPONSE'])

const otherSub = new Refusal('token_invalid', 'The sub of userinfo differs from the sub of the ID token.')

/** @param step the failed step: `discovery`, `the code`, … */
export function translateError(cause: unknown, step: string): ProviderError | ProviderRefused | TokenRefused {
  if (isTranslated(cause)) return cause
  // openid-client wraps errors of fetch.
  if (cause instanceof Error && isTranslated(cause.cause)) return cause.cause
  if (cause instanceof client.WWWAuthenticateChallengeError) return fromChallenge(cause, step)
  // Only the outermost code: the causes contain responses.
  const code = cause instanceof client.ClientError ? (cause.code ?? 'unknown') : codeOf(cause)
  if (step === 'userinfo' && SUBJECT.has(code)) return new TokenRefused(otherSub)
  return new ProviderError(`${step}: the provider's response is not valid (${code})`)
}

function isTranslated(cause: unknown): cause is ProviderError | ProviderRefused {
  return cause instanceof ProviderError || cause instanceof ProviderRefused
}

/** RFC 6750, section 3.1, at userinfo. `token-refusal.ts` reads the token endpoint's errors. */
function fromChallenge(
  cause: client.WWWAuthenticateChallengeError,
  step: string,
): ProviderRefused | ProviderError {
  const errors = cause.cause.map(({ parameters }) => parameters.error)
  const text =
    `${step}: the provider responded with ${cause.status} ${errors.map((error) => sanitizeErrorCode(error ?? '')).join(' ')}`.trim()
  return errors.includes('invalid_token') ? new ProviderRefused(text) : new ProviderError(text)
}
