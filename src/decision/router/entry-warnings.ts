/** What the warnings about entries of tables have in common. */

import type { Warning } from '../../config/faults.ts'
import type { Place, Route } from '../../model/route.ts'

/**
 * The most warnings of one kind about a file: further ones add nothing. Those of one file hide none of
 * another.
 */
const MAX_WARNINGS = 100

/** @param find the warnings about one entry, by its place and its index among the routes */
export function warningsByFile(
  routes: readonly Route[],
  find: (route: Route, place: Place, index: number) => Warning[],
): Warning[] {
  const counts = new Map<string, number>()
  return routes.flatMap((route, index) => {
    const { place } = route
    const count = place === null ? MAX_WARNINGS : (counts.get(place.file) ?? 0)
    if (place === null || count >= MAX_WARNINGS) return []
    const warnings = find(route, place, index)
    counts.set(place.file, count + warnings.length)
    return warnings
  })
}

/** The place of the route in a message: ` (routes/main.yaml:3)`; '': the route is built in. */
export function placeText({ place }: Route): string {
  return place === null ? '' : ` (${place.file}:${place.line})`
}
