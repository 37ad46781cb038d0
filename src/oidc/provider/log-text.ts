/**
 * Sanitizes external text for the log: bounded, on one line, without possible credentials. Such text is never
 * sent to a client.
 */

/** The most characters. */
const MAX_LENGTH = 200
/** Anything but visible ASCII and the space. */
const UNPRINTABLE = /[^\x20-\x7e]+/g
/**
 * Long runs of the characters of tokens, codes, secrets, states and cookies. Words of a language are shorter;
 * addresses and paths in a message may be removed too.
 */
const CREDENTIAL = /[A-Za-z0-9_.~+/=%-]{16,}/g

export function sanitize(text: string): string {
  // Truncated first, to bound the cost of the regular expressions.
  const visible = text
    .slice(0, 10 * MAX_LENGTH)
    .replace(UNPRINTABLE, ' ')
    .replace(CREDENTIAL, '[…]')
    .trim()
  return visible.length > MAX_LENGTH ? `${visible.slice(0, MAX_LENGTH)}…` : visible
}

/** The text of names of Seats and hosts, which are not credentials: bounded and printable. */
export function sanitizeName(text: string): string {
  const visible = text.slice(0, MAX_LENGTH).replace(UNPRINTABLE, '?')
  return text.length > MAX_LENGTH ? `${visible}…` : visible
}

/** Codes of RFC 6749 (4.1.2.1, 5.2), OpenID Connect Core 1.0 (3.1.2.6), RFC 6750 (3.1) and RFC 9449 (5). */
const REGISTERED = new Set([
  'access_denied',
  'account_selection_required',
  'consent_required',
  'insufficient_scope',
  'interaction_required',
  'invalid_client',
  'invalid_dpop_proof',
  'invalid_grant',
  'invalid_request',
  'invalid_request_object',
  'invalid_request_uri',
  'invalid_scope',
  'invalid_token',
  'login_required',
  'registration_not_supported',
  'request_not_supported',
  'request_uri_not_supported',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
])

/** The `error` of a provider's response: a registered code unchanged, anything else sanitized. */
export function sanitizeErrorCode(code: string): string {
  return REGISTERED.has(code) ? code : sanitize(code)
}
