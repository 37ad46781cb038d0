/** Refuses the parts of a path that two servers could read differently, unless the route accepts them. */

import { Refusal } from '../../model/errors.ts'
import type { Route } from '../../model/route.ts'
import type { RequestTarget } from './path.ts'
import type { PathExceptions } from './pattern.ts'

const semicolon = new Refusal('path_ambiguous', 'A path segment has a semicolon.')
const encodedSlash = new Refusal('path_ambiguous', 'A path segment has an encoded slash.')
const hiddenSeparator = new Refusal(
  'path_ambiguous',
  'The path has an encoded backslash or control character.',
)

/**
 * Null: the route takes the path as it is. The ids of built-in endpoints (`/v1/users/{sub}`) come from
 * elsewhere and have any characters: the gateway decodes such a segment itself, once, so that no other server
 * reads the path. Dot segments are refused before, also those that only `%2F` makes.
 *
 * @param route null: no entry matches
 * @param exceptions of the route's upstream
 */
export function ambiguityOf(
  target: Pick<RequestTarget, 'path' | 'semicolon' | 'encodedSlash' | 'hiddenSeparator'>,
  route: Route | null,
  { allowSemicolons, allowEncodedSlashes }: PathExceptions,
): Refusal | null {
  if (route !== null && hasId(route)) return target.semicolon && target.path.includes(';') ? semicolon : null
  if (target.semicolon && !allowSemicolons) return semicolon
  if (target.encodedSlash && !allowEncodedSlashes) return encodedSlash
  return target.hiddenSeparator ? hiddenSeparator : null
}

/** Whether the gateway itself serves the route, and the variable segments of its path are ids. */
function hasId({ target, path }: Route): boolean {
  return target.kind !== 'upstream' && path.includes('{') && !path.endsWith('*')
}
