/** The refusals of session cookies and refresh handles. */

import { Refusal } from '../../model/errors.ts'

export const sessionUnknown = new Refusal('token_invalid', 'The session cookie is unknown.')
export const sessionEnded = new Refusal('token_invalid', 'The session has ended. Sign in again.')
export const sessionExpired = new Refusal('token_expired', 'The session has expired. Sign in again.')
/** The provider no longer accepts the refresh token. */
export const endedByProvider = new Refusal(
  'token_expired',
  'The identity provider has ended the session. Sign in again.',
)
export const sessionAmbiguous = new Refusal(
  'credentials_ambiguous',
  'The request has more than one session cookie.',
)
export const sessionCrossSite = new Refusal(
  'credentials_missing',
  'For unsafe methods and WebSockets the session cookie is accepted only from a page of this origin.',
)
