/**
 * How users of `issuers` are named. Blocks, limits, the audit and upstreams know a user by this text alone,
 * so that no other authority may name one of this form: neither a provider, nor a token with a tenant's
 * secret. It does not matter which issuers the configuration has now, as blocks and the audit outlive it.
 */

import { Refusal } from './errors.ts'

/** One text for one user, as the configuration refuses an issuer with a `|`. */
export function issuerUser(issuer: string, name: string): string {
  return `${issuer}|${name}`
}

/** The issuer of a user that {@link issuerUser} names; the name may have a `|`. */
export function issuerOf(user: string): string {
  return user.slice(0, user.indexOf('|'))
}

/**
 * Whether it is a user of an issuer that a configuration can have: the part before the first `|` is a URL
 * without a query.
 */
export function isIssuerUser(sub: string): boolean {
  const end = sub.indexOf('|')
  if (end < 0 || end === sub.length - 1) return false
  const issuer = sub.slice(0, end)
  return /^https?:/i.test(issuer) && !/[\s?#]/.test(issuer) && URL.canParse(issuer)
}

export const foreignSub = new Refusal(
  'token_invalid',
  'The sub names a user of an issuer (issuer|user), whom only a token of that issuer authenticates.',
)

/** The most characters. */
const MAX_SHOWN = 200

/**
 * The `iss` of a token, for answers and log lines: in quotes, on one line, in visible ASCII, and bounded.
 */
export function shownIssuer(iss: string): string {
  const visible = iss.slice(0, MAX_SHOWN).replace(/[^\x20-\x7e]/g, '?')
  return JSON.stringify(iss.length > MAX_SHOWN ? `${visible}...` : visible)
}
