/**
 * The value of one parameter of a query. Servers read queries differently: by `&` alone or by `;` too, names
 * with case or without, with brackets around or after them. A query that one of these readings could take for
 * a second value is refused.
 */

import { Refusal } from '../../model/errors.ts'

const repeated = new Refusal(
  'request_malformed',
  'The query parameter that names the space is sent more than once, or in a spelling that readers take for it.',
)
const malformed = new Refusal(
  'request_malformed',
  'The query has a percent-escape that cannot be decoded, in a name or in the space.',
)

const tooUnusual = new Refusal(
  'request_malformed',
  'The query has more than 64 parameter names with escapes, brackets or other characters that servers read differently.',
)

/**
 * The most names that servers may read differently. Each takes some microseconds, for a caller that is not
 * authenticated yet.
 */
const MOST_UNUSUAL = 64
/** Every server reads these alike, but for case. */
const USUAL = /^[\w-]*$/

/**
 * The value, percent-decoded. Null: the query has no parameter of exactly this name.
 *
 * @param query with its `?`, as received
 * @param name letters, digits, `_` and `-`
 */
export function queryValue(query: string, name: string): string | null | Refusal {
  const folded = foldCase(name)
  let value: string | null = null
  let count = 0
  let unusual = 0
  for (const pair of query.slice(1).split('&'))
    for (const [at, piece] of pair.split(';').entries()) {
      const written = nameIn(piece)
      const isUsual = USUAL.test(written)
      if (isUsual && (written.length !== name.length || written.toLowerCase() !== folded)) continue
      if (!isUsual && ++unusual > MOST_UNUSUAL) return tooUnusual
      const own = isUsual ? written : decoded(written)
      if (own === null) return malformed
      if (!isUsual && !isReadAs(foldCase(own), folded)) continue
      // Only some readers separate parameters by a semicolon.
      if (++count > 1 || at > 0) return repeated
      // With what follows a semicolon, which no id of a space has.
      if (own === name) value = piece.includes('=') ? pair.slice(pair.indexOf('=') + 1) : ''
    }
  return value === null ? null : (decoded(value) ?? malformed)
}

function nameIn(piece: string): string {
  const equals = piece.indexOf('=')
  return equals < 0 ? piece : piece.slice(0, equals)
}

function escaped(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16)}`
}

/**
 * Whether a server may take a name for another one, both in one case. PHP ends a name at `[` and NUL, trims
 * it, and writes `_` in place of space, dot and of a `[` that no `]` follows. Express (qs) and Rack leave out
 * brackets that a name begins with, Rack ends it at `]`, too, and qs with `allowDots` ends it at a dot.
 */
function isReadAs(name: string, wanted: string): boolean {
  if (name === wanted) return true
  const [text = ''] = name.split('\0')
  const [ended = ''] = text.replace(/^[[\]\s]+/, '').split(/[[\]]/)
  const [beforeDot = ''] = ended.split('.')
  return [ended, beforeDot, text].some((each) => each.trim().replaceAll(/[ .[]/g, '_') === wanted)
}

/**
 * In lower case, as servers compare that ignore case. Java compares in upper case and then in lower case
 * (`equalsIgnoreCase`), which makes `s` of `\u017f`. Others normalise names (NFKC).
 */
function foldCase(name: string): string {
  return (isAscii(name) ? name : name.normalize('NFKC').toUpperCase()).toLowerCase()
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}

/**
 * The decoded text; null: it can't be decoded. A `+` is a space in a form. Bytes beyond ASCII, each a
 * character here, are those of UTF-8.
 */
function decoded(text: string): string | null {
  if (isAscii(text) && !text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' ').replace(/[\x80-\xff]/g, escaped))
  } catch {
    return null
  }
}
