/**
 * Route patterns: `/v1/trainings/{id}`, `/files/*`. Parsed at load time; a pattern that no request can match
 * is a fault. `table.ts` says which of two matching patterns wins.
 */

import { Refusal } from '../../model/errors.ts'
import type { Route } from '../../model/route.ts'
import { normalise } from './path.ts'

export type Segment =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'rest' }

export interface Pattern {
  readonly segments: readonly Segment[]
  /** Names of the variable segments, in order; `*` for the rest. */
  readonly names: readonly string[]
}

const PARAM = /^\{([A-Za-z][A-Za-z0-9_-]*)\}$/

/** Exceptions for paths that the entry's upstream accepts. */
export interface PathExceptions {
  readonly allowSemicolons: boolean
  readonly allowEncodedSlashes: boolean
}

export const NO_EXCEPTIONS: PathExceptions = Object.freeze({
  allowSemicolons: false,
  allowEncodedSlashes: false,
})

/**
 * @param upstreams the exceptions of each, by name
 * @returns none for a route of the gateway itself
 */
export function exceptionsOf(
  upstreams: ReadonlyMap<string, PathExceptions>,
  { target }: Pick<Route, 'target'>,
): PathExceptions {
  return (target.kind === 'upstream' ? upstreams.get(target.name) : undefined) ?? NO_EXCEPTIONS
}

/** The pattern, or a sentence that describes its fault. */
export function readPattern(path: string, allowed: PathExceptions): Pattern | string {
  if (!path.startsWith('/')) return 'a path must begin with a slash'
  if (/[?#]/.test(path)) return 'a path must not have a query or a fragment'
  const segments: Segment[] = []
  const names: string[] = []
  const texts = path.slice(1).split('/')
  for (const [index, text] of texts.entries()) {
    const segment = readSegment(text, index === texts.length - 1)
    if (typeof segment === 'string') return segment
    if (segment.kind === 'param' && names.includes(segment.name))
      return `{${segment.name}} is used twice in the path`
    if (segment.kind !== 'static') names.push(segment.kind === 'param' ? segment.name : '*')
    segments.push(segment)
  }
  const fault = unreachable(segments, allowed)
  return fault ?? { segments, names }
}

function readSegment(text: string, last: boolean): Segment | string {
  if (text === '*')
    return last ? { kind: 'rest' } : '* stands for the rest of the path: it must be the last segment'
  const param = PARAM.exec(text)
  if (param?.[1] !== undefined) return { kind: 'param', name: param[1] }
  if (text.includes('*'))
    return `* stands for the rest of the path: it must be a segment of its own, not part of "${text}"`
  if (/[{}]/.test(text))
    return `"${text}": a parameter must be a whole segment, {name}, of letters, digits, _ and -`
  return { kind: 'static', text }
}

/**
 * Static segments are compared with a normalised path: a segment that normalising changes or refuses can't
 * match.
 */
function unreachable(segments: readonly Segment[], allowed: PathExceptions): string | null {
  const text = `/${segments.map((each) => (each.kind === 'static' ? each.text : 'x')).join('/')}`
  const written = normalise(text)
  if (written instanceof Refusal) return `no request can reach this path: ${escaped(written, text)}`
  if (written !== text) return `no request can reach this path: its normalised form is ${written}`
  if (!allowed.allowSemicolons && /;|%3B/.test(text))
    return 'no request can reach this path: it has a ";" and the upstream does not have allow_semicolons'
  if (!allowed.allowEncodedSlashes && text.includes('%2F'))
    return 'no request can reach this path: it has an encoded slash and the upstream does not have allow_encoded_slashes'
  return null
}

function escaped(refusal: Refusal, text: string): string {
  const canonical = normalise(encodeURI(text).replaceAll('%25', '%'))
  const hint = /[^\x21-\x7e]/.test(text) && typeof canonical === 'string' ? ` Write it as ${canonical}.` : ''
  return refusal.detail + hint
}

/** Whether `outer` matches every request that `inner` matches, methods aside. */
export function covers(outer: Pattern, inner: Pattern): boolean {
  for (const [index, wide] of outer.segments.entries()) {
    const narrow = inner.segments[index]
    if (wide.kind === 'rest') return narrow !== undefined
    if (narrow === undefined || narrow.kind === 'rest') return false
    if (wide.kind === 'static' && (narrow.kind !== 'static' || narrow.text !== wide.text)) return false
    if (wide.kind === 'param' && narrow.kind === 'static' && narrow.text === '') return false
  }
  return inner.segments.length === outer.segments.length
}

/**
 * Whether the pattern's `*` is exactly at the place of segments of the other pattern that are all parameters:
 * `/v1/seats/*` and `/v1/seats/{id}`. Such a `*` means the other pattern's own paths. A wider one, `/v1/*`,
 * means all that is left.
 */
export function restEqualsParams(pattern: Pattern, other: Pattern): boolean {
  const before = pattern.segments.slice(0, -1)
  if (pattern.segments.at(-1)?.kind !== 'rest' || other.segments.length <= before.length) return false
  const params = other.segments.slice(before.length)
  return (
    params.every(({ kind }) => kind === 'param') && before.every((each, i) => isSame(each, other.segments[i]))
  )
}

function isSame(one: Segment, other: Segment | undefined): boolean {
  return one.kind === 'static' && other?.kind === 'static' && one.text === other.text
}
