/** The one function from the path that was matched to the path that is forwarded. */

export interface PathRewrite {
  /** Taken off the front: whole segments, without a final slash; '': nothing. */
  readonly strip: string
  /** Put before the rest, without a final slash; '': nothing. */
  readonly base: string
}

/**
 * `base` + the path without `strip`; where nothing is left, `base` + `/`. Both are fixed texts, and the path is the one string
 * that was matched: nothing is decoded, encoded or resolved.
 *
 * @param rewrite null: the path stays as it is
 * @param path normalised; it begins with `strip` as a whole segment, since the route's pattern does
 * @throws where it does not, so that nothing is forwarded
 */
export function forwardedPath(rewrite: PathRewrite | null, path: string): string {
  if (rewrite === null) return path
  const { strip, base } = rewrite
  const rest = path.length === strip.length ? '/' : path.slice(strip.length)
  if (!path.startsWith(strip) || !rest.startsWith('/'))
    throw new Error('the path has not the prefix of its route')
  return base + rest
}
