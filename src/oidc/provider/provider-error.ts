/**
 * What goes wrong at a provider, and may not be the caller's fault: down, slow, too large, not what the standards say.
 */

import { Refusal } from '../../model/errors.ts'

export class ProviderError extends Error {
  /** @param message for the log: ours, and of the provider's words only what `log-text.ts` has let through */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ProviderTrouble'
  }
}

/** What the client is told, whatever it was: which part failed is nobody's business outside. */
export const providerUnavailable = new Refusal(
  'unavailable',
  "The tenant's identity provider can't be asked at the moment. Nothing was changed.",
)

/** An error of the network or of TLS, in a few words: its code, never an address or what was sent. */
export function networkError(cause: unknown): ProviderError {
  if (cause instanceof ProviderError) return cause
  return new ProviderError(`the provider can't be reached (${codeOf(cause)})`)
}

/** As libraries spell theirs. Whatever is spelled otherwise may hold anything. */
const CODE = /^[A-Za-z][A-Za-z0-9_]{1,63}$/

/** The innermost code of an error and those that caused it; for want of one, a name. */
export function codeOf(cause: unknown): string {
  let code = 'unknown'
  for (let at = cause, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const found = 'code' in at && typeof at.code === 'string' && CODE.test(at.code) ? at.code : at.name
    if (CODE.test(found)) code = found
  }
  return code
}
