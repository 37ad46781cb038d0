/**
 * What openid-client throws → what it means here. Its errors carry whole answers in their causes (tokens, claims): none
 * of them may travel further than this file.
 */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import { cleanedError } from './log-text.ts'
import { codeOf, ProviderError } from './provider-error.ts'

/** The provider answered, and said no to what it was given: a code, a refresh token, an access token. */
export class ProviderRefused extends Error {
  /** @param message for the log, cleaned */
  constructor(message: string) {
    super(message)
    this.name = 'ProviderRefused'
  }
}

/** Userinfo that came is not to be believed. */
export class TokenRefused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.detail)
    this.name = 'TokenRefused'
    this.refusal = refusal
  }
}

/** `sub` is another one, or none. */
const SUBJECT = new Set(['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OAUTH_INVALID_RESPONSE'])

const otherSub = new Refusal('token_invalid', 'Userinfo is about somebody else than the ID token.')

/** @param step what was being done: `discovery`, `the code`, … */
export function translateError(cause: unknown, step: string): ProviderError | ProviderRefused | TokenRefused {
  if (isOurs(cause)) return cause
  // A fetch that fails is wrapped.
  if (cause instanceof Error && isOurs(cause.cause)) return cause.cause
  if (cause instanceof client.WWWAuthenticateChallengeError) return challenged(cause, step)
  // The outermost code: causes hold what must not be looked at.
  const code = cause instanceof client.ClientError ? (cause.code ?? 'unknown') : codeOf(cause)
  if (step === 'userinfo' && SUBJECT.has(code)) return new TokenRefused(otherSub)
  return new ProviderError(`${step}: the provider's answer is not what it should be (${code})`)
}

function isOurs(cause: unknown): cause is ProviderError | ProviderRefused {
  return cause instanceof ProviderError || cause instanceof ProviderRefused
}

/** RFC 6750, section 3.1, at userinfo. The token endpoint's refusals are read by `token-refusal.ts`. */
function challenged(
  cause: client.WWWAuthenticateChallengeError,
  step: string,
): ProviderRefused | ProviderError {
  const errors = cause.cause.map(({ parameters }) => parameters.error)
  const words =
    `${step}: the provider answered ${cause.status} ${errors.map((error) => cleanedError(error ?? '')).join(' ')}`.trim()
  return errors.includes('invalid_token') ? new ProviderRefused(words) : new ProviderError(words)
}
