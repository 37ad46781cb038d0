/** Failures of a provider that the client does not cause: down, slow, response too large or not valid. */

import { Refusal } from '../../model/errors.ts'

export class ProviderError extends Error {
  /** @param message for the log; text of the provider is sanitized by `log-text.ts` */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ProviderError'
  }
}

/** The response for every such failure: clients do not learn the cause. */
export const providerUnavailable = new Refusal(
  'unavailable',
  "The tenant's identity provider is not available. Nothing was changed.",
)

/** Wraps an error of the network or of TLS: the message holds its code, never an address or sent data. */
export function networkError(cause: unknown): ProviderError {
  if (cause instanceof ProviderError) return cause
  return new ProviderError(`the provider is unreachable (${codeOf(cause)})`)
}

/** The form of error codes. Other text may contain anything and is not logged. */
const CODE = /^[A-Za-z][A-Za-z0-9_]{1,63}$/

/** The code of the innermost cause, or its name when it has no code. */
export function codeOf(cause: unknown): string {
  let code = 'unknown'
  for (let at = cause, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const found = 'code' in at && typeof at.code === 'string' && CODE.test(at.code) ? at.code : at.name
    if (CODE.test(found)) code = found
  }
  return code
}
