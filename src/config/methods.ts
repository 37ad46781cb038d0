/** The accepted request methods: those in IANA's registry, and those in `methods:`. */

import { InvalidValue, didYouMean } from './invalid-value.ts'
import type { Section } from './section.ts'

/**
 * IANA's HTTP Method Registry, without `PRI` and `*`, which are registered only to reserve them (RFC 9113,
 * section 3.4; RFC 9110, section 18.2).
 */
export const REGISTERED_METHODS: readonly string[] = Object.freeze([
  'ACL',
  'BASELINE-CONTROL',
  'BIND',
  'CHECKIN',
  'CHECKOUT',
  'CONNECT',
  'COPY',
  'DELETE',
  'GET',
  'HEAD',
  'LABEL',
  'LINK',
  'LOCK',
  'MERGE',
  'MKACTIVITY',
  'MKCALENDAR',
  'MKCOL',
  'MKREDIRECTREF',
  'MKWORKSPACE',
  'MOVE',
  'OPTIONS',
  'ORDERPATCH',
  'PATCH',
  'POST',
  'PROPFIND',
  'PROPPATCH',
  'PUT',
  'QUERY',
  'REBIND',
  'REPORT',
  'SEARCH',
  'TRACE',
  'UNBIND',
  'UNCHECKOUT',
  'UNLINK',
  'UNLOCK',
  'UPDATE',
  'UPDATEREDIRECTREF',
  'VERSION-CONTROL',
])

/**
 * A token (RFC 9110, section 5.6.2) of at most 64 characters, which is also the limit of the HTTP/1 parser.
 */
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

/** `ANY` matches all methods in a route table; the gateway does not serve the others. */
const RESERVED = new Set(['ANY', '*', 'PRI', 'CONNECT', 'TRACE'])

export function buildMethods(root: Section): readonly string[] {
  const seen = new Set<string>()
  return Object.freeze(root.texts('methods', (text) => readMethod(text, seen)))
}

/**
 * Method names are case-sensitive (RFC 9110, section 9.1), but many servers ignore case: names that differ
 * only in case are refused.
 */
function readMethod(text: string, seen: Set<string>): string | InvalidValue {
  if (!TOKEN.test(text))
    return new InvalidValue('is not a method name: a token (RFC 9110) of at most 64 characters')
  const upper = text.toUpperCase()
  if (RESERVED.has(upper)) return new InvalidValue('is not allowed as a request method: remove it')
  if (REGISTERED_METHODS.includes(upper))
    return text === upper
      ? text
      : new InvalidValue(`is a registered method, but not in upper case${didYouMean(text, [upper])}`)
  if (seen.has(upper)) return new InvalidValue('is listed twice: remove one')
  seen.add(upper)
  return text
}

/** Whether `methods` may contain the text. */
export function canBeListed(text: string): boolean {
  return TOKEN.test(text) && !RESERVED.has(text.toUpperCase())
}

export function methodsOf({ methods }: { readonly methods: readonly string[] }): ReadonlySet<string> {
  return new Set([...REGISTERED_METHODS, ...methods])
}
