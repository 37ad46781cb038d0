/** The methods that requests may have: those of IANA's registry, and those that `methods:` names. */

import { InvalidValue, didYouMean } from './invalid-value.ts'
import type { Section } from './section.ts'

/**
 * IANA's HTTP Method Registry, without `PRI` and `*`, which are registered so that no request has them (RFC 9113,
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

/** A token (RFC 9110, section 5.6.2) of at most as many characters as the reader of requests takes. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

/** `ANY` stands for all methods in a route table; the gateway serves none of the others. */
const RESERVED = new Set(['ANY', '*', 'PRI', 'CONNECT', 'TRACE'])

/** Beside the registered ones. */
export function buildMethods(root: Section): readonly string[] {
  const seen = new Set<string>()
  return Object.freeze(root.texts('methods', (text) => readMethod(text, seen)))
}

/** Method names are case-sensitive (RFC 9110, section 9.1), but many servers fold them: two that differ in case alone are refused. */
function readMethod(text: string, seen: Set<string>): string | InvalidValue {
  if (!TOKEN.test(text))
    return new InvalidValue(
      'is not a method: letters, digits and the other characters of a token, at most 64',
    )
  const upper = text.toUpperCase()
  if (RESERVED.has(upper)) return new InvalidValue('can not be a method of requests here')
  if (REGISTERED_METHODS.includes(upper))
    return text === upper
      ? text
      : new InvalidValue(`is a registered method in lower case${didYouMean(text, [upper])}`)
  if (seen.has(upper)) return new InvalidValue('stands twice in this list')
  seen.add(upper)
  return text
}

/** All that requests may have. @param listed by `methods:` */
export function methodsOf({ methods }: { readonly methods: readonly string[] }): ReadonlySet<string> {
  return new Set([...REGISTERED_METHODS, ...methods])
}
