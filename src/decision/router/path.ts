/**
 * Parses the request target once. Matching and forwarding use the same string, so that the upstream can't see
 * another path than the one that was decided on.
 */

import { areEscapesUtf8 } from '../../config/static-path.ts'
import { Refusal } from '../../model/errors.ts'
import { isSameAuthority } from '../../model/host.ts'

export interface RequestTarget {
  /** Normalised path, beginning with `/`. */
  readonly path: string
  /** The query with its `?`, as received; '': the target has none. */
  readonly query: string
  /** Host and port of an absolute-form target; null: the target has the origin-form. */
  readonly authority: string | null
  /**
   * A segment has a `;` or `%3B`: many servers cut parameters off there. The route's upstream says whether it
   * is accepted.
   */
  readonly semicolon: boolean
  /**
   * A segment has a `%2F`. Matching treats it as part of the segment, and forwarding keeps it; a server that
   * decodes it sees two segments. The route's upstream says whether it is accepted.
   */
  readonly encodedSlash: boolean
  /** A segment has an encoded backslash or control character, which no upstream gets. See `ambiguity.ts`. */
  readonly hiddenSeparator: boolean
}

const ambiguous = (detail: string) => new Refusal('path_ambiguous', detail)

const tooLong = (maxBytes: number) =>
  new Refusal('uri_too_long', `The request target is longer than ${maxBytes} bytes.`)
const notPath = new Refusal('request_malformed', 'The request target is not a path.')
const otherHost = new Refusal('request_malformed', 'The request target names another host than Host does.')
const fragment = ambiguous('The request target has a fragment.')
const badEscape = ambiguous('The path has a percent-escape that is not two hexadecimal digits.')
const notUtf8 = ambiguous('The path has percent-escapes that are not UTF-8.')
const hiddenSeparator = ambiguous('The path has an encoded backslash or control character.')
const badByte = ambiguous('The path has a backslash, a control character or a byte that is not ASCII.')
const emptySegment = ambiguous('The path has an empty segment.')
const dotSegment = ambiguous('The path has a dot segment.')

/**
 * Parses origin-form and absolute-form (RFC 9112, sections 3.2.1 and 3.2.2). An absolute-form target must
 * name the host that `Host` names, as the request would otherwise have two hosts: the same name, in whatever
 * case and with a final dot or not, and the same port as written, since only the scheme's default could be
 * left out, and the gateway does not take the scheme from the target.
 *
 * @param host the value of Host; null: not compared
 * @param most bytes
 */
export function readTarget(target: string, host: string | null, maxBytes: number): RequestTarget | Refusal {
  if (target.length > maxBytes) return tooLong(maxBytes)
  const absolute = target.charCodeAt(0) === SLASH ? null : absoluteForm(target, host)
  if (absolute instanceof Refusal) return absolute
  const origin = absolute === null ? target : absolute.origin
  if (origin.includes('#')) return fragment
  const mark = origin.indexOf('?')
  const raw = mark < 0 ? origin : origin.slice(0, mark)
  // Most paths have no escapes: the checks for escapes are skipped.
  const escapes = raw.includes('%')
  const path = normalised(raw, escapes)
  if (typeof path !== 'string') return path
  return {
    path,
    query: mark < 0 ? '' : origin.slice(mark),
    authority: absolute === null ? null : absolute.authority,
    semicolon: path.includes(';') || (escapes && path.includes('%3B')),
    encodedSlash: escapes && path.includes('%2F'),
    hiddenSeparator: escapes && HIDDEN_SEPARATOR.test(path),
  }
}

function absoluteForm(
  target: string,
  host: string | null,
): { readonly origin: string; readonly authority: string } | Refusal {
  const [start = '', authority] = /^https?:\/\/([^/?#@\\]+)(?=[/?]|$)/i.exec(target) ?? []
  if (authority === undefined) return notPath
  if (host !== null && !isSameAuthority(authority, host)) return otherHost
  const rest = target.slice(start.length)
  return { origin: rest.startsWith('/') ? rest : `/${rest}`, authority }
}

/**
 * For the record of an unreadable target: its path as received, without query, host and userinfo. A final `#`
 * stands for a fragment, so that the record is as unreadable as the target.
 */
export function unreadPath(target: string): string {
  const end = target.search(/[?#]/)
  const text = end < 0 ? target : target.slice(0, end)
  const stripped = text.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
  const path = stripped === '' && text !== '' ? '/' : stripped
  return target.includes('#') ? `${path}#` : path
}

/**
 * Decodes escapes of unreserved characters and gives other escapes upper-case hex (RFC 3986, section 6.2.2);
 * nothing else. It is for patterns: upstreams get no encoded backslash or control character.
 */
export function normalise(path: string): string | Refusal {
  const plain = normalised(path, path.includes('%'))
  return typeof plain === 'string' && HIDDEN_SEPARATOR.test(plain) ? hiddenSeparator : plain
}

function normalised(path: string, escapes: boolean): string | Refusal {
  const plain = escapes ? normaliseEscapes(path) : path
  if (typeof plain !== 'string') return plain
  return faultOf(plain) ?? plain
}

const SLASH = 0x2f
const SEMICOLON = 0x3b
const BACKSLASH = 0x5c
/** Encoded separators in a path with normalised escapes. */
const HIDDEN_SEPARATOR = /%(?:[01][0-9A-F]|7F|5C)/
const HASH = 0x23
const DOT = 0x2e

/**
 * A segment that is `.` or `..` after `%2F` is decoded, or that has `%3B` for the `;` of {@link
 * isDotSegment}. The input has its dots decoded and its hex digits in upper case.
 */
const HIDDEN_DOT_SEGMENT = /(?:\/|%2F)\.\.?(?:\/|%2F|;|%3B|$)/

function normaliseEscapes(path: string): string | Refusal {
  let out = ''
  let copied = 0
  for (let at = path.indexOf('%'); at >= 0; at = path.indexOf('%', at + 3)) {
    const byte = hexByte(path, at + 1)
    if (byte < 0) return badEscape
    out += path.slice(copied, at)
    out += isUnreserved(byte) ? String.fromCharCode(byte) : path.slice(at, at + 3).toUpperCase()
    copied = at + 3
  }
  out += path.slice(copied)
  if (HIDDEN_DOT_SEGMENT.test(out)) return dotSegment
  return areEscapesUtf8(out) ? out : notUtf8
}

/** The first fault of a path with normalised escapes; null: none. */
function faultOf(path: string): Refusal | null {
  let start = 1
  for (let at = 1; at <= path.length; at++) {
    const code = at === path.length ? SLASH : path.charCodeAt(at)
    if (code === SLASH) {
      if (at === start && at < path.length) return emptySegment
      if (isDotSegment(path, start, at)) return dotSegment
      start = at + 1
    } else if (code <= 0x20 || code >= 0x7f || code === BACKSLASH || code === HASH) return badByte
  }
  return null
}

/** `.` and `..`, also with path parameters, which some servers remove first (`..;a=b`). */
function isDotSegment(path: string, start: number, end: number): boolean {
  if (path.charCodeAt(start) !== DOT) return false
  const dots = path.charCodeAt(start + 1) === DOT ? 2 : 1
  const after = start + dots
  return after >= end || path.charCodeAt(after) === SEMICOLON
}

function isUnreserved(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2d ||
    byte === DOT ||
    byte === 0x5f ||
    byte === 0x7e
  )
}

/** The byte that two hex digits encode; -1: not hex. */
function hexByte(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at))
  const low = hexDigit(text.charCodeAt(at + 1))
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
