/** Route patterns: `/v1/trainings/{id}`, `/files/*`. Read at load; what no request could match is a fault. */

import { Refusal } from '../../model/errors.ts'
import { normalise } from './path.ts'

export type Segment =
  | { readonly kind: 'static'; readonly text: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'rest' }

export interface Pattern {
  readonly segments: readonly Segment[]
  /** Names of what the path's variable parts are called, in order; the rest's is `*`. */
  readonly names: readonly string[]
}

const PARAM = /^\{([A-Za-z][A-Za-z0-9_-]*)\}$/

/** What the upstream of a pattern's entry takes in a path. */
export interface PathLeave {
  readonly allowSemicolons: boolean
  readonly allowEncodedSlashes: boolean
}

/** The pattern, or a sentence that says what is wrong with it. */
export function readPattern(path: string, leave: PathLeave): Pattern | string {
  if (!path.startsWith('/')) return 'a path begins with a slash'
  if (/[?#]/.test(path)) return 'a path has no query or fragment'
  const segments: Segment[] = []
  const names: string[] = []
  const parts = path.slice(1).split('/')
  for (const [index, part] of parts.entries()) {
    const segment = readSegment(part, index === parts.length - 1)
    if (typeof segment === 'string') return segment
    if (segment.kind === 'param' && names.includes(segment.name))
      return `{${segment.name}} stands twice in the path`
    if (segment.kind !== 'static') names.push(segment.kind === 'param' ? segment.name : '*')
    segments.push(segment)
  }
  const fault = unreachable(segments, leave)
  return fault ?? { segments, names }
}

function readSegment(part: string, last: boolean): Segment | string {
  if (part === '*')
    return last ? { kind: 'rest' } : '* stands for the rest of the path: it can only come last'
  const param = PARAM.exec(part)
  if (param?.[1] !== undefined) return { kind: 'param', name: param[1] }
  if (part.includes('*'))
    return `* stands for the rest of the path: it must be a segment of its own, not part of "${part}"`
  if (/[{}]/.test(part))
    return `"${part}": a parameter is a whole segment, {name}, of letters, digits, _ and -`
  return { kind: 'static', text: part }
}

/** Static segments are compared with a normalised path: one that normalising changes or refuses can match nothing. */
function unreachable(segments: readonly Segment[], leave: PathLeave): string | null {
  const text = `/${segments.map((each) => (each.kind === 'static' ? each.text : 'x')).join('/')}`
  const written = normalise(text)
  if (written instanceof Refusal) return `no request can reach this path: ${escaped(written, text)}`
  if (written !== text) return `no request can reach this path: it is compared as ${written}`
  if (!leave.allowSemicolons && /;|%3B/.test(text))
    return 'no request can reach this path: it has a ";" and the upstream does not have allow_semicolons'
  if (!leave.allowEncodedSlashes && text.includes('%2F'))
    return 'no request can reach this path: it has an encoded slash and the upstream does not have allow_encoded_slashes'
  return null
}

function escaped(refusal: Refusal, text: string): string {
  const canonical = normalise(encodeURI(text).replaceAll('%25', '%'))
  const hint = /[^\x21-\x7e]/.test(text) && typeof canonical === 'string' ? ` Write it as ${canonical}.` : ''
  return refusal.detail + hint
}

/** Every request that `inner` matches, `outer` matches too (methods aside). */
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
 * The pattern's `*` stands for nothing but what the other has in its parameters: `/v1/seats/*` for `/v1/seats/{id}`.
 * Whoever writes that means the other's very paths; whoever writes `/v1/*` means all that is not somebody else's.
 */
export function restMeets(pattern: Pattern, other: Pattern): boolean {
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
