/** The refusals of session cookies and refresh handles. */

import { Refusal } from '../../model/errors.ts'

export const sessionUnknown = new Refusal('token_invalid', 'The session cookie is not known here.')
export const sessionEnded = new Refusal('token_invalid', 'The session has ended. Sign in again.')
export const sessionExpired = new Refusal('token_expired', 'The session has expired. Sign in again.')
/** The provider does not take the refresh token any more. */
export const endedByProvider = new Refusal(
  'token_expired',
  'The identity provider has ended the session. Sign in again.',
)
export const sessionAmbiguous = new Refusal(
  'credentials_ambiguous',
  'The session cookie is sent more than once.',
)
export const sessionCrossSite = new Refusal(
  'credentials_missing',
  'The session cookie counts for a request that may change something only if a page of this origin made it.',
)
