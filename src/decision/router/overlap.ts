/**
 * Entries that cross: some requests match both, and neither is the narrower one, as with `/a/{x}` and `/{y}/b` at
 * `/a/b`. The table has an answer (the first segment that differs decides), but perhaps not the one that was meant.
 * Asked at load; a warning, never a fault.
 */

import type { Fault } from '../../config/faults.ts'
import type { Route } from '../../model/route.ts'
import type { Pattern, Segment } from './pattern.ts'
import type { Leaf, Node } from './tree.ts'

/** Warnings beyond this say nothing new. */
const MAX_WARNINGS = 100

/** @param patterns of the routes, in the same order */
export function overlaps(root: Node, routes: readonly Route[], patterns: readonly Pattern[]): Fault[] {
  const warnings: Fault[] = []
  for (const [index, route] of routes.entries()) {
    if (warnings.length >= MAX_WARNINGS || route.place === null) break
    const crossed = new Set<Route>()
    cross(root, patterns[index]?.segments ?? [], 0, false, (leaf) => collect(leaf, route, crossed))
    for (const other of crossed) warnings.push({ place: route.place, message: warning(route, other) })
  }
  return warnings
}

/**
 * Walks what the segments and the tree have in common. Each pair is met once: from the entry that is narrower at the
 * first segment where they differ; it crosses where it is wider at a later one.
 */
function cross(
  node: Node,
  segments: readonly Segment[],
  at: number,
  narrower: boolean,
  met: (leaf: Leaf) => void,
): void {
  const segment = segments[at]
  if (segment === undefined || segment.kind === 'rest') return
  const [same, wide] = [
    sameAs(node, segment),
    segment.kind === 'static' && segment.text !== '' ? node.param : null,
  ]
  if (same !== null) cross(same, segments, at + 1, narrower, met)
  if (wide !== null) cross(wide, segments, at + 1, true, met)
  if (!narrower || segment.kind !== 'param') return
  // Wider here, narrower before: whatever ends below is crossed.
  for (const [text, child] of node.statics) if (text !== '') ends(child, segments, at + 1, met)
}

function sameAs(node: Node, segment: Segment): Node | null {
  return segment.kind === 'static' ? (node.statics.get(segment.text) ?? null) : node.param
}

/** The leaves that the rest of the segments reach, by whatever way. */
function ends(node: Node, segments: readonly Segment[], at: number, met: (leaf: Leaf) => void): void {
  const segment = segments[at]
  if (node.rest !== null && segment !== undefined) met(node.rest)
  if (segment === undefined) {
    if (node.leaf !== null) met(node.leaf)
  } else if (segment.kind === 'static') {
    for (const child of [node.statics.get(segment.text), segment.text === '' ? null : node.param])
      if (child != null) ends(child, segments, at + 1, met)
  } else if (segment.kind === 'param') {
    for (const [text, child] of node.statics) if (text !== '') ends(child, segments, at + 1, met)
    if (node.param !== null) ends(node.param, segments, at + 1, met)
  }
}

function collect(leaf: Leaf, route: Route, crossed: Set<Route>): void {
  for (const { route: other } of [...leaf.methods.values(), ...(leaf.any === null ? [] : [leaf.any])]) {
    if (other !== null && (other.method === route.method || other.method === 'ANY' || route.method === 'ANY'))
      crossed.add(other)
  }
}

function warning(route: Route, other: Route): string {
  const place = other.place === null ? '' : ` (${other.place.file}:${other.place.line})`
  return `${route.id}: some requests match ${other.id}${place} too; this entry answers them`
}
