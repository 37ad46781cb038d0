/** The codes of faults of security event tokens (RFC 8935, section 2.4). */
export const SET_ERRORS = [
  'invalid_request',
  'invalid_key',
  'invalid_issuer',
  'invalid_audience',
  'authentication_failed',
] as const
