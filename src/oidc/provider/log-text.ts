/**
 * Words that came from outside, made fit for a line of the log: bounded, on one line, and without anything that could
 * be a credential. They are never shown to a client at all.
 */

/** Characters. */
const MAX = 200
/** Anything but visible ASCII and the space. */
const ODD = /[^\x20-\x7e]+/g
/**
 * What tokens, codes, secrets, states and cookies are made of, in a run as long as they are. Words of a language are
 * shorter; an address or a path in a message may go with them, which is no loss.
 */
const CREDENTIAL = /[A-Za-z0-9_.~+/=%-]{16,}/g

export function cleaned(text: string): string {
  // Cut first, by far more than is kept: what is matched below costs no more than that.
  const visible = text
    .slice(0, 10 * MAX)
    .replace(ODD, ' ')
    .replace(CREDENTIAL, '[…]')
    .trim()
  return visible.length > MAX ? `${visible.slice(0, MAX)}…` : visible
}

/** For names (of Seats), which are no credentials: whole where they can be, for people to find. */
export function cleanedName(text: string): string {
  const visible = text.slice(0, MAX).replace(ODD, '?')
  return text.length > MAX ? `${visible}…` : visible
}

/** Codes of RFC 6749, sections 4.1.2.1 and 5.2, OpenID Connect Core 1.0, section 3.1.2.6, and RFC 6750, section 3.1. */
const REGISTERED = new Set([
  'access_denied',
  'account_selection_required',
  'consent_required',
  'insufficient_scope',
  'interaction_required',
  'invalid_client',
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

/** The `error` of a provider's answer: a registered code as it is, anything else cleaned. */
export function cleanedError(code: string): string {
  return REGISTERED.has(code) ? code : cleaned(code)
}
