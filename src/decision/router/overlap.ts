/**
 * Warnings for entries that cross: some requests match both, and neither entry is narrower, as with `/a/{x}`
 * and `/{y}/b` at `/a/b`. The first segment that differs decides, perhaps unintentionally. Entries that
 * require the same and lead to the same upstream need no warning. Checked at load time.
 */

import type { Warning } from '../../config/faults.ts'
import type { Route } from '../../model/route.ts'
import { placeText, warningsByFile } from './entry-warnings.ts'
import type { Pattern, Segment } from './pattern.ts'
import { type Leaf, type Node, placedIn } from './tree.ts'

/** @param patterns of `routes`, in the same order */
export function overlaps(root: Node, routes: readonly Route[], patterns: readonly Pattern[]): Warning[] {
  return warningsByFile(routes, (route, place, index) => {
    const crossed = new Set<Route>()
    cross(root, patterns[index]?.segments ?? [], 0, false, (leaf) => collect(leaf, route, crossed))
    const others = [...crossed].filter((other) => !answersAlike(route, other))
    return others.map((other) => ({
      code: 'crossing_entries',
      place,
      message: warning(route, other),
      about: { group: precedence(route, other), subject: `${route.id} before ${other.path}` },
    }))
  })
}

/**
 * Walks the common part of the segments and the tree. Each pair is visited once: from the entry that is
 * narrower at the first segment that differs. It crosses the other if it is wider at a later one.
 */
function cross(
  node: Node,
  segments: readonly Segment[],
  at: number,
  narrower: boolean,
  visit: (leaf: Leaf) => void,
): void {
  const segment = segments[at]
  if (segment === undefined || segment.kind === 'rest') return
  const [same, wide] = [
    sameAs(node, segment),
    segment.kind === 'static' && segment.text !== '' ? node.param : null,
  ]
  if (same !== null) cross(same, segments, at + 1, narrower, visit)
  if (wide !== null) cross(wide, segments, at + 1, true, visit)
  if (!narrower || segment.kind !== 'param') return
  // Wider here and narrower before: every entry that ends below is crossed.
  for (const [text, child] of node.statics) if (text !== '') visitEnds(child, segments, at + 1, visit)
}

function sameAs(node: Node, segment: Segment): Node | null {
  return segment.kind === 'static' ? node.statics.get(segment.text) : node.param
}

/** Visits the leaves that the remaining segments reach on any branch. */
function visitEnds(node: Node, segments: readonly Segment[], at: number, visit: (leaf: Leaf) => void): void {
  const segment = segments[at]
  if (node.rest !== null && segment !== undefined) visit(node.rest)
  if (segment === undefined) {
    if (node.leaf !== null) visit(node.leaf)
  } else if (segment.kind === 'static') {
    for (const child of [node.statics.get(segment.text), segment.text === '' ? null : node.param])
      if (child != null) visitEnds(child, segments, at + 1, visit)
  } else if (segment.kind === 'param') {
    for (const [text, child] of node.statics) if (text !== '') visitEnds(child, segments, at + 1, visit)
    if (node.param !== null) visitEnds(node.param, segments, at + 1, visit)
  }
}

function collect(leaf: Leaf, route: Route, crossed: Set<Route>): void {
  for (const { route: other } of placedIn(leaf))
    if (other !== null && (other.method === route.method || other.method === 'ANY' || route.method === 'ANY'))
      crossed.add(other)
}

function answersAlike(one: Route, other: Route): boolean {
  const place = ({ target }: Route) => (target.kind === 'upstream' ? target.name : null)
  return one.requirement === other.requirement && one.tenant === other.tenant && place(one) === place(other)
}

/** `trainings:read before public`. */
function precedence(one: Route, other: Route): string {
  const isSame = one.requirement === other.requirement
  const side = ({ requirement, tenant, target }: Route) => {
    const place = target.kind === 'upstream' ? ` at ${target.name}` : ''
    return isSame ? `${requirement}${place}${tenant === null ? '' : ` for ${tenant}`}` : requirement
  }
  return `${side(one)} before ${side(other)}`
}

function warning(route: Route, other: Route): string {
  return `${route.id}: some requests match ${other.id}${placeText(other)} too; this entry takes precedence`
}
